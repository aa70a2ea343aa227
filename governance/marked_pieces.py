"""Marks of pieces that are joined and cut again: each stays with its characters.

A mark knows its text by digest, so a text that is joined of pieces, and a piece that is cut at another place, need
marks of their own. Joined pieces may be one JSON document that a stream cut: masking reads the texts inside of it, so
what was replaced in its pieces is marked wherever it stands in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from governance.masking.annotations import text_name
from governance.masking.spans import Hit
from governance.masking.walker import leaves
from governance.pieces import Run
from governance.records.mark import Mark


def joined_marks(run: Run, shielded: Mapping[str, Sequence[Hit]]) -> list[Mark]:
    """The marks of the joined text; ``shielded`` tells the surrogates of each text."""
    joined, at = run.joined, 0
    name = text_name(joined)
    marks: list[Mark] = []
    for text in run.texts:
        marks += [
            Mark(text=name, start=at + hit.start, end=at + hit.end, entity_type=hit.entity_type)
            for hit in shielded.get(text_name(text), ())
        ]
        at += len(text)
    return [*marks, *_inside(joined, marks)]


def cut_marks(texts: Sequence[str], marks: Iterable[Mark]) -> list[Mark]:
    """The marks of pieces, from those of the text that they make; marks of other texts stay as they are."""
    name, held = text_name("".join(texts)), list(marks)
    cut, at = [mark for mark in held if mark.text != name], 0
    for text in texts:
        cut += [
            Mark(text=text_name(text), start=mark.start - at, end=mark.end - at, entity_type=mark.entity_type)
            for mark in held
            if mark.text == name and at <= mark.start and mark.end <= at + len(text)
        ]
        at += len(text)
    return cut


def _inside(joined: str, marks: Sequence[Mark]) -> Iterator[Mark]:
    """Marks of what was replaced in a JSON document, in the texts inside of it."""
    replaced = {(joined[mark.start : mark.end], mark.entity_type) for mark in marks}
    for leaf in leaves(joined) if replaced else ():
        if leaf.text == joined:
            continue
        for surrogate, entity_type in replaced:
            start = leaf.text.find(surrogate)
            while start >= 0:
                end = start + len(surrogate)
                yield Mark(text=text_name(leaf.text), start=start, end=end, entity_type=entity_type)
                start = leaf.text.find(surrogate, end)
