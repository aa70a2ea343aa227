"""A log record that says what happened in a span, as a span of its own.

Theory. Instrumentations may write what they saw in a model call as log events instead of attributes (OpenTelemetry
GenAI semantic conventions, "Events"). Logs and spans travel apart, so either may come first, and one record may come
twice. So a record is neither kept back until its span comes nor written into it: it becomes a *log span*, a child of
the span that it names, with an id made from what it holds. Then nothing new is needed to make it durable, masked,
owned, counted, erased, and the same when it comes again; assembly folds it into its span (``ingestion.log_events``).

1. A record is taken when it is an event of GenAI (``gen_ai.*``) or of a coding agent (``ingestion.session_events``),
   by the field ``event_name``, by the older attribute ``event.name`` or by its body, and names a trace and a span, or
   in their place a session. Any other is refused on its own, with the reason.
2. The event that holds a whole call (``gen_ai.client.inference.operation.details``) holds it in attributes that a span
   would have too: they are the log span's attributes. Any other event is an event of the log span; attributes that are
   not of the event (``user.id``, say) are the log span's.
3. The older conventions put the event's content into the record's body: it is read as the event's ``body``, and fields
   of it that are named ``gen_ai.*`` as attributes.
4. Of a coding agent's event the words are the event's, everything else is the log span's. It ends when it was written,
   and began ``duration_ms`` before; where it tells of a failure, the log span has failed.
5. An evaluation that names no span but a trace, a response or a session is feedback on that
   (``ingestion.feedback.lone_evaluations``).
"""

from __future__ import annotations

import re
from typing import Any, Final

from governance.records.base import digest_json, from_unix_nano
from governance.records.span import Span
from ingestion import session_events as sessions
from ingestion.dialects.genai import EVALUATION
from ingestion.feedback import lone_evaluations as lone
from ingestion.feedback.item import ItemFault
from ingestion.otlp_fields import Refused, build

LOG_EVENT: Final = "log_event"
"""The flag of a log span."""
LOG_MESSAGE: Final = "log_message"
"""The flag of a log span that holds one message of several, so that they belong together."""
_GENAI: Final = "gen_ai."
_EVENT_NAME: Final = "event.name"
_OF_EVENT: Final = frozenset({"content", "message", "tool_calls", "id", "role", "tool_call_id", "parts", "body"})
_WHOLE_CALL: Final = "gen_ai.client.inference.operation.details"
_ERROR: Final = 2
"""OTLP's STATUS_CODE_ERROR."""
_ONE_MESSAGE: Final = re.compile(r"gen_ai\.(\w+\.message|choice|content\.\w+)")


def event_name(attributes: dict[str, Any], named: str, body: Any, scope: str) -> str:
    """The record's event.

    Raises:
        Refused: when it is no event of GenAI, and none of a coding agent that says what was said or done.

    """
    given = named or attributes.get(_EVENT_NAME)
    name = sessions.full_name(given if isinstance(given, str) else "", body, scope)
    if not name:
        raise Refused("not_an_event", "the log record has no event_name; only events named gen_ai.* are taken")
    if sessions.is_session_event(name):
        if not sessions.tells(name, attributes):
            raise Refused("no_evidence", f"the event {name[:60]!r} does not say what was said or done")
    elif not name.startswith(_GENAI):
        raise Refused("not_genai", f"the event {name[:60]!r} is not one of gen_ai.*")
    return name


