"""A log record that says what happened in a span, as a span of its own.

Theory. Instrumentations may write what they saw in a model call as log events instead of attributes (OpenTelemetry
GenAI semantic conventions, "Events"). Logs and spans travel apart, so either may come first, and one record may come
twice. So a record is neither kept back until its span comes nor written into it: it becomes a *log span*, a child of
the span that it names, with an id made from what it holds. Then nothing new is needed to make it durable, masked,
owned, counted, erased, and the same when it comes again; assembly folds it into its span (``ingestion.log_events``).

1. A record is taken when it names a trace and a span and is an event of GenAI (``gen_ai.*``), by the field
   ``event_name`` or by the older attribute ``event.name``. Any other is refused on its own, with the reason.
2. The event that holds a whole call (``gen_ai.client.inference.operation.details``) holds it in attributes that a span
   would have too: they are the log span's attributes. Any other event is an event of the log span; attributes that are
   not of the event (``user.id``, say) are the log span's.
3. The older conventions put the event's content into the record's body: it is read as the event's ``body``, and fields
   of it that are named ``gen_ai.*`` as attributes.
"""

from __future__ import annotations

import re
from typing import Any, Final

from governance.records.base import digest_json
from governance.records.span import Span
from ingestion.otlp_fields import Refused, build

LOG_EVENT: Final = "log_event"
"""The flag of a log span."""
LOG_MESSAGE: Final = "log_message"
"""The flag of a log span that holds one message of several, so that they belong together."""
_GENAI: Final = "gen_ai."
_EVENT_NAME: Final = "event.name"
_OF_EVENT: Final = frozenset({"content", "message", "tool_calls", "id", "role", "tool_call_id", "parts", "body"})
_WHOLE_CALL: Final = "gen_ai.client.inference.operation.details"
_ONE_MESSAGE: Final = re.compile(r"gen_ai\.(\w+\.message|choice|content\.\w+)")


def event_name(attributes: dict[str, Any], named: str) -> str:
    """The record's event, by its field or its attribute.

    Raises:
        Refused: when it is no event of GenAI.

    """
    name = named or attributes.get(_EVENT_NAME)
    if not isinstance(name, str) or not name:
        raise Refused("not_an_event", "the log record has no event_name; only events named gen_ai.* are taken")
    if not name.startswith(_GENAI):
        raise Refused("not_genai", f"the event {name[:60]!r} is not one of gen_ai.*")
    return name


def log_span(fields: dict[str, Any], notes: set[str], received_unix_nano: int, max_age_nano: int | None) -> Span:
    """The log span of a record.

    ``fields`` are ``trace_id``, ``span_id``, ``name``, ``time_unix_nano``, ``body``, ``attributes``, and the resource,
    scope and counts as a ``Span`` has them.

    Raises:
        Refused: when it is older than intake takes, or not representable.

    """
    name, moment = fields.pop("name"), fields.pop("time_unix_nano")
    attributes = _with_body(fields.pop("attributes"), fields.pop("body"))
    identity = [fields["trace_id"], fields["span_id"], name, moment, attributes]
    parent, fields["span_id"] = fields.pop("span_id"), digest_json(["tidemill log event", *identity])[:16]
    of_event = {} if name == _WHOLE_CALL else {key: value for key, value in attributes.items() if _is_of_event(key)}
    notes |= {LOG_EVENT, LOG_MESSAGE} if _ONE_MESSAGE.fullmatch(name) else {LOG_EVENT}
    event = {"name": name, "time_unix_nano": moment, "attributes": of_event}
    own = {
        "parent_span_id": parent,
        "name": name,
        "start_unix_nano": moment,
        "end_unix_nano": moment,
        "attributes": {key: value for key, value in attributes.items() if key not in of_event},
        "events": [] if name == _WHOLE_CALL else [event],
    }
    return build(fields | own, notes, received_unix_nano, max_age_nano)


def _with_body(attributes: dict[str, Any], body: Any) -> dict[str, Any]:
    held = {key: value for key, value in attributes.items() if key != _EVENT_NAME}
    if body is None:
        return held
    if not isinstance(body, dict):
        return {"body": body} | held
    named = {key: value for key, value in body.items() if key.startswith(_GENAI)}
    rest = {key: value for key, value in body.items() if key not in named}
    return named | ({"body": rest} if rest else {}) | held


def _is_of_event(key: str) -> bool:
    return key in _OF_EVENT or key.startswith(_GENAI)
