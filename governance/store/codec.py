"""How spans and trajectories are written: structure in the row, every word in a block; and how they are read back.

A row's body holds what it ``needs``: the references in it, each once. Fields with their default value are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from governance.records.content import AdmittedSpan, SpanContent
from governance.records.mark import Mark
from governance.records.outline import RunOutline
from governance.records.span import Span
from governance.records.trajectory import Trajectory, Turn
from governance.records.usage import Usage
from governance.store.blocks import Ref, TraceWords, as_runs, of_runs

_SPAN: Final = tuple(
    (name, field.default) for name, field in Span.model_fields.items() if name not in ("trace_id", "events", "links")
)
_USAGE: Final = tuple((name, field.default) for name, field in Usage.model_fields.items())
_PLAIN: Final = ("operation", "tool_name", "tool_call_id")
_SIDES: Final = ("input", "output")
_SINGLE: Final = ("tool_arguments", "tool_result")
_CALL_WORDS: Final = ("arguments", "result", "error")


class _Refer:
    """Puts references in the place of words, and remembers which."""

    def __init__(self, words: TraceWords) -> None:
        self._words = words
        self._needs: dict[Ref, None] = {}

    def __call__(self, value: Any) -> Any:
        if value is None:
            return None
        place = self._words.ref(value)
        self._needs[place] = None
        return place

    def all(self, values: tuple[Any, ...]) -> list[Any]:
        """References to several values."""
        refs = self._words.refs_to(values)
        self._needs.update(dict.fromkeys(refs))
        return as_runs(refs)

    def needs(self) -> list[Any]:
        """Every reference that was given."""
        return as_runs(sorted(self._needs, key=lambda ref: (0, "", ref) if isinstance(ref, int) else (1, *ref)))


def needs_of(body: dict[str, Any]) -> Iterator[Ref]:
    """The references in the body of a row."""
    return of_runs(body["needs"])


def note_span(item: AdmittedSpan, words: TraceWords) -> None:
    """Everything in a span that goes into a block."""
    content = item.content
    if content is None:
        return
    words.note_all(content.input)
    words.note_all(content.output)
    for value in (content.tool_arguments, content.tool_result, *(one.explanation for one in content.evaluations)):
        if value is not None:
            words.note(value)


def write_spans(items: Iterable[AdmittedSpan], words: TraceWords) -> dict[str, Any]:
    """The body of a row of spans, by span id."""
    refer = _Refer(words)
    spans = [_write_span(item, refer) for item in sorted(items, key=_by_start)]
    return {"needs": refer.needs(), "spans": spans}


def _by_start(item: AdmittedSpan) -> tuple[int, str]:
    """The order in which a history grows."""
    return item.span.start_unix_nano, item.span.span_id


def _write_span(item: AdmittedSpan, refer: _Refer) -> dict[str, Any]:
    span, content = item.span, item.content
    fields = span.__dict__
    body = {name: fields[name] for name, default in _SPAN if fields[name] != default}
    if span.events:
        body["events"] = [event.plain() for event in span.events]
    if span.links:
        body["links"] = [link.plain() for link in span.links]
    written: dict[str, Any] = {"span": body}
    if content is not None:
        written["content"] = _write_content(content, refer)
    if item.withheld_reason is not None:
        written["withheld_reason"] = item.withheld_reason
    if item.mentions:
        written["mentions"] = item.mentions
    if item.epoch:
        written["epoch"] = item.epoch
    if item.marks:
        written["marks"] = _write_marks(item.marks)
    return written


def _write_marks(marks: Iterable[Mark]) -> dict[str, Any]:
    """Text digest to the places in it."""
    made: dict[str, list[Any]] = {}
    for mark in marks:
        made.setdefault(mark.text, []).append((mark.start, mark.end, mark.entity_type))
    return made


def _read_marks(written: dict[str, Any]) -> tuple[Mark, ...]:
    return tuple(
        Mark(text=text, start=start, end=end, entity_type=kind)
        for text, places in written.items()
        for start, end, kind in places
    )


def _write_content(content: SpanContent, refer: _Refer) -> dict[str, Any]:
    fields = content.__dict__
    made: dict[str, Any] = {name: fields[name] for name in _PLAIN if fields[name] is not None}
    for name in _SIDES:
        if fields[name]:
            made[name] = refer.all(fields[name])
    for name in _SINGLE:
        if fields[name] is not None:
            made[name] = refer(fields[name])
    if content.evaluations:
        made["evaluations"] = [
            one.model_dump(mode="json", exclude={"explanation"}) | {"explanation": refer(one.explanation)}
            for one in content.evaluations
        ]
    if content.usage is not None:
        usage = content.usage.__dict__
        made["usage"] = {name: usage[name] for name, default in _USAGE if usage[name] != default}
    if content.flags:
        made["flags"] = content.flags
    return made


def read_spans(body: dict[str, Any], subject: str, masked_under: str, words: TraceWords) -> list[AdmittedSpan]:
    """The spans of a row, with their words back in place."""
    return [_read_span(written, subject, masked_under, words) for written in body["spans"]]


def _read_span(written: dict[str, Any], subject: str, masked_under: str, words: TraceWords) -> AdmittedSpan:
    tenant_id, trace_id = words.key
    content = written.get("content")
    if content is not None:
        for name in _SIDES:
            content[name] = tuple(words.message(ref) for ref in of_runs(content.get(name, ())))
        for name in _SINGLE:
            content[name] = words.value(content.get(name))
        for one in content.get("evaluations", ()):
            one["explanation"] = words.value(one["explanation"])
    return AdmittedSpan(
        tenant_id=tenant_id,
        subject=subject,
        span=Span.model_validate(written["span"] | {"trace_id": trace_id}),
        content=None if content is None else SpanContent.model_validate(content),
        withheld_reason=written.get("withheld_reason"),
        mentions=written.get("mentions", ()),
        marks=_read_marks(written.get("marks", {})),
        epoch=written.get("epoch", ""),
        masked_under=masked_under,
    )


def words_of_run(item: Trajectory) -> Iterator[Any]:
    """Everything in a trajectory that goes into a block."""
    yield from (turn.message for turn in item.turns)
    yield from (turn.message for subagent in item.subagents for turn in subagent.turns)
    for call in item.calls:
        yield from (value for name in _CALL_WORDS if (value := getattr(call, name)) is not None)


def write_run(item: Trajectory, words: TraceWords) -> dict[str, Any]:
    """The body of a trajectory's row."""
    body = item.model_dump(mode="json", exclude={"turns", "subagents", "calls"}, exclude_defaults=True)
    refer = _Refer(words)
    body["turns"] = [_write_turn(turn, refer) for turn in item.turns]
    if item.subagents:
        body["subagents"] = [
            {"span_id": one.span_id, "name": one.name, "turns": [_write_turn(turn, refer) for turn in one.turns]}
            for one in item.subagents
        ]
    apart = set(_CALL_WORDS)
    body["calls"] = [
        call.model_dump(mode="json", exclude=apart) | {name: refer(getattr(call, name)) for name in _CALL_WORDS}
        for call in item.calls
    ]
    return {"needs": refer.needs(), "run": body}


