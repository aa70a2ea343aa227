"""Small documents of every form, in the shape in which each tool writes them; the words are the tests' own."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

TRACE = "0af7651916cd43dd8448eb211c80319c"
RUN = "11111111-2222-4333-8444-555555555555"
CALL = "11111111-2222-4333-8444-666666666666"
TOOL = "11111111-2222-4333-8444-777777777777"


def otlp() -> dict[str, Any]:
    attributes = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}},
        {"key": "tenant.id", "value": {"stringValue": "claimed"}},
    ]
    span = {
        "traceId": TRACE, "spanId": "00f067aa0ba902b7", "name": "run", "startTimeUnixNano": "1700000000000000001",
        "endTimeUnixNano": "1700000001000000000", "attributes": attributes,
    }  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def trail() -> dict[str, Any]:
    llm = {
        "span_id": "b000000000000002", "parent_span_id": "b000000000000001", "span_name": "LiteLLMModel.__call__",
        "timestamp": "2025-03-19T16:38:27.123456789Z", "duration": "PT1.5S", "status_code": "Ok", "child_spans": [],
        "span_attributes": {
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Where is Uluru?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "In Australia.",
            "llm.token_count.prompt": 12,
            "llm.token_count.completion": 4,
        },
    }  # fmt: skip
    root = {
        "span_id": "b000000000000001", "parent_span_id": None, "span_name": "main", "service_name": "finder",
        "timestamp": "2025-03-19T16:38:26Z", "duration": "PT1M2S", "status_code": "Unset", "child_spans": [llm],
        "span_attributes": {"openinference.span.kind": "AGENT", "input.value": "Where is Uluru?"},
    }  # fmt: skip
    return {"trace_id": TRACE, "spans": [root]}


def langfuse() -> dict[str, Any]:
    metadata = {
        "attributes": {"gen_ai.request.model": "m-1"},
        "resourceAttributes": {"service.name": "helpdesk"},
        "scope": {"name": "langfuse-sdk", "version": "3.0.0"},
    }
    root = {
        "id": "c000000000000001", "traceId": TRACE, "type": "AGENT", "name": "helpdesk", "parentObservationId": None,
        "startTime": "2025-06-01T10:00:00.000Z", "endTime": "2025-06-01T10:00:09.000Z",
        "input": json.dumps({"messages": [{"role": "user", "content": "Is it open?"}]}), "output": '"Yes."',
    }  # fmt: skip
    chat = {
        "id": "c000000000000002", "traceId": TRACE, "type": "GENERATION", "name": "llm",
        "parentObservationId": "c000000000000001", "startTime": "2025-06-01T10:00:01.000Z",
        "endTime": "2025-06-01T10:00:03.000Z", "model": "m-1", "inputUsage": 21, "outputUsage": 7,
        "input": [{"role": "user", "content": "Is it open?"}],
        "output": {"role": "assistant", "content": "", "tool_calls": [
            {"id": "k1", "type": "function", "function": {"name": "hours", "arguments": '{"day": "Sunday"}'}}]},
        "metadata": json.dumps(metadata),
    }  # fmt: skip
    tool = {
        "id": "c000000000000003", "traceId": TRACE, "type": "TOOL", "name": "hours",
        "parentObservationId": "c000000000000001", "startTime": "2025-06-01T10:00:04.000Z",
        "endTime": "2025-06-01T10:00:05.000Z", "input": '{"day": "Sunday"}', "output": '{"open": true}',
    }  # fmt: skip
    score = {"name": "helpful", "value": 1, "traceId": TRACE, "observationId": None, "comment": "quick"}
    trace = {"id": TRACE, "projectId": "p", "userId": "C-7", "sessionId": "s-1", "scores": [score]}
    return {
        "trace": {**trace, "observations": [{**chat, "input": None, "output": None}]},
        "observations": [root, chat, tool],
    }


def langsmith() -> dict[str, Any]:
    root = {
        "id": RUN, "trace_id": RUN, "name": "AgentExecutor", "run_type": "chain",
        "start_time": "2024-10-11T20:58:23.5+00:00",
        "inputs": {"input": "Is it open?"}, "extra": {"metadata": {"user_id": "C-7", "thread_id": "s-1"}},
    }  # fmt: skip
    chat = {
        "id": CALL, "trace_id": RUN, "parent_run_id": RUN, "name": "ChatModel", "run_type": "llm",
        "start_time": 1728680304000, "end_time": 1728680305000,
        "inputs": {"messages": [[{"lc": 1, "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "Is it open?"}}]]},
        "outputs": {"generations": [[{"message": {"kwargs": {"content": "", "type": "ai", "tool_calls": [
            {"name": "hours", "args": {"day": "Sunday"}, "id": "k1"}]}}}]],
            "llm_output": {"token_usage": {"prompt_tokens": 21, "completion_tokens": 7}}},
    }  # fmt: skip
    tool = {
        "id": TOOL, "trace_id": RUN, "parent_run_id": RUN, "name": "hours", "run_type": "tool",
        "start_time": 1728680306000,
        "end_time": 1728680307000, "inputs": {"day": "Sunday"}, "outputs": {"output": {"open": True}},
    }  # fmt: skip
    end = {"dotted_order": f"20241011T205823500000Z{RUN}", "end_time": 1728680308000, "outputs": {"output": "Yes."}}
    return {"post": [root, chat, tool], "patch": [end]}


def mlflow() -> dict[str, Any]:
    def span(number: int, kind: str, said: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
        return {
            "trace_id": "CvdlGRbNQ92ESOshHIAxnA==", "span_id": f"d00000000000000{number}", "parent_span_id": parent,
            "name": kind.lower(), "start_time_unix_nano": 1_700_000_000_000_000_000 + number,
            "end_time_unix_nano": 1_700_000_000_000_000_100 + number, "status": {"code": "STATUS_CODE_OK"},
            "attributes": {key: json.dumps(value) for key, value in {"mlflow.spanType": kind, **said}.items()},
        }  # fmt: skip

    asked = {"messages": [{"role": "user", "content": "Is it open?"}]}
    answered = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}
    usage = {"input_tokens": 21, "output_tokens": 7, "total_tokens": 28}
    top = "d000000000000001"
    spans = [
        span(1, "AGENT", {"mlflow.spanInputs": asked, "mlflow.spanOutputs": answered}),
        span(
            2,
            "CHAT_MODEL",
            {"mlflow.spanInputs": asked, "mlflow.spanOutputs": answered, "mlflow.chat.tokenUsage": usage},
            top,
        ),
        span(3, "TOOL", {"mlflow.spanInputs": {"day": "Sunday"}, "mlflow.spanOutputs": {"open": True}}, top),
    ]
    info = {"trace_id": f"tr-{TRACE}", "trace_metadata": {"mlflow.trace.user": "C-7"}, "assessments": []}
    return {"info": info, "data": {"spans": spans}}


def phoenix() -> list[dict[str, Any]]:
    llm = {"input_messages": [{"message": {"role": "user", "content": "Is it open?"}}], "token_count": {"prompt": "21"}}
    return [
        {
            "name": "llm", "context": {"trace_id": f"0x{TRACE}", "span_id": "0xe000000000000002"},
            "parent_id": "0xe000000000000001", "start_time": "2024-05-01T00:00:01.5Z",
            "end_time": "2024-05-01T00:00:02Z",
            "status": {"status_code": "OK"}, "attributes": {"openinference": {"span": {"kind": "LLM"}}, "llm": llm},
        },
        {
            "name": "agent", "spanContext": {"traceId": TRACE, "spanId": "e000000000000001"},
            "startTime": [1714521600, 5], "endTime": [1714521603, 0], "status": {"code": 2, "message": "no"},
            "attributes": {"openinference.span.kind": "AGENT", "input.value": "Is it open?"},
        },
    ]  # fmt: skip


def messages() -> list[dict[str, Any]]:
    call = {"id": "k1", "type": "function", "function": {"name": "hours", "arguments": '{"day": "Sunday"}'}}
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it open?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": '{"open": true}', "tool_call_id": "k1", "name": "hours"},
        {"role": "assistant", "content": "Yes."},
    ]


def inspect_log() -> dict[str, Any]:
    said = messages()
    said[1]["content"] = "attachment://a1"
    said[2]["tool_calls"] = [{"id": "k1", "function": "hours", "arguments": {"day": "Sunday"}, "type": "function"}]
    sample = {
        "id": 1, "epoch": 1, "messages": said, "attachments": {"a1": "Is it open?"},
        "scores": {"match": {"value": "C", "explanation": "same"}},
        "model_usage": {"m-1": {"input_tokens": 21, "output_tokens": 7}},
    }  # fmt: skip
    about = {"task": "shop", "run_id": "r", "model": "m-1", "created": "2025-02-07T00:00:00+00:00"}
    return {"version": 2, "status": "success", "eval": about, "samples": [sample]}


def inspect_archive() -> bytes:
    log = inspect_log()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({key: value for key, value in log.items() if key != "samples"}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(log["samples"][0]))
    return held.getvalue()


def tau_bench() -> list[dict[str, Any]]:
    info = {"task": {"user_id": "ann_1", "instruction": "ask"}}
    return [{"task_id": 3, "trial": 0, "reward": 1.0, "info": info, "traj": messages()}]


def swe_agent() -> dict[str, Any]:
    history = [
        {"role": "system", "content": "You fix code.", "agent": "main"},
        {"role": "user", "content": "Fix it.", "agent": "main"},
        {"role": "assistant", "content": "I look.", "action": "open a.py\n", "thought": "I look.", "agent": "main"},
        {"role": "user", "content": "[File: a.py]", "agent": "main"},
        {"role": "assistant", "content": "Done.", "action": "submit", "agent": "main"},
    ]
    stats = {"tokens_sent": 900, "tokens_received": 40}
    return {"environment": "main", "history": history, "trajectory": [], "info": {"model_stats": stats}}


DOCUMENTS: dict[str, Any] = {
    "otlp": otlp(), "trail": trail(), "langfuse": langfuse(), "langsmith": langsmith(), "mlflow": mlflow(),
    "inspect": inspect_log(), "tau_bench": tau_bench(), "swe_agent": swe_agent(), "phoenix": phoenix(),
}  # fmt: skip
