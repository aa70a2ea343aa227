"""Events that hold a message: ``gen_ai.*.message`` and ``gen_ai.choice``, as bodies and as attributes.

Source: OpenTelemetry semantic conventions 1.28 to 1.36. The body of the event is the message; exporters that have no
bodies write its fields as attributes, and structured fields as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from governance.records.message import Message, Role
from governance.records.span import SpanEvent
from ingestion.dialects.messages import read_message
from ingestion.dialects.values import structured

CHOICE: Final = "gen_ai.choice"
TOOL: Final = "gen_ai.tool.message"
MESSAGES: Final = {
    "gen_ai.system.message": Role.SYSTEM,
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    TOOL: Role.TOOL,
}
_FIELDS: Final = frozenset({"content", "message", "tool_calls", "id", "role", "tool_call_id", "parts"})


def read_events(events: Iterable[SpanEvent], roles: Mapping[str, Role], notes: set[str]) -> tuple[Message, ...]:
    """The messages of the events with these names, in order."""
    read = (read_body(event.attributes, roles[event.name], notes) for event in events if event.name in roles)
    return tuple(message for message in read if message is not None)


def read_body(fields: dict[str, Any], role: Role, notes: set[str]) -> Message | None:
    """One event's message; a ``message`` that is a text or a list of parts is its content."""
    body: dict[str, Any] = {key: structured(fields[key], notes) for key in sorted(_FIELDS & fields.keys())}
    for key in ("body", "gen_ai.event.content"):
        inner = structured(fields.get(key), notes)
        if inner is not None:
            body.update(inner if isinstance(inner, dict) else {"content": inner})
    said = body.get("message")
    if said is not None and not isinstance(said, dict):
        body["content"] = body.pop("message")
    return read_message({"role": role.value, **body}, role, notes) if body else None
