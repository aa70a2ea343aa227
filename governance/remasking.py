"""Spans that were masked, masked again under the policy of now.

Theory. What masking replaced is recorded with the spans (``marks``), so masking again leaves every surrogate as it is
and replaces what it newly finds. Pieces of one text are joined as they were the first time, with their marks
(``governance.marked_pieces``). Nothing that was replaced comes back: the store never held it. Who is mentioned only
grows.

A category that the policy of now quarantines and the one before did not: nobody may keep it without a person's
decision, and what the door would have sealed for that person, the span as it came, is gone. So the content of such a
span is dropped for good and its structure stays, as of one that is detained. What a person once released is marked and
stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from governance import carriers
from governance.admissions import Detained
from governance.marked_pieces import cut_marks, joined_marks
from governance.masked_drafts import Finished, masked_drafts
from governance.masking.annotations import ordered, shields, text_name
from governance.masking.walker import leaves
from governance.own_id import OwnId
from governance.pieces import runs_in
from governance.policy.epochs import require_one
from governance.ports.masker import Finding, Masked, Masker
from governance.records.content import AdmittedSpan
from governance.records.mark import Mark
from governance.records.masking_policy import Outcome
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.whole_values import uncut, with_pieces

_NOBODY = OwnId(None, UNKNOWN_SUBJECT)


@dataclass
class Remade:
    """Spans masked again."""

    spans: list[AdmittedSpan]
    masked: Counter[str] = field(default_factory=Counter)
    """What was newly replaced, by entity type."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Spans whose content is dropped, by what was found in it."""


def remasked(masker: Masker, tenant_id: str, spans: Sequence[AdmittedSpan]) -> Remade:
    """Mask the spans of a trace again.

    Raises:
        EpochCrossed: when one was masked under a surrogate key that was rotated since.
        MaskingError: when a detector fails; nothing is returned then.

    """
    for one in spans:
        require_one(one.epoch, masker.epoch(), f"trace {one.span.trace_id} and a mask of now")
    version = masker.version(tenant_id)  # before the masking: what changes meanwhile is masked again
    again = _Again(masker, [mark for one in spans for mark in one.marks])
    finishes = masked_drafts(
        again, tenant_id, [(one.span, one.content) for one in spans], Counter(), joined=again.joined
    )
    remade = Remade([])
    for before, finish in zip(spans, finishes, strict=True):
        made = finish(_NOBODY)
        if made.special:
            remade.dropped.update(made.special)
            remade.spans.append(_structure(again, before, made, version))
        else:
            remade.spans.append(_whole(again, before, made, version))
    remade.masked.update(again.found)
    return remade


class _Again(Masker):
    """Masks what was masked before."""

    def __init__(self, masker: Masker, marks: Iterable[Mark]) -> None:
        self._masker = masker
        self._marks = ordered(marks)
        self._made: dict[str, set[Mark]] = {}
        self.found: Counter[str] = Counter()

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        """The values with what is newly found replaced."""
        made = self._masker.mask_again(tenant_id, values, self._marks)
        for one in made:
            self.found.update(finding.entity_type for finding in one.findings)
            for mark in one.marks:
                self._made.setdefault(mark.text, set()).add(mark)
        return [Masked(value=one.value, findings=one.findings, quarantine=_special(one.findings)) for one in made]

    def joined(self, _: Masker, tenant_id: str, values: Sequence[Any]) -> list[Any]:
        """The values with no personal value cut in two; the marks go with the characters."""
        runs = runs_in(values)
        if not runs:
            return list(values)
        shielded = shields(self._marks)
        marks = [joined_marks(run, shielded) for _, run in runs]
        every = [*self._marks, *chain.from_iterable(marks)]
        found = self._masker.mask_again(tenant_id, [run.joined for _, run in runs], every)
        moved = [uncut(run, masked.findings) for (_, run), masked in zip(runs, found, strict=True)]
        cut = [cut_marks(texts, held) for texts, held in zip(moved, marks, strict=True)]
        self._marks = ordered([*self._marks, *chain.from_iterable(cut)])
        return with_pieces(values, runs, moved)

    def marks(self, values: Iterable[Any]) -> tuple[Mark, ...]:
        """The marks of everything in the values."""
        texts = {text_name(leaf.text) for value in values for leaf in leaves(value)}
        return ordered(mark for text in texts for mark in self._made.get(text, ()))

    def mask_fields(self, tenant_id: str, row: Any, fields: Any) -> dict[str, Any]:
        """As ever."""
        return self._masker.mask_fields(tenant_id, row, fields)


def _special(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(sorted({one.entity_type for one in findings if one.outcome is Outcome.QUARANTINED}))


def _whole(again: _Again, before: AdmittedSpan, made: Finished, version: str) -> AdmittedSpan:
    values: list[Any] = [carriers.strings_of(made.span)]
    if made.content is not None:
        values.append(made.content.plain())
    return before.model_copy(
        update={
            "span": made.span,
            "content": made.content,
            "mentions": tuple(sorted({*before.mentions, *made.mentions})),
            "marks": again.marks(values),
            "masked_under": version,
        }
    )


def _structure(again: _Again, before: AdmittedSpan, made: Finished, version: str) -> AdmittedSpan:
    said = () if made.content is None else made.content.evaluations
    span = carriers.with_scores(carriers.without_words(made.span), said)
    return before.model_copy(
        update={
            "span": span,
            "content": None,
            "withheld_reason": Detained.reason,
            "marks": again.marks([carriers.strings_of(span)]),
            "masked_under": version,
        }
    )
