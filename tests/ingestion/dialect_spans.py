"""One model call and one tool call as each convention writes them."""

from __future__ import annotations

from governance.records.span import Span
from tests.ingestion import langchain_spans
from tests.ingestion.dialect_words import (
    ANSWER,
    ASKED,
    CITIES,
    GOOGLE,
    IDS,
    PARTS,
    RESULT,
    SYSTEM,
    TOOL,
    USAGE,
    USER,
    bedrock_calls,
    completion,
    event,
    google_calls,
    indexed_calls,
    openai_calls,
    parts_calls,
    span,
    text,
    vercel_calls,
)

ASKS: dict[str, Span] = {
    "genai attributes": span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system_instructions": text([{"type": "text", "content": SYSTEM}]),
            "gen_ai.input.messages": text(PARTS[1:]),
            "gen_ai.output.messages": text(
                [{"role": "assistant", "parts": parts_calls(), "finish_reason": "tool_call"}]
            ),
        }
        | USAGE
    ),
    "genai events": span(
        {"gen_ai.operation.name": "chat"} | USAGE,
        event("gen_ai.system.message", content=SYSTEM),
        event("gen_ai.user.message", body=text({"content": USER})),
        event("gen_ai.choice", index=0, message=text({"role": "assistant", "tool_calls": openai_calls()})),
    ),
    "openinference": span(
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": SYSTEM,
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.contents.0.message_content.type": "text",
            "llm.input_messages.1.message.contents.0.message_content.text": USER,
            "llm.output_messages.0.message.role": "assistant",
            "input.value": text({"messages": ASKED}),
            "output.value": completion({"role": "assistant", "tool_calls": openai_calls()}),
            "llm.token_count.prompt": 97,
            "llm.token_count.completion": 52,
            "llm.token_count.prompt_details.cache_read": 90,
        }
        | {
            key.replace(".name", ".function.name").replace(".arguments", ".function.arguments"): value
            for key, value in indexed_calls("llm.output_messages.0.message.tool_calls", "tool_call.").items()
        }
    ),
    "openllmetry": span(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": SYSTEM,
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": text([{"type": "text", "text": USER}]),
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.usage.prompt_tokens": 97,
            "gen_ai.usage.completion_tokens": 52,
            "llm.usage.total_tokens": 149,
        }
        | indexed_calls("gen_ai.completion.0.tool_calls")
    ),
    "vercel": span(
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": text(
                [{"role": "system", "content": SYSTEM}, {"role": "user", "content": [{"type": "text", "text": USER}]}]
            ),
            "ai.response.toolCalls": text(vercel_calls()),
            "ai.usage.promptTokens": 97,
            "ai.usage.completionTokens": 52,
        }
    ),
    "vercel function": span(
        {
            "ai.operationId": "ai.streamText",
            "ai.prompt": text({"system": SYSTEM, "prompt": USER}),
            "ai.response.toolCalls": text(vercel_calls()),
            "ai.usage.inputTokens": 97,
            "ai.usage.outputTokens": 52,
            "ai.usage.cachedInputTokens": 90,
            "ai.usage.reasoningTokens": 20,
        }
    ),
    "logfire events": span(
        {
            "events": text(
                [
                    {
                        "event.name": "gen_ai.system.message",
                        "content": SYSTEM,
                        "role": "system",
                        "gen_ai.message.index": 0,
                    },
                    {"event.name": "gen_ai.user.message", "content": USER, "role": "user", "gen_ai.message.index": 0},
                    {
                        "event.name": "gen_ai.choice",
                        "index": 0,
                        "message": {"role": "assistant", "tool_calls": openai_calls()},
                    },
                ]
            ),
            "logfire.msg": "chat tiny",
        }
        | USAGE
    ),
    "logfire request": span(
        {
            "logfire.msg": "Chat Completion",
            "request_data": text({"model": "tiny", "messages": ASKED}),
            "response_data": text({"message": {"role": "assistant", "content": None, "tool_calls": openai_calls()}}),
        }
        | USAGE
    ),
    "mlflow": span(
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": text({"model": "tiny", "messages": ASKED}),
            "mlflow.spanOutputs": completion({"role": "assistant", "tool_calls": openai_calls()}),
            "mlflow.chat.tokenUsage": text({"input_tokens": 97, "output_tokens": 52, "total_tokens": 149}),
        }
    ),
    "langfuse": span(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": text(ASKED),
            "langfuse.observation.output": text({"role": "assistant", "tool_calls": openai_calls()}),
            "langfuse.observation.usage_details": text(
                {"input": 97, "output": 52, "total": 149, "input_cached_tokens": 90}
            ),
            "langfuse.trace.input": text(ASKED),
        }
    ),
    "adk": span(
        {
            "gen_ai.system": "gcp.vertex.agent",
            "gcp.vertex.agent.invocation_id": "i1",
            "gcp.vertex.agent.llm_request": text(GOOGLE),
            "gcp.vertex.agent.llm_response": text(
                {
                    "content": {"role": "model", "parts": google_calls()},
                    "usage_metadata": {
                        "prompt_token_count": 97,
                        "candidates_token_count": 52,
                        "total_token_count": 149,
                    },
                }
            ),
        }
    ),
    "strands": span(
        {"gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents"} | USAGE,
        event("gen_ai.system.message", content=text([{"text": SYSTEM}])),
        event("gen_ai.user.message", content=text([{"text": USER}])),
        event("gen_ai.choice", finish_reason="tool_use", message=text(bedrock_calls())),
    ),
    "gemini cli": span(
        {
            "gen_ai.operation.name": "llm_call",
            "gen_ai.system_instructions": text(SYSTEM),
            "gen_ai.input.messages": text([{"role": "user", "parts": [{"text": USER}]}]),
            "gen_ai.output.messages": text(
                {"role": "model", "parts": [{"functionCall": one["function_call"]} for one in google_calls()]}
            ),
        }
        | USAGE
    ),
    "any-agent": span(
        {
            "gen_ai.operation.name": "call_llm",
            "gen_ai.input.messages": text(ASKED),
            "gen_ai.output": text([{"tool.name": TOOL, "tool.args": text({"city": city})} for city in CITIES]),
        }
        | USAGE
    ),
} | langchain_spans.ASKS
"""A model is asked, and asks for two tools at once."""

