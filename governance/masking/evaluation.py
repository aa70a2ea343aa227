"""Compares what masking found with what people labelled, and counts.

Theory. Both sides are marks: a place in a leaf of a value, and a type. A rule says when a mark is found:

- ``exact``: a finding of its type has the same start and end.
- ``overlap``: a finding of its type shares a character with it.
- ``covers``: findings of its type hold every character of it; a finding is right when it overlaps a label.

*Recall* is the share of labels that are found, *precision* the share of findings that are right. *Leaked* is the share
of labels of which a character stays, whatever type covers the rest: what a reader could see. *Damaged* is the share of
values that must stay and did not. *Alarms* is the share of texts without a label in which something was found.

Names of types differ between labellers, so both sides are mapped (``TypeNames``). A type that is mapped to none is not
judged, and neither are findings that lie on it. A type that the policy keeps is counted apart and misses nothing. Where
only some types were labelled in a text, findings of others are not judged. A label of type ``*`` is found by any type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from governance.rates import Trials
from governance.records.base import Record

ANY: Final = "*"
"""The type of a label whose labeller named none."""


class Rule(StrEnum):
    """When a label counts as found."""

    EXACT = "exact"
    OVERLAP = "overlap"
    COVERS = "covers"


class Mark(NamedTuple):
    """Characters of one leaf, with their type."""

    pointer: str
    start: int
    end: int
    kind: str

    def overlaps(self, other: Mark) -> bool:
        """Whether the two share a character."""
        return self.pointer == other.pointer and self.start < other.end and other.start < self.end

    def fits(self, label: Mark) -> bool:
        """Whether it shares a character with a label of its type."""
        return label.kind in {self.kind, ANY} and self.overlaps(label)

    def equals(self, label: Mark) -> bool:
        """Whether it has the place and the type of a label."""
        return self.fits(label) and (self.start, self.end) == (label.start, label.end)


class TypeNames(Record):
    """What types are called. A type that stands nowhere keeps its name; one mapped to None is not judged."""

    labels: Mapping[str, str | None] = {}
    """Type of a label to the name under which it is counted."""
    found: Mapping[str, str | None] = {}
    """Type of a finding to the name under which it is counted."""

    def over(self, other: TypeNames) -> TypeNames:
        """These names, and those of ``other`` where there is none."""
        return TypeNames(labels={**other.labels, **self.labels}, found={**other.found, **self.found})


@dataclass(frozen=True)
class Case:
    """One labelled text and what was found in it."""

    labels: Sequence[Mark]
    found: Sequence[Mark]
    kept: Sequence[bool] = ()
    """Of each value that must stay: whether it did."""
    language: str = ""
    channel: str = ""
    cluster: str | None = None
    """What it has in common with other texts, a template say; else it stands alone."""
    judged: frozenset[str] | None = None
    """The types that were looked for by whoever labelled it; None: all. Where there are none, no type was labelled
    throughout: recall counts, precision and alarms do not."""


@dataclass
class Tally:
    """Counts of some texts."""

    texts: int = 0
    recall: Trials = field(default_factory=Trials)
    precision: Trials = field(default_factory=Trials)
    leaked: Trials = field(default_factory=Trials)
    damaged: Trials = field(default_factory=Trials)
    alarms: Trials = field(default_factory=Trials)
    kept_by_policy: int = 0
    """Labels of types that the policy keeps."""


class Evaluation:
    """Adds cases up: in all, by type, by language and by channel."""

    def __init__(self, rule: Rule, names: TypeNames, masks: Callable[[str], bool]) -> None:
        """``masks`` says of a type whether the policy masks it."""
        self._rule, self._names, self._masks = rule, names, masks
        self.whole = Tally()
        self.types: dict[str, Tally] = {}
        self.languages: dict[str, Tally] = {}
        self.channels: dict[str, Tally] = {}

    def add(self, case: Case) -> Judged:
        """Count one case."""
        judged = self._judge(case)
        groups = [self.whole]
        groups += [self.languages.setdefault(case.language, Tally())] if case.language else []
        groups += [self.channels.setdefault(case.channel, Tally())] if case.channel else []
        for tally in groups:
            _count(tally, judged, case)
            tally.damaged.add(sum(not kept for kept in case.kept), len(case.kept), case.cluster)
        for kind in judged.kinds:
            _count(self.types.setdefault(kind, Tally()), judged.of(kind), case)
        return judged

    def _masked(self, kind: str) -> bool:
        return kind == ANY or self._masks(kind)

    def _judge(self, case: Case) -> Judged:
        labels = _renamed(case.labels, self._names.labels)
        found = _renamed(case.found, self._names.found)
        looked_for = None if case.judged is None else {self._names.labels.get(kind, kind) for kind in case.judged}
        ignored = [mark for mark in case.labels if self._names.labels.get(mark.kind, mark.kind) is None]
        counted = [
            mark
            for mark in found
            if (looked_for is None or mark.kind in looked_for or ANY in looked_for)
            and not any(map(mark.overlaps, ignored))
        ]
        kept = [mark for mark in labels if not self._masked(mark.kind)]
        labels = [mark for mark in labels if self._masked(mark.kind)]
        return Judged(
            hits=[(mark, is_found(self._rule, mark, found)) for mark in labels],
            rights=[(mark, _is_right(self._rule, mark, labels)) for mark in counted],
            leaks=[(mark, not covered(mark, case.found)) for mark in labels],
            kept=kept,
        )


@dataclass(frozen=True)
class Judged:
    """What a case says, mark by mark."""

    hits: list[tuple[Mark, bool]]
    """Each label, and whether it was found."""
    rights: list[tuple[Mark, bool]]
    """Each finding, and whether it is right."""
    leaks: list[tuple[Mark, bool]]
    """Each label, and whether a character of it stays."""
    kept: list[Mark]
    """Labels of types that the policy keeps."""

    @property
    def kinds(self) -> list[str]:
        """The types in it."""
        return sorted({mark.kind for mark, _ in [*self.hits, *self.rights]} | {mark.kind for mark in self.kept})

    def of(self, kind: str) -> Judged:
        """The part of one type."""
        return Judged(
            hits=[one for one in self.hits if one[0].kind == kind],
            rights=[one for one in self.rights if one[0].kind == kind],
            leaks=[one for one in self.leaks if one[0].kind == kind],
            kept=[mark for mark in self.kept if mark.kind == kind],
        )


def is_found(rule: Rule, label: Mark, found: Iterable[Mark]) -> bool:
    """Whether the rule calls a label found."""
    if rule is Rule.EXACT:
        return any(mark.equals(label) for mark in found)
    same = [mark for mark in found if mark.fits(label)]
    return bool(same) if rule is Rule.OVERLAP else covered(label, same)


def covered(label: Mark, found: Iterable[Mark]) -> bool:
    """Whether findings of any type hold every character of a label."""
    reached = label.start
    for mark in sorted(mark for mark in found if mark.overlaps(label)):
        if mark.start > reached:
            return False
        reached = max(reached, mark.end)
    return reached >= label.end


def _is_right(rule: Rule, found: Mark, labels: Iterable[Mark]) -> bool:
    return any(found.equals(label) if rule is Rule.EXACT else found.fits(label) for label in labels)


def _renamed(marks: Iterable[Mark], names: Mapping[str, str | None]) -> list[Mark]:
    """The marks under their counted names, those of no name left out."""
    named = ((mark, names.get(mark.kind, mark.kind)) for mark in marks)
    return [mark._replace(kind=name) for mark, name in named if name is not None]


def _count(tally: Tally, judged: Judged, case: Case) -> None:
    tally.texts += 1
    for trials, marks in (
        (tally.recall, judged.hits),
        (tally.precision, judged.rights),
        (tally.leaked, judged.leaks),
    ):
        trials.add(sum(yes for _, yes in marks), len(marks), case.cluster)
    tally.kept_by_policy += len(judged.kept)
    if not case.labels and case.judged != frozenset():
        tally.alarms.add(bool(judged.rights), 1, case.cluster)
