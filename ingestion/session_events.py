"""The log events of coding agents: which are taken, to which session they belong, and what of them is words.

Theory. Claude Code, Codex CLI and Gemini CLI tell of a session by log events. Most name no trace and no span, but each
names its session. So the trace is derived from the session: every event of it, in whichever request and however often
it comes, has the same trace and hangs under the same place (``session_root``), and assembly makes one trajectory of
them (``ingestion.log_events``). An event that does name a span belongs to that span.

Source: Claude Code, "Monitoring" (``session.id``; the body holds the name with its prefix, ``event.name`` without);
Codex, ``codex-rs/otel`` (``conversation.id``; ``event.timestamp`` in place of the record's time); Gemini CLI,
"Observability with OpenTelemetry" (``session.id``).

Taken is what says what was asked, answered, called, decided, spent or refused. Other events (connections, pieces of
streams, settings) are refused, each with its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from governance.records.base import digest_json, to_unix_nano

SESSION_EVENT: Final = "session_event"
"""The flag of a log span that is an event of a coding agent's session."""
PREFIXES: Final = ("claude_code.", "codex.", "gemini_cli.")
_CLAUDE: Final = "claude_code."
_CLAUDE_SCOPE: Final = "com.anthropic.claude_code"
_COMPLETED: Final = "response.completed"
TAKEN: Final = frozenset(
    {
        "claude_code.user_prompt", "claude_code.assistant_response", "claude_code.api_request",
        "claude_code.api_request_body", "claude_code.api_response_body", "claude_code.api_error",
        "claude_code.api_refusal", "claude_code.tool_result", "claude_code.tool_decision",
        "codex.conversation_starts", "codex.user_prompt", "codex.api_request", "codex.sse_event",
        "codex.tool_decision", "codex.tool_result",
        "gemini_cli.user_prompt", "gemini_cli.api_request", "gemini_cli.api_response", "gemini_cli.api_error",
        "gemini_cli.tool_call",
    }
)  # fmt: skip
PROMPTS: Final = frozenset({"claude_code.user_prompt", "codex.user_prompt", "gemini_cli.user_prompt"})
WORDS: Final = frozenset(
    {
        "prompt", "response", "response_text", "request_text", "arguments", "output", "function_args", "tool_input",
        "tool_parameters", "tool_output", "result", "body", "error", "error.message", "metadata", "full_command",
        "file_path",
    }
)  # fmt: skip
"""Fields of these events that hold what somebody said, or what a tool was given or gave back."""
_SESSIONS: Final = ("session.id", "conversation.id", "gen_ai.conversation.id", "gen_ai.session.id", "session_id")
_REFUSALS: Final = frozenset({"reject", "rejected", "denied", "deny", "abort", "aborted", "timed_out"})


def full_name(name: str, body: Any, scope: str) -> str:
    """An event's name with its prefix: Claude Code writes it so only in the body, or says by its scope whose it is."""
    if name.startswith(PREFIXES):
        return name
    if isinstance(body, str) and body.startswith(PREFIXES) and (not name or body.rpartition(".")[2] == name):
        return body
    return f"{_CLAUDE}{name}" if name and "." not in name and scope.startswith(_CLAUDE_SCOPE) else name


def is_session_event(name: str) -> bool:
    """Whether the event is a coding agent's."""
    return name.startswith(PREFIXES)


def is_prompt(name: str) -> bool:
    """Whether the event is what a customer wrote, as the agent took it."""
    return name in PROMPTS


def tells(name: str, attributes: Mapping[str, Any]) -> bool:
    """Whether an event is taken. Of Codex's stream only its end counts, and what failed."""
    if name == "codex.sse_event":
        return attributes.get("event.kind") == _COMPLETED or "error.message" in attributes
    return name in TAKEN


def session_of(attributes: Mapping[str, Any], resource: Mapping[str, Any]) -> str | None:
    """The session that a record names, itself or by its resource."""
    values = (held.get(key) for held in (attributes, resource) for key in _SESSIONS)
    return next((str(value) for value in values if isinstance(value, str | int) and str(value).strip()), None)


def session_trace(session: str) -> str:
    """The trace id of a session."""
    return digest_json(["tidemill session", session])[:32]


def session_root(trace_id: str) -> str:
    """The span under which the events of a session hang. No record is it."""
    return digest_json(["tidemill session root", trace_id])[:16]


def moment_of(attributes: Mapping[str, Any]) -> int:
    """``event.timestamp`` in nanoseconds; 0 where it is none."""
    value = attributes.get("event.timestamp")
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        return 0 if moment is None else max(0, to_unix_nano(moment if moment.tzinfo else moment.replace(tzinfo=UTC)))
    except (ValueError, OverflowError, OSError):
        return 0


def duration_of(attributes: Mapping[str, Any]) -> int:
    """``duration_ms`` in nanoseconds; 0 where it is none."""
    try:
        value = float(attributes.get("duration_ms") or 0)
    except (TypeError, ValueError):
        return 0
    return int(value * 1_000_000) if 0 < value < 2**40 else 0


def refused(attributes: Mapping[str, Any]) -> bool:
    """Whether a decision about a tool was to refuse it."""
    return str(attributes.get("decision", "")).lower() in _REFUSALS


def failure_of(name: str, attributes: Mapping[str, Any]) -> str | None:
    """What went wrong, in the event's words or in a word for it; None where nothing did."""
    failed = str(attributes.get("success", "")).lower() == "false" or name.endswith(("_error", "_refusal"))
    told = next((attributes[key] for key in ("error", "error.message") if attributes.get(key)), None)
    if name.endswith(".tool_decision"):
        source = attributes.get("source")
        return f"refused by {source}" if refused(attributes) and source else "refused" if refused(attributes) else None
    if told is None and not failed:
        return None
    output = attributes.get("output") if failed else None
    return str(told or output or attributes.get("status_code") or "failed")