TOOLS: dict[str, Span] = {
    "genai": span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]}
        | {"gen_ai.tool.call.arguments": text({"city": CITIES[0]}), "gen_ai.tool.call.result": RESULT}
    ),
    "genai messages": span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]},
        event(
            "gen_ai.client.inference.operation.details",
            **{"gen_ai.input.messages": text([{"role": "tool", "parts": parts_calls()[:1]}])},
        ),
        event(
            "gen_ai.client.inference.operation.details",
            **{
                "gen_ai.output.messages": text(
                    [
                        {
                            "role": "tool",
                            "parts": [{"type": "tool_call_response", "id": IDS[0], "response": [{"text": RESULT}]}],
                        }
                    ]
                )
            },
        ),
    ),
    "openinference": span(
        {"openinference.span.kind": "TOOL", "tool.name": TOOL, "tool_call.id": IDS[0]}
        | {"input.value": text({"city": CITIES[0]}), "output.value": RESULT}
    ),
    "openllmetry": span(
        {"traceloop.span.kind": "tool", "traceloop.entity.name": TOOL, "tool.call.id": IDS[0]}
        | {
            "traceloop.entity.input": text({"args": [], "kwargs": {"city": CITIES[0]}}),
            "traceloop.entity.output": text(RESULT),
        }
    ),
    "vercel": span(
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": TOOL, "ai.toolCall.id": IDS[0]}
        | {"ai.toolCall.args": text({"city": CITIES[0]}), "ai.toolCall.result": text(RESULT)}
    ),
    "logfire": span(
        {"gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0], "logfire.msg": f"running tool: {TOOL}"}
        | {"tool_arguments": text({"city": CITIES[0]}), "tool_response": RESULT}
    ),
    "mlflow": span(
        {"mlflow.spanType": '"TOOL"', "mlflow.spanFunctionName": text(TOOL)}
        | {"mlflow.spanInputs": text({"city": CITIES[0]}), "mlflow.spanOutputs": text(RESULT)}
    ),
    "langfuse": span(
        {"langfuse.observation.type": "tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]}
        | {
            "langfuse.observation.input": text({"args": [], "kwargs": {"city": CITIES[0]}}),
            "langfuse.observation.output": RESULT,
        }
    ),
    "adk": span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]}
        | {
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.llm_response": "{}",
            "gcp.vertex.agent.tool_call_args": text({"city": CITIES[0]}),
            "gcp.vertex.agent.tool_response": text({"result": RESULT}),
        }
    ),
    "strands": span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]},
        event("gen_ai.tool.message", role="tool", content=text({"city": CITIES[0]}), id=IDS[0]),
        event("gen_ai.choice", message=text([{"text": RESULT}]), id=IDS[0]),
    ),
    "claude code": span(
        {"span.type": "tool", "tool_name": TOOL, "tool_use_id": IDS[0]}
        | {"tool_input": f"[TOOL INPUT: {TOOL}]\n" + text({"city": CITIES[0]})},
        event("tool.output", output=RESULT),
    ),
    "gemini cli": span(
        {"gen_ai.operation.name": "tool_call", "gen_ai.tool.name": TOOL, "gen_ai.tool.call_id": IDS[0]}
        | {
            "gen_ai.input.messages": text({"callId": IDS[0], "name": TOOL, "args": {"city": CITIES[0]}}),
            "gen_ai.tool.call.result": RESULT,
        }
    ),
    "any-agent": span(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL, "gen_ai.tool.call.id": IDS[0]}
        | {"gen_ai.tool.args": text({"city": CITIES[0]}), "gen_ai.output": RESULT}
    ),
} | langchain_spans.TOOLS
"""A tool is called."""

