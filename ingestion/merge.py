"""Merging two deliveries of one span: commutative, associative, idempotent.

Theory. A merge with these three laws is the join of a semilattice, so any delivery order, repetition or grouping gives
one result. The lattice is built from small ones:

1. A span that ended later replaces what came before it (an open span is updated by its end): an ordinal sum over
   ``end_unix_nano``, within which the parts below are joined field by field.
2. At equal end: attributes are united, numbers and texts by their greatest value in a fixed order, events and links
   united and sorted, content before none.
3. Outside the order of ends: a known subject before ``unknown``; flags and mentions are united.

The laws hold for spans in normal form (``normal``), which is how the drain stores them; ``merge`` gives normal form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from governance.masking.annotations import ordered
from governance.policy.epochs import united
from governance.records.base import canonical_json
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.masking_policy import join_versions
from governance.records.span import Span, SpanEvent, SpanLink
from governance.records.trajectory import UNKNOWN_SUBJECT
from ingestion.errors import MergeError

_MAPS: Final = ("attributes", "resource", "scope_attributes")
_SEQUENCES: Final = ("events", "links")
_APART: Final = frozenset({*_MAPS, *_SEQUENCES, "trace_id", "span_id", "flags"})
T = TypeVar("T", SpanEvent, SpanLink)


def _order(value: Any) -> tuple[float, bytes]:
    """A total order over JSON values: numbers by size, then everything by its canonical form."""
    number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("-inf")
    return number, canonical_json(value)


def greatest(first: Any, second: Any) -> Any:
    """The greater of two values; None is below everything."""
    if first is None or second is None:
        return second if first is None else first
    return max(first, second, key=_order)


def _united(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    keys = sorted(first.keys() | second.keys())
    return {key: greatest(first[key], second[key]) if key in first and key in second else
            first.get(key, second.get(key)) for key in keys}  # fmt: skip


def _event_order(item: SpanEvent | SpanLink) -> tuple[int, bytes]:
    return (item.time_unix_nano if isinstance(item, SpanEvent) else 0), canonical_json(item.plain())


def union(items: Iterable[T]) -> tuple[T, ...]:
    """Each item once, by time and canonical form."""
    by_order = {_event_order(item): item for item in items}
    return tuple(by_order[key] for key in sorted(by_order))


def _join_spans(first: Span, second: Span) -> Span:
    """The span of two with one end."""
    changes: dict[str, Any] = {name: _united(getattr(first, name), getattr(second, name)) for name in _MAPS}
    changes |= {name: union([*getattr(first, name), *getattr(second, name)]) for name in _SEQUENCES}
    changes |= {
        name: greatest(getattr(first, name), getattr(second, name)) for name in Span.model_fields if name not in _APART
    }
    return first.model_copy(update=changes)


def _richness(content: SpanContent) -> tuple[int, bytes]:
    parts = sum(len(message.parts) for message in (*content.input, *content.output))
    said = content.tool_arguments is not None, content.tool_result is not None
    return parts + sum(said) + len(content.evaluations), canonical_json(content.plain())


def _join_content(first: SpanContent | None, second: SpanContent | None) -> SpanContent | None:
    if first is None or second is None:
        return second if first is None else first
    return max(first, second, key=_richness)


def _subject(first: str, second: str) -> str:
    known = [subject for subject in (first, second) if subject != UNKNOWN_SUBJECT]
    return max(known, default=UNKNOWN_SUBJECT)


def merge(first: AdmittedSpan, second: AdmittedSpan) -> AdmittedSpan:
    """What two deliveries of one span say together.

    Raises:
        MergeError: when they are not versions of one span.

    """
    if _identity(first) != _identity(second):
        raise MergeError(f"{_identity(first)} and {_identity(second)} are different spans")
    ends = first.span.end_unix_nano, second.span.end_unix_nano
    if ends[0] == ends[1]:
        span = _join_spans(first.span, second.span)
        content = _join_content(first.content, second.content)
        reason = None if content is not None else greatest(first.withheld_reason, second.withheld_reason)
    else:
        latest = first if ends[0] > ends[1] else second
        span, content, reason = _join_spans(latest.span, latest.span), latest.content, latest.withheld_reason
    return AdmittedSpan(
        tenant_id=first.tenant_id,
        subject=_subject(first.subject, second.subject),
        span=span.model_copy(update={"flags": tuple(sorted({*first.span.flags, *second.span.flags}))}),
        content=content,
        withheld_reason=reason,
        mentions=tuple(sorted({*first.mentions, *second.mentions})),
        marks=ordered((*first.marks, *second.marks)),
        epoch=united((first.epoch, second.epoch)),
        masked_under=join_versions((first.masked_under, second.masked_under)),
    )


def normal(item: AdmittedSpan) -> AdmittedSpan:
    """The normal form: events, links, flags and mentions sorted and unique. ``merge(item, item)``, without its work."""
    span, changes = item.span, dict[str, Any]()
    for name in _SEQUENCES:
        held = getattr(span, name)
        if held and (made := union(held)) != held:
            changes[name] = made
    if span.flags and (flags := tuple(sorted({*span.flags}))) != span.flags:
        changes["flags"] = flags
    mentions = tuple(sorted({*item.mentions})) if item.mentions else ()
    marks = ordered(item.marks) if item.marks else ()
    withheld = None if item.content is not None else item.withheld_reason
    if not changes and mentions == item.mentions and marks == item.marks and withheld == item.withheld_reason:
        return item
    whole = span.but(**changes) if changes else span
    return item.but(span=whole, mentions=mentions, marks=marks, withheld_reason=withheld)


def _identity(item: AdmittedSpan) -> tuple[str, str, str]:
    return item.tenant_id, item.span.trace_id, item.span.span_id