def log_span(fields: dict[str, Any], notes: set[str], received_unix_nano: int, max_age_nano: int | None) -> Span:
    """The log span of a record.

    ``fields`` are ``trace_id`` and ``span_id`` (empty where the record has none), ``event_name``, ``time_unix_nano``,
    ``observed_unix_nano``, ``body``, ``attributes``, and the resource, scope and counts as a ``Span`` has them.

    Raises:
        Refused: when it is no event that is taken, belongs to nothing, is too old, or not representable.

    """
    given, body = fields.pop("attributes"), fields.pop("body")
    name = event_name(given, fields.pop("event_name"), body, fields["scope_name"])
    observed = fields.pop("observed_unix_nano")
    moment = fields.pop("time_unix_nano") or sessions.moment_of(given) or observed
    attributes = _with_body(given, body)
    if lone.is_lone(name, fields["trace_id"], fields["span_id"], attributes):
        return _lone_span(fields, attributes, moment or received_unix_nano, notes, received_unix_nano, max_age_nano)
    trace_id, parent = _place(fields["trace_id"], fields.pop("span_id"), attributes, fields["resource"])
    identity = [trace_id, parent, name, moment, attributes]
    of_event = {} if name == _WHOLE_CALL else {key: value for key, value in attributes.items() if _of_event(name, key)}
    notes |= _flags(name)
    failure = sessions.failure_of(name, attributes) if sessions.is_session_event(name) else None
    own = {
        "trace_id": trace_id,
        "span_id": digest_json(["tidemill log event", *identity])[:16],
        "parent_span_id": parent,
        "name": name,
        "start_unix_nano": _start(name, moment, attributes),
        "end_unix_nano": moment,
        "status_code": 0 if failure is None else _ERROR,
        "status_message": failure or "",
        "attributes": {key: value for key, value in attributes.items() if key not in of_event},
        "events": [] if name == _WHOLE_CALL else [{"name": name, "time_unix_nano": moment, "attributes": of_event}],
    }
    return build(fields | own, notes, received_unix_nano, max_age_nano)


def _lone_span(  # noqa: PLR0917 - what ``log_span`` has at hand
    fields: dict[str, Any],
    attributes: dict[str, Any],
    moment: int,
    notes: set[str],
    received_unix_nano: int,
    max_age_nano: int | None,
) -> Span:
    """An evaluation that stands alone, in a trace of its own."""
    read = lone.read_lone(fields["trace_id"], attributes, moment, from_unix_nano(received_unix_nano))
    if isinstance(read, ItemFault):
        raise Refused(read.code, f"the evaluation is no feedback: {read.field} {read.reason}")
    del fields["span_id"]
    event = lone.carried(fields["trace_id"], attributes)
    identity = digest_json(["tidemill lone evaluation", event, moment])
    own = {
        "trace_id": identity[:32],
        "span_id": identity[32:48],
        "parent_span_id": None,
        "name": EVALUATION,
        "start_unix_nano": moment,
        "end_unix_nano": moment,
        "status_code": 0,
        "status_message": "",
        "attributes": {key: value for key, value in attributes.items() if key not in event},
        "events": [{"name": EVALUATION, "time_unix_nano": moment, "attributes": event}],
    }
    notes.add(lone.LONE_EVALUATION)
    return build(fields | own, notes, received_unix_nano, max_age_nano)


def _place(trace_id: str, span_id: str, attributes: dict[str, Any], resource: dict[str, Any]) -> tuple[str, str]:
    """The trace and the span to which a record belongs: those that it names, else those of its session."""
    if trace_id and span_id:
        return trace_id, span_id
    session = sessions.session_of(attributes, resource)
    if session is None:
        missing = "span_id" if trace_id else "trace_id"
        raise Refused(missing, f"{missing} is missing or all zero, and the record names no session")
    trace_id = trace_id or sessions.session_trace(session)
    return trace_id, sessions.session_root(trace_id)


def _flags(name: str) -> set[str]:
    if sessions.is_session_event(name):
        return {LOG_EVENT, sessions.SESSION_EVENT}
    return {LOG_EVENT, LOG_MESSAGE} if _ONE_MESSAGE.fullmatch(name) else {LOG_EVENT}


def _start(name: str, moment: int, attributes: dict[str, Any]) -> int:
    return max(0, moment - sessions.duration_of(attributes)) if sessions.is_session_event(name) else moment


def _with_body(attributes: dict[str, Any], body: Any) -> dict[str, Any]:
    held = {key: value for key, value in attributes.items() if key != _EVENT_NAME}
    if body is None:
        return held
    if not isinstance(body, dict):
        return {"body": body} | held
    named = {key: value for key, value in body.items() if key.startswith(_GENAI)}
    rest = {key: value for key, value in body.items() if key not in named}
    return named | ({"body": rest} if rest else {}) | held


def _of_event(name: str, key: str) -> bool:
    if sessions.is_session_event(name):
        return key in sessions.WORDS
    return key in _OF_EVENT or key.startswith(_GENAI)
