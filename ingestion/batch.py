"""One segment, read: its spans by tenant and day, with their content and whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from governance.records.content import SpanContent
from governance.records.ledger import Fate
from governance.records.span import Span
from ingestion import dialects
from ingestion.dialects.histories import remember
from ingestion.envelope import Envelope
from ingestion.errors import DecodeError
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.feedback.item import Item as FeedbackItem
from ingestion.feedback.lone_evaluations import LONE_EVALUATION, item_of
from ingestion.people import Subjects

Item = tuple[Span, SpanContent, str | None]
"""What the door takes: the structure, the content, the raw id."""


@dataclass
class Group:
    """What one tenant sent on one day, as one segment holds it."""

    tenant_id: str
    day: str
    spans: list[Span] = field(default_factory=list)
    fates: list[tuple[Fate, str]] = field(default_factory=list)
    """What is already decided: spans that the decoder refused."""
    received: int = 0
    """Entries that the door counted when it took them."""
    feedback: list[FeedbackItem] = field(default_factory=list)


def read_groups(records: Iterable[tuple[str, bytes]]) -> list[Group]:
    """The groups of a segment, by tenant and day.

    ``received`` is what the door counted and ``spans`` and ``fates`` are what is decoded here, so that the ledger
    compares the two.
    """
    groups: dict[tuple[str, str], Group] = {}
    for tenant_id, payload in records:
        envelope = _unpack(payload)
        day = envelope.received_at.date().isoformat()
        group = groups.setdefault((tenant_id, day), Group(tenant_id, day))
        if isinstance(envelope, FeedbackEnvelope):
            _read_feedback(envelope, group)
            continue
        try:
            decoded = envelope.spans()
        except DecodeError:
            lost = 1 if envelope.entries is None else envelope.entries
            group.received += lost
            group.fates += [(Fate.REJECTED, "undecodable")] * lost
            continue
        group.received += len(decoded) if envelope.entries is None else envelope.entries
        for item in decoded:
            if isinstance(item, Span):
                group.spans.append(item)
            else:
                group.fates.append((Fate.REJECTED, item.reason))
    return [groups[key] for key in sorted(groups)]


def _unpack(payload: bytes) -> Envelope | FeedbackEnvelope:
    return FeedbackEnvelope.unpack(payload) if FeedbackEnvelope.holds(payload) else Envelope.unpack(payload)


def _read_feedback(envelope: FeedbackEnvelope, group: Group) -> None:
    try:
        found = envelope.items()
    except DecodeError:
        lost = 1 if envelope.entries is None else envelope.entries
        group.received += lost
        group.fates += [(Fate.REJECTED, "undecodable")] * lost
        return
    group.received += len(found) if envelope.entries is None else envelope.entries
    for item in found:
        if isinstance(item, FeedbackItem):
            group.feedback.append(item)
        else:
            group.fates.append((Fate.REJECTED, item.code))


def lone_evaluations(group: Group, subjects: Subjects) -> tuple[list[Span], list[FeedbackItem], list[tuple[Fate, str]]]:
    """A group's other spans, its evaluations that name no span as items of feedback, and the fates of broken ones."""
    if not any(LONE_EVALUATION in span.flags for span in group.spans):
        return group.spans, [], []
    spans: list[Span] = []
    found: list[FeedbackItem] = []
    fates: list[tuple[Fate, str]] = []
    for span in group.spans:
        if LONE_EVALUATION not in span.flags:
            spans.append(span)
            continue
        item = item_of(span, subjects.raw_id(group.tenant_id, span))
        if isinstance(item, FeedbackItem):
            found.append(item)
        else:
            fates.append((Fate.REJECTED, item.code))
    return spans, found, fates


def chunks(spans: Iterable[Span], size: int) -> Iterator[list[Span]]:
    """Spans in runs of about ``size``, the spans of a trace together."""
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    run: list[Span] = []
    for of_trace in traces.values():
        if run and len(run) + len(of_trace) > size:
            yield run
            run = []
        run += of_trace
    if run:
        yield run


def in_order(spans: Iterable[Span]) -> list[Span]:
    """Spans by trace and start."""
    return sorted(spans, key=lambda span: (span.trace_id, span.start_unix_nano))


def items(tenant_id: str, spans: Iterable[Span], subjects: Subjects, owners: Mapping[str, str]) -> list[Item]:
    """What the door takes, by trace and start. A span that names nobody has the person of its trace."""
    with remember():
        return [
            (
                dialects.strip(span),
                dialects.read(span),
                subjects.raw_id(tenant_id, span) or owners.get(span.trace_id),
            )
            for span in in_order(spans)
        ]
