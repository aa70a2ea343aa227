"""Log records as coding agents write them, in the forms of their own exporters."""

from __future__ import annotations

import json
from typing import Any

from tests.ingestion.log_bodies import logs
from tests.ingestion.otlp_bodies import T0, attributes

SECOND = 1_000_000_000
CLAUDE, CODEX, GEMINI = "c1a0de-session", "0c0de-conversation", "9e3-session"


def claude(second: float, name: str, **held: Any) -> dict[str, Any]:
    """The body holds the name with its prefix, ``event.name`` without; the record has no ids."""
    return {
        "timeUnixNano": str(T0 + int(second * SECOND)),
        "observedTimeUnixNano": str(T0 + int(second * SECOND)),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes(
            {"event.name": name, "session.id": CLAUDE, "user.id": "u-1", "prompt.id": "p-1"}
            | {key.replace("__", "."): value for key, value in held.items()}
        ),
    }


def codex(second: float, name: str, **held: Any) -> dict[str, Any]:
    """Times stand in ``event.timestamp``; numbers are texts; the trace id is all zero."""
    stamp = f"2026-11-30T12:00:{second:06.3f}Z"
    return {
        "timeUnixNano": "0",
        "observedTimeUnixNano": str(T0 + int(second * SECOND)),
        "traceId": "0" * 32,
        "spanId": "",
        "attributes": attributes(
            {"event.name": f"codex.{name}", "event.timestamp": stamp, "conversation.id": CODEX, "model": "gpt-5.5"}
            | {key.replace("__", "."): value for key, value in held.items()}
        ),
    }


def gemini(second: float, name: str, **held: Any) -> dict[str, Any]:
    """The body is a sentence."""
    return {
        "timeUnixNano": str(T0 + int(second * SECOND)),
        "body": {"stringValue": f"{name} happened."},
        "attributes": attributes(
            {"event.name": name, "session.id": GEMINI, "prompt_id": f"{GEMINI}########0"}
            | {key.replace("__", "."): value for key, value in held.items()}
        ),
    }


CLAUDE_RUN = [
    claude(0, "user_prompt", prompt="Fix the test", prompt_length=12),
    claude(3, "api_request", model="claude-opus", input_tokens="100", output_tokens="20", cache_read_tokens="50",
           cache_creation_tokens="10", cost_usd=0.02, duration_ms="2500", request_id="r1"),
    claude(4, "tool_decision", tool_name="Bash", decision="accept", source="config", tool_use_id="t1"),
    claude(5, "tool_result", tool_name="Bash", success="true", duration_ms="900", tool_use_id="t1",
           tool_input=json.dumps({"command": "pytest"})),
    claude(6, "tool_decision", tool_name="Write", decision="reject", source="user_reject", tool_use_id="t2"),
    claude(7, "api_error", model="claude-opus", error="Overloaded", status_code="529", attempt=1, duration_ms="100"),
    claude(9, "api_request", model="claude-opus", input_tokens=10, output_tokens=5, cache_read_tokens=0,
           cache_creation_tokens=0, cost_usd=0.01, duration_ms=800),
    claude(9.5, "assistant_response", response="Done."),
]  # fmt: skip
CODEX_RUN = [
    codex(0, "conversation_starts", provider_name="OpenAI", approval_policy="on-request"),
    codex(1, "user_prompt", prompt_length="9", prompt="List them"),
    codex(2, "api_request", attempt="1", http__response__status_code="200", duration_ms="700"),
    codex(3, "sse_event", event__kind="response.completed", input_token_count="900", output_token_count="100",
          cached_token_count=300, reasoning_token_count=50, tool_token_count="1000"),
    codex(4, "tool_decision", tool_name="exec_command", call_id="c1", decision="approved", source="user"),
    codex(5, "tool_result", tool_name="exec_command", call_id="c1", arguments='{"cmd": "ls"}', duration_ms="402",
          success="true", output="a.py\nb.py", mcp_server=""),
    codex(6, "tool_result", tool_name="exec_command", call_id="c2", arguments='{"cmd": "rm x"}', duration_ms="3",
          success="false", output="permission denied"),
]  # fmt: skip
PROMPT = [{"role": "user", "parts": [{"type": "text", "content": "Read it"}]}]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": "It says hello."}]}]
GEMINI_RUN = [
    gemini(0, "gemini_cli.user_prompt", prompt="Read it", prompt_length=7),
    gemini(1, "gemini_cli.api_request", model="gemini-pro", request_text=json.dumps(
        [{"role": "user", "parts": [{"text": "Read it"}]}])),
    gemini(2, "gemini_cli.tool_call", function_name="read_file", function_args='{"path": "a"}', duration_ms=10,
           success=True, decision="auto_accept"),
    gemini(3, "gemini_cli.api_response", model="gemini-pro", status_code=200, duration_ms=900, input_token_count=70,
           output_token_count=7, cached_content_token_count=0, thoughts_token_count=2,
           response_text="It says hello."),
]  # fmt: skip
GEMINI_DETAILS = gemini(
    3, "gen_ai.client.inference.operation.details", gen_ai__operation__name="generate_content",
    gen_ai__request__model="gemini-pro", gen_ai__input__messages=json.dumps(PROMPT),
    gen_ai__output__messages=json.dumps(ANSWER), gen_ai__usage__input_tokens=70, gen_ai__usage__output_tokens=7,
)  # fmt: skip


def body(*records: dict[str, Any], service: str = "claude-code") -> bytes:
    return logs(*records, resource={"service.name": service})
