"""Texts that came in pieces, read as one: a value that two pieces share is put whole into the piece where it begins.

Theory. A stream writes a message in chunks, and a message has content parts. Masking looks at one text at a time, so a
value that is cut between two of them would be seen by nobody. Here the pieces of one text (``governance.pieces``) are
joined, as they were before they were cut, and masked once to see what crosses a cut; each such cut is moved behind the
value. Nothing else changes: the pieces stay as many and in their order, their characters stay the same, and masking
proper comes after.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from governance.masking.reading import read
from governance.pieces import Path, Run, runs_in
from governance.ports.masker import Finding, Masker


def whole_values(masker: Masker, tenant_id: str, values: Sequence[Any]) -> list[Any]:
    """The values with no personal value cut in two; one in which nothing is cut is returned as it is.

    Raises:
        MaskingError: when a detector fails.

    """
    runs = runs_in(values)
    if not runs:
        return list(values)
    found = masker.mask(tenant_id, [run.joined for _, run in runs])
    moved = [uncut(run, masked.findings) for (_, run), masked in zip(runs, found, strict=True)]
    return with_pieces(values, runs, moved)


def uncut(run: Run, findings: Sequence[Finding]) -> list[str]:
    """The run's texts with each cut moved behind the value that it cuts; ``findings`` are of the joined text."""
    if any(finding.pointer for finding in findings) or (findings and _names_values(run.joined)):
        # JSON that was cut: only whole can it be read
        return [run.joined, *[""] * (len(run.texts) - 1)]
    cuts, at = [0], 0
    for text in run.texts:
        at += len(text)
        cut = max((one.end for one in findings if one.start < at < one.end), default=at)
        cuts.append(max(cut, cuts[-1]))
    joined = run.joined
    return [joined[begin:end] for begin, end in pairwise(cuts)]


def _names_values(text: str) -> bool:
    """Whether names of fields in a text say what values are: without them, a piece of it is read in another way."""
    reading = read(text)
    return reading is not None and reading.has_fields


def with_pieces(values: Sequence[Any], runs: Sequence[tuple[int, Run]], moved: Sequence[list[str]]) -> list[Any]:
    """The values with other texts in the places of their runs; one that stays the same is the same object."""
    made = list(values)
    for (place, run), texts in zip(runs, moved, strict=True):
        if texts != run.texts:
            if made[place] is values[place]:
                made[place] = copy.deepcopy(values[place])
            for path, text in zip(run.paths, texts, strict=True):
                _put(made[place], path, text)
    return made


def _put(value: Any, path: Path, text: str) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = text
