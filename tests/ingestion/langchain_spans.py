"""LangChain's model call, tool call and graph as LangSmith, OpenInference and OpenLLMetry write them."""

from __future__ import annotations

from typing import Any

from governance.records.span import Span
from tests.ingestion.dialect_words import ANSWER, CITIES, IDS, RESULT, SYSTEM, TOOL, USAGE, USER, span, text

CALLS = [
    {"name": TOOL, "args": {"city": city}, "id": one, "type": "tool_call"}
    for one, city in zip(IDS, CITIES, strict=True)
]
CONTEXT = {"tags": ["seq:step:1"], "metadata": {"langgraph_node": "tools"}}


def dumped(kind: str, **held: Any) -> dict[str, Any]:
    """A message as ``dumpd`` writes it."""
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": held}


def converted(kind: str, **held: Any) -> dict[str, Any]:
    """A message as ``message_to_dict`` writes it."""
    return {"type": kind, "data": {**held, "type": kind, "additional_kwargs": {}}}


TOLD = {"type": "tool", "content": RESULT, "name": TOOL, "tool_call_id": IDS[0], "status": "success"}
RUN = {"input_str": str({"city": CITIES[0]}), "inputs": {"city": CITIES[0]}, "kwargs": {"tool_call_id": IDS[0]}}

ASKS: dict[str, Span] = {
    "langsmith": span(
        {
            "langsmith.span.kind": "llm",
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": text(
                {
                    "messages": [
                        [
                            dumped("SystemMessage", content=SYSTEM, type="system"),
                            dumped("HumanMessage", content=USER, type="human"),
                        ]
                    ]
                }
            ),
            "gen_ai.completion": text(
                {
                    "generations": [
                        [{"text": "", "message": dumped("AIMessage", content="", type="ai", tool_calls=CALLS)}]
                    ],
                    "type": "LLMResult",
                }
            ),
        }
        | USAGE
    ),
}

TOOLS: dict[str, Span] = {
    "langsmith": span(
        {"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL}
        | {"gen_ai.prompt": text({"city": CITIES[0]}), "gen_ai.completion": text({"output": TOLD})}
    ),
    "langchain openinference": span(
        {"openinference.span.kind": "TOOL", "tool.name": TOOL}
        | {"input.value": text({"city": CITIES[0]}), "output.value": text({"type": "tool", "data": TOLD})}
    ),
    "langchain openllmetry": span(
        {"traceloop.span.kind": "tool", "traceloop.entity.name": TOOL}
        | {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": TOOL}
        | {key: text(RUN | CONTEXT) for key in ("traceloop.entity.input", "gen_ai.tool.call.arguments")}
        | {
            key: text({"output": dumped("ToolMessage", **TOLD), "kwargs": {"name": TOOL}})
            for key in ("traceloop.entity.output", "gen_ai.tool.call.result")
        }
    ),
}

ANSWERS: dict[str, Span] = {
    "langsmith graph": span(
        {
            "langsmith.span.kind": "chain",
            "gen_ai.operation.name": "chain",
            "gen_ai.prompt": text({"messages": [{"role": "user", "content": USER}]}),
            "gen_ai.completion": text(
                {"messages": [{"type": "human", "content": USER}, {"type": "ai", "content": ANSWER}]}
            ),
        }
    ),
    "openinference graph": span(
        {
            "openinference.span.kind": "CHAIN",
            "input.value": text({"messages": [converted("human", content=USER)]}),
            "output.value": text(
                [{"graph": None, "update": {"messages": [converted("ai", content=ANSWER)]}, "resume": None, "goto": []}]
            ),
            "llm.input_messages.0.message.role": "user",
        }
    ),
    "openllmetry graph": span(
        {"traceloop.span.kind": "workflow", "gen_ai.operation.name": "invoke_agent"}
        | {
            key: text({"inputs": {"messages": [{"role": "user", "content": USER}]}, **CONTEXT, "kwargs": {"name": "a"}})
            for key in ("traceloop.entity.input", "gen_ai.task.input")
        }
        | {
            key: text(
                {
                    "outputs": {
                        "messages": [
                            dumped("HumanMessage", content=USER, type="human"),
                            dumped("AIMessage", content=ANSWER, type="ai", tool_calls=[]),
                        ]
                    },
                    "kwargs": {"tags": []},
                }
            )
            for key in ("traceloop.entity.output", "gen_ai.task.output")
        }
    ),
}
