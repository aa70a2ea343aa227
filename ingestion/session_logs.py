"""The log events of a coding agent's session as the spans of one run: under one place, each thing once.

1. Events that name only a session hang under a root that no record is (``session_events.session_root``). It is made
   here, out of the events that are there: it starts with the first and ends with the last, and its agent is the
   service that wrote them. So a session is one run, usable at any moment.
2. Gemini CLI tells of one call of a model in two events: the convention's, with the messages, and its own, with the
   tokens. Messages are taken from the first and tokens from the second.
3. A refused decision about a tool whose result is there too adds nothing: the result tells of it.
4. Where an agent's own spans are there as well, its events repeat them: those of model calls and of tools are left out
   where the trace has such spans. A tool's event goes into the tool's span of the same call, for what that lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from governance.records.content import AdmittedSpan, SpanContent
from governance.records.span import Span
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion.calls import call_id
from ingestion.dialects import read
from ingestion.dialects.genai import DETAILS
from ingestion.log_records import LOG_EVENT
from ingestion.session_events import SESSION_EVENT, session_of, session_root

SESSION: Final = "session"
"""The flag of a made root."""
_OWN: Final = frozenset({"gemini_cli.api_request", "gemini_cli.api_response"})
_DECISIONS: Final = (".tool_decision",)


def session_spans(spans: Sequence[AdmittedSpan]) -> list[AdmittedSpan]:
    """The spans of a trace with its sessions' events in place."""
    if not any(LOG_EVENT in item.span.flags for item in spans):
        return list(spans)
    kept = _beside_spans(_once(list(spans)))
    root_id = session_root(spans[0].span.trace_id)
    events = [item for item in kept if item.span.parent_span_id == root_id and LOG_EVENT in item.span.flags]
    if not events or any(item.span.span_id == root_id for item in kept):
        return kept
    return [_root(root_id, events), *kept]


def is_event(item: AdmittedSpan) -> bool:
    """Whether a span stands for itself: a session's event, or the convention's whole call among them."""
    under = item.span.parent_span_id == session_root(item.span.trace_id)
    return SESSION_EVENT in item.span.flags or (under and item.span.name == DETAILS)


def _root(root_id: str, events: list[AdmittedSpan]) -> AdmittedSpan:
    first = min(events, key=lambda item: (item.span.start_unix_nano, item.span.span_id))
    known = sorted({item.subject for item in events} - {UNKNOWN_SUBJECT})
    session = next((found for item in events if (found := session_of(item.span.attributes, item.span.resource))), None)
    agent = first.span.resource.get("service.name") or first.span.name.partition(".")[0]
    attributes: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": str(agent)}
    if session is not None:
        attributes["gen_ai.conversation.id"] = session
    withheld = all(item.content is None for item in events)
    return AdmittedSpan(
        tenant_id=first.tenant_id,
        subject=known[0] if known else UNKNOWN_SUBJECT,
        span=Span(
            trace_id=first.span.trace_id,
            span_id=root_id,
            name="session",
            start_unix_nano=first.span.start_unix_nano,
            end_unix_nano=max(item.span.end_unix_nano for item in events),
            attributes=attributes,
            resource=first.span.resource,
            flags=(LOG_EVENT, SESSION),
        ),
        content=None if withheld else SpanContent(operation="invoke_agent"),
        withheld_reason=first.withheld_reason if withheld else None,
    )


def _once(spans: list[AdmittedSpan]) -> list[AdmittedSpan]:
    """Without what a second event says again."""
    details = any(item.span.name == DETAILS and is_event(item) for item in spans)
    own = any(item.span.name in _OWN for item in spans)
    done = {call_id(item) for item in spans if _executes(item) and not item.span.name.endswith(_DECISIONS)} - {None}
    told = [
        item
        for item in spans
        if not (item.span.name.endswith(_DECISIONS) and _executes(item) and call_id(item) in done)
    ]
    if not (details and own):
        return told
    return [
        _without_words(item) if item.span.name in _OWN else _without_usage(item) if item.span.name == DETAILS else item
        for item in told
    ]


def _without_words(item: AdmittedSpan) -> AdmittedSpan:
    if item.content is None:
        return item
    return item.model_copy(update={"content": item.content.model_copy(update={"input": (), "output": ()})})


def _without_usage(item: AdmittedSpan) -> AdmittedSpan:
    attributes = {key: value for key, value in item.span.attributes.items() if not key.startswith("gen_ai.usage.")}
    content = None if item.content is None else item.content.model_copy(update={"usage": None})
    return item.model_copy(update={"span": item.span.model_copy(update={"attributes": attributes}), "content": content})


def _beside_spans(spans: list[AdmittedSpan]) -> list[AdmittedSpan]:
    """Events of model calls and tools only where the trace has no spans of such; a tool's event fills its span."""
    real = [item for item in spans if LOG_EVENT not in item.span.flags]
    if not real:
        return spans
    did = {_operation(item) for item in real}
    tools = {call_id(item): item.span.span_id for item in real if _executes(item) and call_id(item)}
    told = {tools[call_id(item)]: item for item in spans if _redundant(item, did) and call_id(item) in tools}
    return [
        _filled(item, told.get(item.span.span_id)) for item in spans if not _redundant(item, did)
    ]  # fmt: skip


def _redundant(item: AdmittedSpan, did: set[str | None]) -> bool:
    return SESSION_EVENT in item.span.flags and _operation(item) is not None and _operation(item) in did


def _filled(item: AdmittedSpan, event: AdmittedSpan | None) -> AdmittedSpan:
    if event is None or item.content is None or event.content is None:
        return item
    lacking = {
        name: getattr(event.content, name)
        for name in ("tool_arguments", "tool_result")
        if getattr(item.content, name) is None
    }
    return item.model_copy(update={"content": item.content.model_copy(update=lacking)})


def _executes(item: AdmittedSpan) -> bool:
    return _operation(item) == "execute_tool"


def _operation(item: AdmittedSpan) -> str | None:
    return item.content.operation if item.content is not None else read(item.span).operation
