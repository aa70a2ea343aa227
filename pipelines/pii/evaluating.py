"""Masks labelled texts in batches and compares: how well personal values are found, and what is damaged.

What is judged is what masking replaces under the tenant's policy, or, with ``detection``, what was found, whatever the
policy does with it. A value that must stay is damaged when its leaf reads otherwise after masking, or, in a text, when
anything of it was replaced.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from governance.errors import MaskingError, RecordError
from governance.masking.evaluation import Case, Evaluation, Judged, Mark, Rule, TypeNames
from governance.ports.masker import Masked, Masker
from governance.records.masking_policy import Action, MaskingPolicy, Outcome
from pipelines.errors import LineError
from pipelines.pii.forms import Form, Skipped
from pipelines.pii.labels import Labelled, labelled
from pipelines.pii.lines import Line
from pipelines.pii.pointers import resolve

BATCH: Final = 64
Items = Iterable[Line | LineError | Skipped]
Progress = Callable[[str], None]


@dataclass
class Examples:
    """Places, never values, of the first failures of each kind."""

    most: int
    missed: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    damaged: list[dict[str, Any]] = field(default_factory=list)

    def note(self, text: Labelled, judged: Judged, kept: Sequence[bool]) -> None:
        """Remember the failures of a text."""
        self._put(self.missed, text, [mark for mark, hit in judged.hits if not hit])
        self._put(self.wrong, text, [mark for mark, right in judged.rights if not right])
        places = [*text.keep, *(Mark(pointer, 0, 0, "") for pointer in text.pointers)]
        self._put(self.damaged, text, [mark for mark, stays in zip(places, kept, strict=True) if not stays])

    def _put(self, into: list[dict[str, Any]], text: Labelled, marks: Iterable[Mark]) -> None:
        for mark in itertools.islice(marks, self.most - len(into)):
            told = {name: value for name, value in mark._asdict().items() if value not in {"", 0} or name == "start"}
            into.append({"id": text.id, "line": text.number, **told})


@dataclass
class Measured:
    """What an evaluation counted."""

    form: Form
    policy: MaskingPolicy
    evaluation: Evaluation
    examples: Examples
    faults: list[LineError] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    broken: int = 0
    """Texts that are JSON and are none when masked."""


class Evaluator:
    """Runs a masker over labelled texts."""

    def __init__(self, masker: Masker, policy: MaskingPolicy, tenant_id: str, *, detection: bool = False) -> None:
        """``policy`` is the one that the masker follows for the tenant."""
        self._masker, self._policy, self._tenant, self._detection = masker, policy, tenant_id, detection

    def run(
        self, form: Form, items: Items, rule: Rule, names: TypeNames, *, examples: int = 0, progress: Progress = print
    ) -> Measured:
        """Count all items; a line that is wrong is a fault, and costs no other."""
        evaluation = Evaluation(rule, names.over(form.names), self._masks)
        measured = Measured(form, self._policy, evaluation, Examples(examples))
        read = (labelled(item) if isinstance(item, Line) else item for item in items)
        for batch in _batches(read):
            self._batch(batch, measured)
            if evaluation.whole.texts % 1024 < BATCH <= evaluation.whole.texts:
                progress(f"{evaluation.whole.texts} texts")
        return measured

    def _batch(self, batch: Sequence[Labelled | LineError | Skipped], measured: Measured) -> None:
        measured.faults += [one for one in batch if isinstance(one, LineError)]
        measured.skipped.update(one.reason for one in batch if isinstance(one, Skipped))
        texts = [one for one in batch if isinstance(one, Labelled)]
        for text, masked in zip(texts, self._mask(texts), strict=True):
            if isinstance(masked, LineError):
                measured.faults.append(masked)
            else:
                self._count(text, masked, measured)

    def _count(self, text: Labelled, masked: Masked, measured: Measured) -> None:
        found = [*masked.findings, *(one for one in masked.kept if one.outcome is not Outcome.UNSURE)]
        marks = [
            text.mark(one.pointer, one.start, one.end, one.entity_type)
            for one in (found if self._detection else masked.findings)
        ]
        replaced = [text.mark(one.pointer, one.start, one.end, one.entity_type) for one in masked.findings]
        kept = [not any(map(mark.overlaps, replaced)) for mark in text.keep]
        kept += [_stays(text.value, masked.value, pointer) for pointer in text.pointers]
        measured.broken += text.raw is not None and not _is_json(masked.value)
        case = Case(
            labels=text.labels,
            found=marks,
            kept=kept,
            language=text.language,
            channel=text.channel,
            cluster=text.cluster,
            judged=text.judged,
        )
        measured.examples.note(text, measured.evaluation.add(case), kept)

    def _masks(self, kind: str) -> bool:
        return self._detection or self._policy.action(kind) is not Action.KEEP

    def _mask(self, texts: Sequence[Labelled]) -> list[Masked | LineError]:
        try:
            return list(self._masker.mask(self._tenant, [text.value for text in texts]))
        except (MaskingError, RecursionError):
            return [self._alone(text) for text in texts]

    def _alone(self, text: Labelled) -> Masked | LineError:
        try:
            return self._masker.mask(self._tenant, [text.value])[0]
        except (MaskingError, RecursionError) as error:
            return LineError(text.number, f"cannot be masked: {error}")


def _stays(before: Any, after: Any, pointer: str) -> bool:
    try:
        return resolve(after, pointer) == resolve(before, pointer)
    except RecordError:
        return False


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _batches(
    items: Iterable[Labelled | LineError | Skipped],
) -> Iterator[list[Labelled | LineError | Skipped]]:
    reading = iter(items)
    while batch := list(itertools.islice(reading, BATCH)):
        yield batch
