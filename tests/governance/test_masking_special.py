"""Special categories: statements about a person are found, the words alone are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.pii_hostile import growth
from governance.masking.profile import TextProfile
from governance.masking.recognisers.special import build
from governance.records.masking_policy import SPECIAL_CATEGORIES, Action, MaskingPolicy
from tests.governance.special_sentences import silent, stated

[SPECIAL] = build()


def found(text: str) -> list[tuple[str, str]]:
    statements = SPECIAL.recogniser.statements(text)  # type: ignore[attr-defined]
    return [(category, text[start:end]) for category, start, end in statements]


def test_the_types_are_those_that_a_policy_quarantines() -> None:
    assert set(SPECIAL.recogniser.supported_entities) == SPECIAL_CATEGORIES
    assert {MaskingPolicy().action(category) for category in SPECIAL_CATEGORIES} == {Action.QUARANTINE}


@pytest.mark.parametrize("half", [0, 1], ids=["looked at", "not looked at"])
def test_precision_and_recall(half: int) -> None:
    positives, negatives = stated()[half::2], silent()[half::2]
    assert len(positives) + len(negatives) >= 100
    assert {category for category, _ in positives} == SPECIAL_CATEGORIES
    right = sum(category in {one for one, _ in found(text)} for category, text in positives)
    wrong = sum(bool(found(text)) for text in negatives)
    wrong += sum(any(one != category for one, _ in found(text)) for category, text in positives)
    assert right / (right + wrong) >= 0.95
    assert right / len(positives) >= 0.8


SPANS = [
    ("Hi. My wife has breast cancer, sorry.", ("HEALTH", "My wife has breast cancer")),
    ("Ok \u2014 I\u2019m HIV positive", ("HEALTH", "I\u2019m HIV positive")),
    ("안녕하세요. 저는 무슬림이라서 그래요.", ("BELIEF", "저는 무슬림이라서")),
]


@pytest.mark.parametrize(("text", "statement"), SPANS)
def test_a_finding_is_the_statement(text: str, statement: tuple[str, str]) -> None:
    assert found(text) == [statement]


PIECES = st.sampled_from(
    ["I", "am", "My wife", "has", "cancer", "Muslim", "if", "was", "arrested", ".", ",", "insurance", "the", "a",
     "black", "my", "union", "is", "저는", "우울증", "진단을 받았습니다", "임신", "중입니다", "İ", "K", "\n"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=9).map(" ".join), st.text(max_size=8))
def test_the_condition_is_necessary_and_spans_lie_in_the_text(text: str, more: str) -> None:
    whole = text + more
    statements = SPECIAL.recogniser.statements(whole)  # type: ignore[attr-defined]
    assert not statements or SPECIAL.may_find(TextProfile(whole))
    assert all(0 <= start < end <= len(whole) for _, start, end in statements)


@pytest.mark.parametrize("piece", ["i have a ", "my wife ", "i was the the ", "저는 ", "암 ", "cancer "])
def test_cost_grows_with_the_text(piece: str) -> None:
    def work(text: str) -> None:
        SPECIAL.recogniser.statements(f"{text} diabetic cancer religious")  # type: ignore[attr-defined]

    _, ratio = growth(work, piece, 10_000)
    assert ratio < 10


def test_nothing_in_airline_traffic_is_a_statement(cases_dir: Path) -> None:
    lines = (cases_dir / "pii" / "tau_structured" / "cases.jsonl").read_text().splitlines()
    assert [hits for line in lines if (hits := found(json.loads(line)["text"]))] == []
