"""Recorded annotations: which characters of a masked value are surrogates, and masking again around them.

Theory. Whether a string is a surrogate cannot be told by its look: a customer may write one that looks like it. So what
masking replaced is recorded with the text that it made: a ``Mark`` names the text by its digest and the characters in
it. A text carries its marks wherever it goes (spans repeat messages, trajectories move them), merging two records of
marks is their union, and a mark whose text is gone says nothing. Masking again under another policy leaves marked
characters alone and masks what it newly finds outside them; under the same policy it changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from governance.masking.field_names import may_be_value
from governance.masking.reading import digits
from governance.masking.spans import Hit, resolve
from governance.masking.walker import Leaf, leaves, rebuild
from governance.ports.masker import Finding, Masked
from governance.records.mark import Mark

Places = Callable[[str], Sequence[tuple[int, int]]]
"""Text to the places in it that are to be replaced."""


def text_name(text: str) -> str:
    """The digest by which marks know a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def marks_of(masked: Masked) -> tuple[Mark, ...]:
    """The marks of a masked value."""
    if not masked.findings:
        return ()
    return marks_in(masked.value, masked.findings)


def marks_in(value: Any, findings: Iterable[Finding]) -> tuple[Mark, ...]:
    """The marks of findings, each with the text of the value in which it stands."""
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.pointer, []).append(one)
    ways = {pointer[:end] for pointer in found for end in _ends(pointer)}
    marks = {
        Mark(text=text_name(leaf.text), start=one.masked_start, end=one.masked_end, entity_type=one.entity_type)
        for leaf in leaves(value, lambda pointer, _: pointer in ways)
        for one in found.get(leaf.pointer, ())
        if one.masked_end <= len(leaf.text)
    }
    return ordered(marks)


def _ends(pointer: str) -> list[int]:
    """Where the pointers of everything around a place end, and its own."""
    return [*(at for at, sign in enumerate(pointer) if sign == "/"), len(pointer)]


def ordered(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Marks in the one order, each once."""
    return tuple(sorted(set(marks), key=lambda mark: (mark.text, mark.start, mark.end, mark.entity_type)))


def shields(marks: Iterable[Mark]) -> dict[str, tuple[Hit, ...]]:
    """Text digest to the surrogates in that text."""
    found: dict[str, list[Hit]] = {}
    for mark in marks:
        found.setdefault(mark.text, []).append(Hit(mark.start, mark.end, mark.entity_type, 1.0))
    return {text: resolve(hits) for text, hits in found.items()}


def with_places(
    masked: Masked,
    places: Places,
    subject: str,
    names: Callable[[str], bool] = may_be_value,
    may_hold: Callable[[Any], bool] | None = None,
) -> Masked:
    """The masked value with a person's own id replaced where it stands, and all findings where they stand then.

    Members of objects of which ``may_hold`` denies that it stands in them are not looked at. A number that is the id
    becomes the number that stands for its hash, as in a field of that id (``digits``).
    """
    moved: dict[str, list[tuple[int, int]]] = {}
    numbers: dict[str, int] = {}

    def is_id(text: str) -> bool:
        return list(places(text)) == [(0, len(text))]

    def replace(leaf: Leaf) -> str:
        if leaf.number:
            if not is_id(leaf.text):
                return leaf.text
            numbers[leaf.pointer] = len(leaf.text)
            return subject
        found = list(places(leaf.text))
        if found and not leaf.is_name:
            moved[leaf.pointer] = found
        return _put(leaf.text, found, subject)

    enters = None if may_hold is None else lambda _, item: may_hold(item)
    value = rebuild(masked.value, replace, names, enters, is_id)
    if value == masked.value:
        return masked
    size = len(subject)
    findings = [_moved(one, moved.get(one.pointer, ()), size) for one in masked.findings]
    findings += [_own(pointer, place, found, subject) for pointer, found in moved.items() for place in found]
    findings = [one for one in findings if one.pointer not in numbers]
    findings += [_number(pointer, length, subject) for pointer, length in numbers.items()]
    kept = [_moved(one, moved.get(one.pointer, ()), size) for one in masked.kept if one.pointer not in numbers]
    return masked.model_copy(update={"value": value, "findings": tuple(findings), "kept": tuple(kept)})


def _own(pointer: str, place: tuple[int, int], places: Iterable[tuple[int, int]], subject: str) -> Finding:
    """A person's own id as a finding."""
    start = place[0] + _shift(places, place[0], len(subject))
    return Finding(
        pointer=pointer, start=place[0], end=place[1], entity_type="USER_ID", score=1.0, mention=subject,
        masked_start=start, masked_end=start + len(subject),
    )  # fmt: skip


def _number(pointer: str, length: int, subject: str) -> Finding:
    """A person's own id that is a number."""
    return Finding(
        pointer=pointer, start=0, end=length, entity_type="USER_ID", score=1.0, mention=subject,
        masked_start=0, masked_end=len(digits(subject)),
    )  # fmt: skip


def _put(text: str, places: Iterable[tuple[int, int]], substitute: str) -> str:
    parts, done = [], 0
    for start, end in places:
        parts += [text[done:start], substitute]
        done = end
    return "".join([*parts, text[done:]])


def _shift(places: Iterable[tuple[int, int]], before: int, size: int) -> int:
    return sum(size - (end - start) for start, end in places if end <= before)


def _moved(finding: Finding, places: Iterable[tuple[int, int]], size: int) -> Finding:
    shift = _shift(places, finding.masked_start, size)
    if not shift:
        return finding
    now = {"masked_start": finding.masked_start + shift, "masked_end": finding.masked_end + shift}
    return finding.model_copy(update=now)