ANSWERS: dict[str, Span] = {
    "openllmetry workflow": span(
        {"traceloop.span.kind": "workflow"}
        | {
            "traceloop.entity.input": text({"inputs": {"question": USER}, "tags": [], "kwargs": {}}),
            "traceloop.entity.output": text({"outputs": {"answer": ANSWER}, "kwargs": {}}),
        }
    ),
    "vercel": span(
        {"ai.operationId": "ai.generateText", "ai.prompt": text({"prompt": USER}), "ai.response.text": ANSWER}
    ),
    "logfire agent": span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "pydantic_ai.all_messages": text(
                [PARTS[1], {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
            ),
            "final_result": ANSWER,
        }
    ),
    "logfire agent, version 1": span(
        {
            "logfire.msg": "agent run",
            "agent_name": "forecaster",
            "all_messages_events": text(
                [
                    {"role": "user", "content": USER, "event.name": "gen_ai.user.message"},
                    {"role": "assistant", "content": ANSWER, "event.name": "gen_ai.assistant.message"},
                ]
            ),
            "final_result": ANSWER,
        }
    ),
    "mlflow agent": span(
        {"mlflow.spanType": '"AGENT"', "mlflow.spanInputs": text({"query": USER}), "mlflow.spanOutputs": text(ANSWER)}
    ),
    "langfuse function": span(
        {
            "langfuse.observation.type": "agent",
            "langfuse.observation.input": text({"args": [USER], "kwargs": {}}),
            "langfuse.observation.output": ANSWER,
            "langfuse.trace.input": text({"args": [USER], "kwargs": {}}),
            "langfuse.trace.output": ANSWER,
        }
    ),
    "strands agent": span(
        {"gen_ai.operation.name": "invoke_agent"},
        event("gen_ai.user.message", content=text([{"text": USER}])),
        event("gen_ai.choice", message=ANSWER, finish_reason="end_turn"),
    ),
    "claude code": span(
        {"span.type": "llm_request", "input_tokens": 97, "output_tokens": 52, "cache_read_tokens": 84000}
        | {"new_context": f"[USER PROMPT]\n{USER}", "response.model_output": ANSWER}
    ),
    "codex events": span(
        {"codex.turn.token_usage.input_tokens": 97, "codex.turn.token_usage.output_tokens": 52},
        event("codex.user_prompt", prompt=USER),
        event("gemini_cli.api_response", response_text=ANSWER),
    ),
    "adk": span(
        {
            "gen_ai.system": "gcp.vertex.agent",
            "gcp.vertex.agent.invocation_id": "i1",
            "gcp.vertex.agent.llm_request": text({"contents": GOOGLE["contents"]}),
            "gcp.vertex.agent.llm_response": text({"content": {"role": "model", "parts": [{"text": ANSWER}]}}),
        }
    ),
    "trulens": span(
        {
            "ai.observability.span_type": "record_root",
            "ai.observability.record_root.input": USER,
            "ai.observability.record_root.output": ANSWER,
            "ai.observability.call.kwargs.query": USER,
            "ai.observability.call.return": ANSWER,
        }
    ),
    "openinference values": span(
        {"openinference.span.kind": "AGENT", "input.value": text({"messages": ASKED[1:]}), "output.value": ANSWER}
    ),
} | langchain_spans.ANSWERS
"""Somebody asks and is answered."""
