"""The gate: pass and fail on evidence, inconclusive otherwise, and errors are never zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.gate import GateReport, GateVerdict
from governance.records.rollout import Grade
from governance.records.task import Split, Task
from governance.records.verifier import Answered
from tests.training.demo_records import AT, digest
from training.errors import GateInputError
from training.gate import GateConfig, compare, grades_by_task

CHAMPION, CANDIDATE = digest("champion"), digest("candidate")


def task(number: int, family: str = "a", subject: str | None = None, split: Split = Split.EVAL) -> Task:
    return Task(
        tenant_id="t", subject=subject or f"s{number}", topic=None, instruction=f"do {number}",
        world_digest=digest("w"), at=AT, verifiers=(Answered(),), gold=(), split=split, sources=(f"t/{number}",),
        family=family,
    )  # fmt: skip


def graded(tasks: Sequence[Task], release: str, rewards: Sequence[float | None]) -> dict[str, Grade]:
    return grades_by_task(
        Grade(
            task_digest=one.digest(), release_digest=release, reward=reward, passed=(), failed=(),
            error=None if reward is not None else "no parseable reply",
        )
        for one, reward in zip(tasks, rewards, strict=True)
    )  # fmt: skip


def judged(tasks: Sequence[Task], first: Sequence[Any], second: Sequence[Any], **more: Any) -> GateReport:
    config = more.pop("config", GateConfig())
    return compare(
        scope="agent@t", champion=CHAMPION, candidate=CANDIDATE, tasks=tasks,
        champion_grades=graded(tasks, CHAMPION, first), candidate_grades=graded(tasks, CANDIDATE, second),
        config=config, at=AT, **more,
    )  # fmt: skip


def test_clearly_better_passes_and_its_mirror_fails() -> None:
    tasks = [task(number) for number in range(100)]
    low, high = [float(n < 40) for n in range(100)], [float(n < 60) for n in range(100)]
    better, worse = judged(tasks, low, high), judged(tasks, high, low)
    assert (better.verdict, better.reasons) == (GateVerdict.PASS, ("better",))
    assert better.interval.low > 0
    assert (better.champion_success, better.candidate_success) == (0.4, 0.6)
    assert worse.verdict is GateVerdict.FAIL
    assert worse.reasons[0] == "worse"


def test_a_surrogate_in_an_output_fails_the_best_candidate() -> None:
    tasks = [task(number) for number in range(100)]
    low, high = [float(n < 40) for n in range(100)], [float(n < 60) for n in range(100)]
    told = graded(tasks, CANDIDATE, high)
    leaking = tasks[3].digest()
    told[leaking] = told[leaking].model_copy(update={"surrogates": ("PERSON", "EMAIL_ADDRESS")})
    report = compare(
        scope="agent@t", champion=CHAMPION, candidate=CANDIDATE, tasks=tasks, config=GateConfig(), at=AT,
        champion_grades=graded(tasks, CHAMPION, low), candidate_grades=told,
    )  # fmt: skip
    assert (report.verdict, report.surrogates_in_outputs) == (GateVerdict.FAIL, 1)
    assert report.reasons == ("surrogates_in_outputs:1", "better")
    assert judged(tasks, low, high).surrogates_in_outputs == 0


def test_the_same_release_is_inconclusive_and_not_a_pass() -> None:
    tasks = [task(number) for number in range(100)]
    same = [float(n % 2) for n in range(100)]
    report = judged(tasks, same, same)
    assert (report.verdict, report.reasons) == (GateVerdict.INCONCLUSIVE, ("no_discordant_pairs",))


def test_a_small_win_is_inconclusive_and_says_what_could_have_been_shown() -> None:
    tasks = [task(number) for number in range(80)]
    report = judged(tasks, [0.0] * 80, [1.0] * 4 + [0.0] * 76)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.reasons[0] == "no_difference_shown"
    assert report.reasons[1].startswith("detectable_difference:")


def test_few_tasks_and_few_people_decide_nothing() -> None:
    few = [task(number) for number in range(79)]
    report = judged(few, [0.0] * 79, [1.0] * 79)
    assert (report.verdict, report.reasons) == (GateVerdict.INCONCLUSIVE, ("too_few_tasks:79<80",))
    one_family = [task(number, subject=f"s{number % 9}") for number in range(100)]
    report = judged(one_family, [0.0] * 100, [1.0] * 100)
    assert (report.verdict, report.reasons) == (GateVerdict.INCONCLUSIVE, ("too_few_subjects:9<10",))
    assert judged([], [], []).verdict is GateVerdict.INCONCLUSIVE


def test_evl_01_an_error_is_left_out_of_both_rates_and_too_many_stop_the_decision() -> None:
    """The reported case at scale: A answers well where it can be read, and two in five cannot be."""
    tasks = [task(number) for number in range(200)]
    report = judged(tasks, [None if n % 5 > 2 else 1.0 for n in range(200)], [1.0] * 200)
    assert report.errors == 80
    assert report.tasks == 120
    assert report.champion_success == 1.0  # never 0.6
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.reasons == ("too_many_errors:80_of_200",)


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_evl_02_a_reward_that_is_no_number_is_an_error(reward: float) -> None:
    tasks = [task(number) for number in range(100)]
    report = judged(tasks, [0.0] * 100, [reward] * 3 + [1.0] * 97)
    assert (report.errors, report.tasks) == (3, 97)
    assert report.candidate_success == 1.0


def test_ret_03_a_shrunken_set_says_so_and_both_rates_are_over_the_same_pairs() -> None:
    tasks = [task(number) for number in range(120)]
    champion = graded(tasks, CHAMPION, [1.0] * 40 + [0.0] * 80)  # its successes stand on the 40 that are gone
    left = tasks[40:]
    report = compare(
        scope="s", champion=CHAMPION, candidate=CANDIDATE, tasks=left, champion_grades=champion,
        candidate_grades=graded(left, CANDIDATE, [1.0] * 80), config=GateConfig(), at=AT, frozen_tasks=120,
    )  # fmt: skip
    assert (report.tasks, report.champion_success) == (80, 0.0)
    assert "set_shrunken:80_of_120" in report.reasons


def test_a_family_that_clearly_regresses_fails_a_better_candidate() -> None:
    tasks = [task(n, "main") for n in range(120)] + [task(n, "small") for n in range(120, 145)]
    first, second = [0.0] * 120 + [1.0] * 25, [1.0] * 100 + [0.0] * 20 + [0.0] * 25
    report = judged(tasks, first, second)
    assert report.difference > 0
    assert report.interval.low > 0
    assert report.verdict is GateVerdict.FAIL
    assert report.reasons == ("family_regresses:small:-1.000",)


def test_a_family_that_may_regress_stops_the_pass() -> None:
    tasks = [task(n, "main") for n in range(90)] + [task(n, "small") for n in range(90, 100)]
    report = judged(tasks, [0.0] * 90 + [1.0] * 10, [1.0] * 60 + [0.0] * 30 + [1.0] * 8 + [0.0] * 2)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.reasons == ("family_may_regress:small:-0.200",)
    small = next(one for one in report.families if one.family == "small")
    assert (small.tasks, small.champion, small.candidate) == (10, 1.0, 0.8)


def test_families_can_be_made_to_prove_themselves() -> None:
    tasks = [task(n, "main") for n in range(90)] + [task(n, "small") for n in range(90, 100)]
    first, second = [0.0] * 90 + [1.0] * 10, [1.0] * 100
    assert judged(tasks, first, second).verdict is GateVerdict.PASS
    strict = judged(tasks, first, second, config=GateConfig(prove_families=True))
    assert strict.verdict is GateVerdict.INCONCLUSIVE
    assert strict.reasons[0].startswith("family_unproven:small")


def test_one_person_with_many_tasks_is_not_many_people() -> None:
    """Twenty people, one of whom won sixty times: as tasks it would be clear, as people it is one."""
    tasks = [task(n, subject="loud" if n < 60 else f"s{n}") for n in range(80)]
    report = judged(tasks, [0.0] * 80, [1.0] * 60 + [0.0] * 20)
    assert report.verdict is GateVerdict.INCONCLUSIVE


def test_it_refuses_what_is_not_a_comparison_on_held_out_tasks() -> None:
    tasks = [task(number) for number in range(3)]
    with pytest.raises(GateInputError, match="train side"):
        judged([task(0, split=Split.TRAIN)], [1.0], [1.0])
    with pytest.raises(GateInputError, match="stands twice"):
        judged([tasks[0], tasks[0]], [1.0] * 2, [1.0] * 2)
    with pytest.raises(GateInputError, match="another release"):
        compare(
            scope="s", champion=CHAMPION, candidate=CANDIDATE, tasks=tasks,
            champion_grades=graded(tasks, CANDIDATE, [1.0] * 3), candidate_grades={}, config=GateConfig(), at=AT,
        )  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=80, max_size=110))
def test_pass_and_fail_always_have_their_interval(outcomes: list[tuple[bool, bool]]) -> None:
    tasks = [task(number) for number in range(len(outcomes))]
    report = judged(tasks, [float(a) for a, _ in outcomes], [float(b) for _, b in outcomes])
    if report.verdict is GateVerdict.PASS:
        assert report.interval.low > 0
        assert report.p_value <= 0.05
    if report.verdict is GateVerdict.FAIL:
        assert report.interval.high < 0
