"""Findings against labels: the rules, the names of types, what is judged, and laws that hold whatever was found."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.masking.evaluation import ANY, Case, Evaluation, Mark, Rule, TypeNames, covered, is_found

MARKS = st.lists(
    st.builds(
        lambda pointer, start, size, kind: Mark(pointer, start, start + size, kind),
        st.sampled_from(["", "/a"]), st.integers(0, 12), st.integers(1, 5), st.sampled_from(["A", "B"]),
    ),
    max_size=6,
)  # fmt: skip


def evaluated(*cases: Case, rule: Rule = Rule.OVERLAP, kept: tuple[str, ...] = (), **names: Any) -> Evaluation:
    evaluation = Evaluation(rule, TypeNames(**names), lambda kind: kind not in kept)
    for case in cases:
        evaluation.add(case)
    return evaluation


def counts(evaluation: Evaluation) -> tuple[str, str, str]:
    """Recall, precision and leaks as k/n."""
    whole = evaluation.whole
    rates = [trials.rate() for trials in (whole.recall, whole.precision, whole.leaked)]
    first, second, third = (f"{rate.k}/{rate.n}" for rate in rates)
    return first, second, third


LABEL = Mark("", 10, 20, "PERSON")


@pytest.mark.parametrize(
    ("found", "exact", "overlap", "covers", "leaked"),
    [
        ([Mark("", 10, 20, "PERSON")], "1/1", "1/1", "1/1", "0/1"),
        ([Mark("", 9, 21, "PERSON")], "0/1", "1/1", "1/1", "0/1"),
        ([Mark("", 10, 15, "PERSON")], "0/1", "1/1", "0/1", "1/1"),
        ([Mark("", 10, 15, "PERSON"), Mark("", 15, 20, "PERSON")], "0/1", "1/1", "1/1", "0/1"),
        ([Mark("", 10, 15, "PERSON"), Mark("", 16, 20, "PERSON")], "0/1", "1/1", "0/1", "1/1"),
        ([Mark("", 10, 15, "PERSON"), Mark("", 15, 20, "LOCATION")], "0/1", "1/1", "0/1", "0/1"),
        ([Mark("", 10, 20, "LOCATION")], "0/1", "0/1", "0/1", "0/1"),
        ([Mark("/a", 10, 20, "PERSON")], "0/1", "0/1", "0/1", "1/1"),
        ([Mark("", 20, 25, "PERSON")], "0/1", "0/1", "0/1", "1/1"),
        ([], "0/1", "0/1", "0/1", "1/1"),
    ],
)
def test_when_a_label_is_found(found: list[Mark], exact: str, overlap: str, covers: str, leaked: str) -> None:
    case = Case(labels=[LABEL], found=found)
    told = {rule: counts(evaluated(case, rule=rule)) for rule in Rule}
    assert (told[Rule.EXACT][0], told[Rule.OVERLAP][0], told[Rule.COVERS][0]) == (exact, overlap, covers)
    assert {one[2] for one in told.values()} == {leaked}


def test_precision_judges_each_finding_by_its_own_rule() -> None:
    case = Case(labels=[LABEL], found=[Mark("", 10, 15, "PERSON"), Mark("", 15, 20, "PERSON"), Mark("", 0, 2, "X")])
    assert counts(evaluated(case))[1] == "2/3"
    assert counts(evaluated(case, rule=Rule.EXACT))[1] == "0/3"


def test_names_of_types_are_mapped_on_both_sides() -> None:
    case = Case(labels=[LABEL._replace(kind="FIRST_NAME")], found=[LABEL._replace(kind="NAME")])
    assert counts(evaluated(case))[0] == "0/1"
    same = evaluated(case, labels={"FIRST_NAME": "PERSON"}, found={"NAME": "PERSON"})
    assert counts(same)[:2] == ("1/1", "1/1")
    assert set(same.types) == {"PERSON"}


def test_a_type_without_a_name_is_not_judged_nor_what_lies_on_it() -> None:
    case = Case(labels=[LABEL._replace(kind="TITLE")], found=[LABEL, Mark("", 0, 2, "PERSON")])
    assert counts(evaluated(case, labels={"TITLE": None}))[:2] == ("0/0", "0/1")
    assert counts(evaluated(case, found={"PERSON": None}))[1] == "0/0"


def test_what_the_policy_keeps_misses_nothing() -> None:
    case = Case(labels=[LABEL._replace(kind="GPE"), LABEL], found=[LABEL])
    evaluation = evaluated(case, kept=("GPE",))
    assert counts(evaluation) == ("1/1", "1/1", "0/1")
    assert (evaluation.whole.kept_by_policy, evaluation.types["GPE"].kept_by_policy) == (1, 1)


def test_only_what_was_looked_for_is_judged() -> None:
    found = [Mark("", 0, 2, "A"), Mark("", 3, 4, "B")]
    only = evaluated(Case(labels=[], found=found, judged=frozenset({"B"})))
    assert (counts(only)[1], only.whole.alarms.rate().k) == ("0/1", 1)
    none = evaluated(Case(labels=[], found=found, judged=frozenset()))
    assert (counts(none)[1], none.whole.alarms.rate().n) == ("0/0", 0)
    silent = evaluated(Case(labels=[], found=found[:1], judged=frozenset({"B"})))
    assert (silent.whole.alarms.rate().k, silent.whole.alarms.rate().n) == (0, 1)


def test_a_label_of_any_type() -> None:
    case = Case(labels=[LABEL._replace(kind=ANY)], found=[LABEL], judged=frozenset({ANY}))
    for rule in Rule:
        assert counts(evaluated(case, rule=rule)) == ("1/1", "1/1", "0/1")


def test_what_must_stay_is_counted_by_language_and_channel() -> None:
    cases = [
        Case(labels=[], found=[], kept=[True, False], language="ko", channel="tool"),
        Case(labels=[], found=[], kept=[True], language="en", channel="tool"),
    ]
    evaluation = evaluated(*cases)
    damaged = {name: tally.damaged.rate() for name, tally in evaluation.languages.items()}
    assert {name: (rate.k, rate.n) for name, rate in damaged.items()} == {"ko": (1, 2), "en": (0, 1)}
    assert (evaluation.channels["tool"].damaged.rate().k, evaluation.whole.damaged.rate().n) == (1, 3)


def test_texts_of_one_template_are_one_cluster() -> None:
    cases = [Case(labels=[LABEL], found=[LABEL], cluster=f"t{number % 5}") for number in range(100)]
    clustered, alone = evaluated(*cases), evaluated(*[Case(labels=[LABEL], found=[LABEL]) for _ in range(100)])
    assert clustered.whole.recall.rate().clusters == 5
    assert clustered.whole.recall.rate().interval.low < 0.6
    assert alone.whole.recall.rate().interval.low > 0.9


@given(MARKS, MARKS)
def test_the_rules_are_ordered(labels: list[Mark], found: list[Mark]) -> None:
    for label in labels:
        exact, covers, overlap = (is_found(rule, label, found) for rule in (Rule.EXACT, Rule.COVERS, Rule.OVERLAP))
        assert exact <= covers <= overlap
        assert covers <= covered(label, found), "what is covered by its type is covered"


@given(MARKS, MARKS)
def test_finding_more_never_finds_less(labels: list[Mark], found: list[Mark]) -> None:
    less, more = evaluated(Case(labels, found[:-1])), evaluated(Case(labels, found))
    assert less.whole.recall.rate().k <= more.whole.recall.rate().k
    assert less.whole.leaked.rate().k >= more.whole.leaked.rate().k


@given(MARKS, st.sampled_from(list(Rule)))
def test_finding_the_labels_is_perfect(labels: list[Mark], rule: Rule) -> None:
    recall, precision, leaked = counts(evaluated(Case(labels, labels), rule=rule))
    assert recall == precision == f"{len(labels)}/{len(labels)}"
    assert leaked == f"0/{len(labels)}"


@given(st.lists(st.tuples(MARKS, MARKS), max_size=4))
def test_types_add_up_to_the_whole(pairs: list[tuple[list[Mark], list[Mark]]]) -> None:
    evaluation = evaluated(*[Case(labels, found) for labels, found in pairs])
    for name in ("recall", "precision", "leaked"):
        whole = getattr(evaluation.whole, name).rate()
        parts = [getattr(tally, name).rate() for tally in evaluation.types.values()]
        assert (sum(part.k for part in parts), sum(part.n for part in parts)) == (whole.k, whole.n)
