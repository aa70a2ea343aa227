"""What a body holds, told without building its spans: how many entries, and which are refused on their own.

``check`` gives exactly what ``decode`` would have given, counted. A door has to know that before it answers, and
nothing else; the drain builds the spans later.

1. A trace export in protobuf is parsed once by the official schema. Where that succeeds, every string is UTF-8 and
   nothing nests deeper than the parser goes (100 messages, less than ``MAX_DEPTH`` values), so an entry is sound when
   its ids, its age and its number of parts are. A body in which anything is doubtful is decoded in full.
2. Any other body is decoded in full.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ingestion.envelope import Envelope
from ingestion.otlp_bounds import PARTS_OF_A_BODY, PARTS_OF_A_SPAN
from ingestion.otlp_decode import MAX_SPANS, PROTOBUF
from ingestion.otlp_fields import SPAN_BYTES, TRACE_BYTES, SpanFault
from ingestion.telemetry import Telemetry
from ingestion.wire import parse_whole

_NO_SPAN: Final = bytes(SPAN_BYTES)
_NO_TRACE: Final = bytes(TRACE_BYTES)


class Checked(NamedTuple):
    """What a body holds."""

    entries: int
    faults: list[SpanFault]


def check(envelope: Envelope) -> Checked:
    """What decoding the envelope gives, counted.

    Raises:
        DecodeError: as the decoder does.

    """
    if envelope.telemetry is Telemetry.TRACES and envelope.content_type == PROTOBUF:
        sound = _sound_spans(envelope)
        if sound is not None:
            return Checked(sound, [])
    decoded = envelope.spans()
    return Checked(len(decoded), [item for item in decoded if isinstance(item, SpanFault)])


def _sound_spans(envelope: Envelope) -> int | None:
    """How many spans a body holds when all are sound; None when that is not certain."""
    request = parse_whole(envelope.telemetry, envelope.body)
    if request is None:
        return None
    oldest = -1 if envelope.max_age_nano is None else envelope.received_unix_nano - envelope.max_age_nano
    spans = parts = 0
    for group in request.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                if not _is_sound(span, oldest):
                    return None
                parts += len(span.events) + len(span.links)
            spans += len(scoped.spans)
    return spans if spans <= MAX_SPANS and parts <= PARTS_OF_A_BODY else None


def _is_sound(span: Any, oldest: int) -> bool:
    trace_id, span_id, parent = span.trace_id, span.span_id, span.parent_span_id
    if len(trace_id) != TRACE_BYTES or trace_id == _NO_TRACE or len(span_id) != SPAN_BYTES or span_id == _NO_SPAN:
        return False
    if parent and len(parent) != SPAN_BYTES:
        return False
    if span.start_time_unix_nano < oldest and span.end_time_unix_nano < oldest:
        return False
    return not (span.events or span.links) or _are_sound(span.events, span.links)


def _are_sound(events: Any, links: Any) -> bool:
    if len(events) + len(links) > PARTS_OF_A_SPAN:
        return False
    return all(
        len(link.trace_id) == TRACE_BYTES
        and link.trace_id != _NO_TRACE
        and len(link.span_id) == SPAN_BYTES
        and link.span_id != _NO_SPAN
        for link in links
    )
