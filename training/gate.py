"""The regression gate: whether the candidate may replace the champion.

Theory. One question, one answer with its evidence. The two arms ran the same held-out tasks, and only pairs graded on
both sides count; a missing grade is an error and never a zero, and too many of them mean that nobody knows.

``pass`` needs everything: enough tasks and people, few errors, the interval's lower bound above zero and the exact test
significant (superiority), and no family of tasks that gets worse by more than the margin. ``fail`` needs evidence too:
the upper bound below zero, or a family whose interval lies below zero. Whatever is left is ``inconclusive``, with the
reason and the smallest difference that this many tasks could have shown.

A candidate that says a surrogate which nothing gave it fails, however good it is (``surrogates_in_outputs``): it has
learned masked people by heart and would tell customers names that are nobody's.

Families are many looks at one set, so their intervals are Bonferroni-corrected. A family may be small: by default a
drop beyond the margin that is not certain stops the pass (``family_may_regress``); with ``prove_families`` every
family must prove by its lower bound that it lost less than the margin. A set that lost tasks since it was frozen says
so (``set_shrunken``), and both rates are always taken over the same pairs.

Source of the statistics: ``training.statistics``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import Field

from governance.records.base import Record
from governance.records.gate import FamilyResult, GateReport, GateVerdict
from governance.records.rollout import Grade
from governance.records.task import Split, Task
from training.errors import GateInputError
from training.statistics import METHOD, Pair, PairedResult, compare_pairs, detectable_difference


class GateConfig(Record):
    """What counts as evidence."""

    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    minimum_tasks: int = Field(default=80, ge=1)
    """Pairs with a grade on both sides."""
    minimum_subjects: int = Field(default=10, ge=2)
    error_share: float = Field(default=0.05, ge=0, le=1)
    """More of the tasks without a pair than this, and no decision is made."""
    family_margin: float = Field(default=0.1, ge=0, le=1)
    """How much a family may seem to lose."""
    prove_families: bool = False
    """Demand that each family's lower bound is above minus the margin."""
    success_at: float = 1.0
    """The reward from which a run counts as a success."""


Grades = Mapping[str, Grade]
"""By task digest."""


def grades_by_task(grades: Iterable[Grade]) -> dict[str, Grade]:
    """Grades of one arm by their task's digest."""
    return {grade.task_digest: grade for grade in grades}


def compare(
    *,
    scope: str,
    champion: str,
    candidate: str,
    tasks: Sequence[Task],
    champion_grades: Grades,
    candidate_grades: Grades,
    config: GateConfig,
    at: datetime,
    frozen_tasks: int | None = None,
) -> GateReport:
    """Judge the candidate against the champion; both are release digests.

    ``frozen_tasks`` is how many tasks the set had when it was frozen.

    Raises:
        GateInputError: for a task that is not held out or stands twice, or a grade of another release.

    """
    _check(tasks, champion, champion_grades)
    _check(tasks, candidate, candidate_grades)
    families = _pairs(tasks, champion_grades, candidate_grades, config.success_at)
    pairs = [pair for members in families.values() for pair in members]
    whole = compare_pairs(pairs, config.confidence)
    errors = len(tasks) - len(pairs)
    slices = _family_results(families, config)
    doubts = _doubts(whole, errors, len(tasks), config)
    harms, worries = _family_reasons(slices, config)
    verdict, reasons = _decide(whole, doubts, harms, worries, config)
    leaks = sum(bool(grade.surrogates) for task in tasks if (grade := candidate_grades.get(task.digest())) is not None)
    if leaks:
        verdict, reasons = GateVerdict.FAIL, [f"surrogates_in_outputs:{leaks}", *reasons]
    if frozen_tasks is not None and len(pairs) < frozen_tasks:
        reasons = [*reasons, f"set_shrunken:{len(pairs)}_of_{frozen_tasks}"]
    return GateReport(
        scope=scope,
        champion=champion,
        candidate=candidate,
        verdict=verdict,
        tasks=len(pairs),
        errors=errors,
        champion_success=whole.champion,
        candidate_success=whole.candidate,
        difference=whole.difference,
        interval=whole.interval,
        p_value=whole.p_value,
        method=METHOD,
        families=tuple(
            FamilyResult(family=name, tasks=part.pairs, champion=part.champion, candidate=part.candidate)
            for name, part in sorted(slices.items())
        ),
        surrogates_in_outputs=leaks,
        reasons=tuple(reasons),
        at=at,
    )