def _write_turn(turn: Turn, refer: _Refer) -> dict[str, Any]:
    plain = turn_plain(turn)
    plain["message"] = refer(turn.message)
    return plain


def turn_plain(turn: Turn) -> dict[str, Any]:
    """A turn without its message, as its record is written: there are many."""
    plain: dict[str, Any] = {"actor": turn.actor, "span_id": turn.span_id, "at": _written(turn.at)}
    if turn.earlier:
        plain["earlier"] = True
    return plain


def _written(at: datetime) -> str:
    """A time as a record writes it."""
    return at.isoformat().replace("+00:00", "Z")


def read_run(body: dict[str, Any], words: TraceWords) -> Trajectory:
    """The trajectory with its words back in place."""
    run = body["run"]
    for turn in (*run["turns"], *(turn for one in run.get("subagents", ()) for turn in one["turns"])):
        turn["message"] = words.message(turn["message"])
    for call in run["calls"]:
        for name in _CALL_WORDS:
            call[name] = words.value(call[name])
    return Trajectory.model_validate(run)


def read_outline(id_: str, body: dict[str, Any]) -> RunOutline:
    """The run without its words, which are not read."""
    run = body["run"]
    acted = {turn["actor"] for turn in run["turns"] if not turn.get("earlier")}
    acted |= {call["actor"] for call in run["calls"]}
    return RunOutline(
        id=id_,
        tenant_id=run["tenant_id"],
        agent_name=run["agent_name"],
        started_at=run["started_at"],
        ended_at=run["ended_at"],
        usage=run.get("usage", {}),
        actors=tuple(sorted(acted)),
        incomplete=run.get("incomplete", ()),
    )
