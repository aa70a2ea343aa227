"""Residual risk: a sample that nobody chooses, an interval that holds, and how few people share their values."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import NotFound
from governance.masking.k_anonymity import LEVELS, anonymity, coarser, generalised, suggested
from governance.masking.risk import in_order, leak_rate
from governance.policy.audit_chain import faults
from governance.records.base import digest_json
from governance.records.rights import Purpose
from governance.records.row_review import RowReview
from governance.store import Store
from tests.governance.store_records import T0, T1, manifest, person, row, trajectory
from tests.support.clock import ManualClock

ROOT = digest_json("root")
ROWS = [digest_json(number) for number in range(40)]


def review(of: str, leaks: dict[str, int] | None = None, reviewer: str = "r-1", root: str = ROOT) -> RowReview:
    return RowReview(root=root, row=of, tenant_id="acme", reviewer=reviewer, leaks=leaks or {}, at=T1)


@given(st.permutations(ROWS), st.integers(0, 40))
def test_the_sample_depends_on_the_version_alone_and_a_larger_one_begins_with_it(rows: list[str], size: int) -> None:
    assert in_order(ROOT, rows)[:size] == in_order(ROOT, ROWS)[:size]
    assert in_order(ROOT, rows) != in_order(digest_json("other"), rows)


def test_every_row_has_the_same_chance_to_come_first() -> None:
    firsts = [ROWS.index(in_order(digest_json(["root", number]), ROWS)[0]) for number in range(2000)]
    counts = [firsts.count(place) for place in range(len(ROWS))]
    expected = 2000 / len(ROWS)
    assert sum((count - expected) ** 2 / expected for count in counts) < 72, "chi-squared, 39 degrees, p 0.001"


def test_only_the_unbroken_beginning_counts() -> None:
    order = in_order(ROOT, ROWS)
    picked = [review(one) for one in order[:5]] + [review(one, {"PERSON": 9}) for one in order[6:12]]
    rate = leak_rate(ROOT, ROWS, picked)
    assert (rate.sample, rate.leaking, rate.leaks) == (5, 0, {})
    assert rate.at_most == pytest.approx(1 - 0.05**0.2)
    whole = leak_rate(ROOT, ROWS, [*picked, review(order[5])])
    assert (whole.sample, whole.leaking, whole.leaks) == (12, 6, {"PERSON": 54})


def test_a_row_leaks_when_anybody_says_so() -> None:
    first = in_order(ROOT, ROWS)[0]
    rate = leak_rate(
        ROOT, ROWS, [review(first), review(first, {"PERSON": 2}, "r-2"), review(first, {"PERSON": 1}, "r-3")]
    )
    assert (rate.sample, rate.leaking, rate.leaks, rate.reviewers) == (1, 1, {"PERSON": 2}, ("r-1", "r-2", "r-3"))


def test_no_leak_in_n_rows_is_at_most_three_in_n_and_nothing_is_claimed_of_nothing() -> None:
    rows = [digest_json(number) for number in range(1000)]
    rate = leak_rate(ROOT, rows, [review(one) for one in in_order(ROOT, rows)[:300]])
    assert (rate.value, rate.interval.low) == (0.0, 0.0)
    assert rate.at_most == pytest.approx(3 / 300, rel=0.01)
    none = leak_rate(ROOT, rows, [])
    assert (none.value, none.interval.high, none.at_most) == (None, 1.0, 1.0)


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_where_every_row_was_seen_the_rate_is_known(leaking: list[bool]) -> None:
    rows = ROWS[: len(leaking)]
    rate = leak_rate(
        ROOT, rows, [review(one, {"A": 1} if leaks else {}) for one, leaks in zip(rows, leaking, strict=True)]
    )
    assert rate.interval.low == rate.interval.high == rate.at_most == rate.value == sum(leaking) / len(leaking)


def test_the_interval_holds_over_versions() -> None:
    bad = set(ROWS[:8])
    inside = 0
    for number in range(300):
        root = digest_json(["version", number])
        seen = in_order(root, ROWS)[:20]
        rate = leak_rate(root, ROWS, [review(one, {"A": 1} if one in bad else {}, root=root) for one in seen])
        inside += rate.interval.low <= 0.2 <= rate.interval.high
    assert inside / 300 >= 0.95


def test_reviews_are_kept_by_reviewer_and_audited(store: Store) -> None:
    store.row_reviews.put(review(ROWS[0], {"PERSON": 1}))
    store.row_reviews.put(review(ROWS[0]).model_copy(update={"at": T1 + timedelta(hours=1)}))
    store.row_reviews.put(review(ROWS[0], {"US_SSN": 2}, "r-2"))
    assert [(one.reviewer, one.leaks) for one in store.row_reviews.of(ROOT)] == [("r-2", {"US_SSN": 2}), ("r-1", {})]
    assert store.row_reviews.roots() == (ROOT,)
    events = [(event.actor, event.action, event.detail) for event in store.audit.list("acme")]
    assert events == [
        ("r-1", "review_row", {"leaks": {"PERSON": 1}}),
        ("r-1", "review_row", {"leaks": {}}),
        ("r-2", "review_row", {"leaks": {"US_SSN": 2}}),
    ]
    assert list(faults(store.audit.lines("acme"))) == []


def test_a_version_is_found_by_its_beginning_and_its_rows_without_their_content(
    store: Store, clock: ManualClock
) -> None:
    verdict = store.rights.verdict(Purpose.COMPLY, "acme", person(1), T1)
    rows = [row(trajectory(number, subject=person(number)), verdict) for number in (1, 2, 3)]
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    assert store.datasets.find(made.root[:10]) == made
    assert store.datasets.roots() == (made.root,)
    for beginning in ("", "%", "zz"):
        with pytest.raises(NotFound):
            store.datasets.find(beginning)
    assert [one.digest for one in store.datasets.sources(made.root)] == [one.digest() for one in rows]
    assert store.datasets.row(made.root, rows[1].digest(), Purpose.COMPLY) == rows[1]
    assert [event.action for event in store.audit.list("acme")] == ["dataset_version", "read_for_comply"]
    with pytest.raises(NotFound):
        store.datasets.row(made.root, rows[1].digest(), Purpose.TRAIN_WEIGHTS)
    store.erasable().erase("acme", person(2))
    assert len(store.datasets.sources(made.root)) == 2
    assert clock.now() > T0


PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "born": st.sampled_from(["1980", "1981", "1990", "1995-03-02", ""]),
            "postcode": st.sampled_from(["0150", "0151", "AB1 2CD", "AB1 9ZZ", "Oslo"]),
            "age": st.integers(0, 110).map(str),
        }
    ),
    max_size=25,
)
FIELDS = ("born", "postcode", "age")


@given(PEOPLE, st.integers(1, 6))
def test_classes_add_up(people: list[dict[str, str]], k: int) -> None:
    found = anonymity(people, FIELDS, k)
    assert found.people == len(people)
    assert found.unique <= found.under_k <= found.people if k > 1 else found.under_k == 0
    assert (found.smallest < k) == (found.under_k > 0 or not people)
    assert anonymity([*people, *people], FIELDS, k).smallest == 2 * found.smallest


@given(PEOPLE, st.sampled_from(FIELDS), st.integers(0, LEVELS - 1))
def test_a_coarser_level_only_joins_classes(people: list[dict[str, str]], field: str, level: int) -> None:
    fine, coarse = (coarser(people, {field: each}) for each in (level, level + 1))
    joined: dict[str, str] = {}
    for one, other in zip(fine, coarse, strict=True):
        assert joined.setdefault(one[field], other[field]) == other[field]
    assert all(one[field] == "*" for one in coarser(people, {field: LEVELS}))


@given(PEOPLE, st.integers(2, 5))
def test_the_suggestion_leaves_nobody_under_k_where_that_can_be(people: list[dict[str, str]], k: int) -> None:
    before = anonymity(people, FIELDS, k)
    steps = suggested(people, FIELDS, k)
    assert bool(steps) <= (before.under_k > 0)
    if len(people) >= k:
        assert (steps[-1].under_k if steps else before.under_k) == 0
        levels = dict.fromkeys(FIELDS, 0) | {step.field: step.level for step in steps}
        assert anonymity(coarser(people, levels), FIELDS, k).under_k == 0


def test_two_fields_that_are_each_unique_are_both_made_coarser() -> None:
    people = [{"born": str(1950 + number), "postcode": f"{1000 + number}"} for number in range(20)]
    steps = suggested(people, ("born", "postcode"), 5)
    assert {step.field for step in steps} == {"born", "postcode"}
    assert steps[-1].under_k == 0


@pytest.mark.parametrize(
    ("value", "levels"),
    [
        ("1987-05-21", ["1987-05-21", "1987-05", "1987", "1980s", "*"]),
        ("1987", ["1987", "1980s", "1900s", "*", "*"]),
        ("37", ["37", "35 to 39", "30 to 39", "20 to 39", "*"]),
        ("AB1 2CD", ["AB1 2CD", "AB1...", "AB...", "A...", "*"]),
        ("Oslo", ["Oslo", "*", "*", "*", "*"]),
        ("", ["", "*", "*", "*", "*"]),
    ],
)
def test_what_becomes_of_a_value(value: str, levels: list[str]) -> None:
    assert [generalised(value, level) for level in range(LEVELS + 1)] == levels