def _check(tasks: Sequence[Task], release: str, grades: Grades) -> None:
    """Refuse what would make the comparison a different one."""
    digests = [task.digest() for task in tasks]
    if len(set(digests)) != len(digests):
        raise GateInputError("a task stands twice in the set: it would count twice")
    for task, digest in zip(tasks, digests, strict=True):
        if task.split is not Split.EVAL:
            raise GateInputError(
                f"task {digest[:12]} is of the {task.split.value} side: a gate uses held-out tasks only"
            )
        grade = grades.get(digest)
        if grade is not None and (grade.release_digest != release or grade.task_digest != digest):
            raise GateInputError(f"the grade of task {digest[:12]} is of another release or task than the arm's")


def _pairs(tasks: Sequence[Task], champion: Grades, candidate: Grades, success_at: float) -> dict[str, list[Pair]]:
    """The pairs graded on both sides, by family."""
    families: dict[str, list[Pair]] = {}
    for task in tasks:
        digest = task.digest()
        first, second = _success(champion.get(digest), success_at), _success(candidate.get(digest), success_at)
        if first is None or second is None:
            continue
        pair = Pair(cluster=(task.tenant_id, task.subject), champion=first, candidate=second)
        families.setdefault(task.family, []).append(pair)
    return families


def _success(grade: Grade | None, success_at: float) -> bool | None:
    if grade is None or grade.error is not None or grade.reward is None or not math.isfinite(grade.reward):
        return None
    return grade.reward >= success_at


def _family_results(families: Mapping[str, Sequence[Pair]], config: GateConfig) -> dict[str, PairedResult]:
    confidence = 1 - (1 - config.confidence) / max(1, len(families))
    return {name: compare_pairs(pairs, confidence) for name, pairs in families.items()}


def _doubts(whole: PairedResult, errors: int, total: int, config: GateConfig) -> list[str]:
    """Why no decision can be made at all."""
    doubts = []
    if whole.pairs < config.minimum_tasks:
        doubts.append(f"too_few_tasks:{whole.pairs}<{config.minimum_tasks}")
    if whole.clusters < config.minimum_subjects:
        doubts.append(f"too_few_subjects:{whole.clusters}<{config.minimum_subjects}")
    if total and errors > config.error_share * total:
        doubts.append(f"too_many_errors:{errors}_of_{total}")
    return doubts


def _family_reasons(slices: Mapping[str, PairedResult], config: GateConfig) -> tuple[list[str], list[str]]:
    """Families that clearly regress, and families that may."""
    harms, worries = [], []
    for name, part in sorted(slices.items()):
        if part.interval.high < 0:
            harms.append(f"family_regresses:{name}:{part.difference:+.3f}")
        elif part.difference < -config.family_margin:
            worries.append(f"family_may_regress:{name}:{part.difference:+.3f}")
        elif config.prove_families and part.interval.low < -config.family_margin:
            worries.append(f"family_unproven:{name}:{part.interval.low:+.3f}")
    return harms, worries


def _decide(
    whole: PairedResult, doubts: list[str], harms: list[str], worries: list[str], config: GateConfig
) -> tuple[GateVerdict, list[str]]:
    if doubts:
        return GateVerdict.INCONCLUSIVE, [*doubts, *harms, *worries]
    if whole.interval.high < 0:
        return GateVerdict.FAIL, ["worse", *harms, *worries]
    if harms:
        return GateVerdict.FAIL, [*harms, *worries]
    shown = whole.interval.low > 0 and whole.p_value <= 1 - config.confidence
    if shown and not worries:
        return GateVerdict.PASS, ["better"]
    return GateVerdict.INCONCLUSIVE, [*(() if shown else _undecided(whole, config)), *worries]


def _undecided(whole: PairedResult, config: GateConfig) -> list[str]:
    """Neither better nor worse, and what could have been shown."""
    discordant = (whole.won + whole.lost) / whole.pairs
    if not discordant:
        return ["no_discordant_pairs"]
    least = detectable_difference(whole.pairs, discordant, effect=whole.design_effect, confidence=config.confidence)
    power = f"detectable_difference:{least:.3f}" if math.isfinite(least) else "detectable_difference:none"
    return ["no_difference_shown", power]


__all__ = ["GateConfig", "compare", "grades_by_task"]
