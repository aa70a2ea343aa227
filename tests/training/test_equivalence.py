"""Answers that are one value, however they are written, and those that are not."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import RecordError
from governance.records.verifier import AnswerForm
from training.verifiers.equivalence import equal, finals

EXACT, NUMBER, DATE, SET, JSON, MATH = (
    AnswerForm.EXACT, AnswerForm.NUMBER, AnswerForm.DATE, AnswerForm.SET, AnswerForm.JSON, AnswerForm.MATH,
)  # fmt: skip


@pytest.mark.parametrize(
    ("form", "expected", "said"),
    [
        (EXACT, "Paris", "  paris. "),
        (EXACT, "Paris", "I looked it up.\nAnswer: Paris."),
        (NUMBER, "1500 m", "1.5 km"), (NUMBER, "1500", "1,500"), (NUMBER, "1500 m", "1 500"),
        (NUMBER, "90 minutes", "1.5 hours"), (NUMBER, "-3", "\u22123"), (NUMBER, "0.5", "1/2"),
        (NUMBER, "1200", "1.2e3"), (NUMBER, "5 %", "5%"), (NUMBER, "$12.50", "$ 12.50"),
        (NUMBER, "42", "So the final answer is \\boxed{42}"),
        (DATE, "2026-04-03", "3 April 2026"), (DATE, "2026-04-03", "April 3rd, 2026"),
        (DATE, "2026-04-23", "04/23/2026"),
        (SET, "a, b, c", "- c\n- a\n- b"), (SET, "a, b", '["b", "a"]'), (SET, "Ann and Ben", "ben, ann"),
        (JSON, '{"a": 1, "b": [1, 2]}', '```json\n{"b": [1, 2.0], "a": 1}\n```'),
        (MATH, "(x + 1)**2", "x^2 + 2*x + 1"), (MATH, "1/2", "\\frac{1}{2}"), (MATH, "sqrt(8)", "2\\sqrt{2}"),
        (MATH, "sin(x)**2 + cos(x)**2", "1"), (MATH, "2*pi", "2\\pi"), (MATH, "x = 3*y", "3y"),
        (MATH, "x = 3*y", "x = y*3"), (MATH, "100000", "1e5"), (MATH, "2", "log10(100)"),
        (MATH, "(x+1)(x-1)", "x^2 - 1"), (JSON, '{"note": "the answer is 4"}', '{"note": "the answer is 4"}'),
        (EXACT, "the answer is yes", "The answer is yes"), (JSON, '{"a": [1, 2]}', 'Answer:\n{\n "a": [1,\n 2]\n}'),
        (SET, "a, b", "The answer is:\n- b\n- a"), (NUMBER, "5 min", "300 s"), (NUMBER, "5 lbs", "5 lb"),
        (NUMBER, "$12", "12 USD"), (NUMBER, "60 km/h", "60 km/h"),
    ],
)  # fmt: skip
def test_one_value_is_equal_however_it_is_written(form: AnswerForm, expected: str, said: str) -> None:
    assert equal(form, expected, said)


@pytest.mark.parametrize(
    ("form", "expected", "said"),
    [
        (EXACT, "Paris", "not Paris"), (EXACT, "Paris", ""),
        (NUMBER, "1500 m", "1500 km"), (NUMBER, "1500 m", "1500 kg"), (NUMBER, "1500", "15000"), (NUMBER, "42", "x42"),
        (NUMBER, "42", "about 42 or 43"), (NUMBER, "3", "3/0"), (NUMBER, "12 $", "12 €"),
        (DATE, "2026-04-03", "04/03/2026"), (DATE, "2026-04-03", "3 April"), (DATE, "2026-04-03", "yesterday"),
        (DATE, "2026-04-03", "9" * 400),
        (SET, "a, b", "a"), (SET, "a, b", "a, b, c"),
        (JSON, '{"a": 1}', '{"a": "1"}'), (JSON, '{"a": 1}', '{"a": 1'), (JSON, "true", "1"),
        (MATH, "x + 1", "x + 2"), (MATH, "x", "y"), (MATH, "1", "__import__('os').system('true')"),
        (MATH, "1", "9**9**9"), (MATH, "1", "(" * 400), (MATH, "1", "x" * 600), (MATH, "1", "[1 for _ in (1,)]"),
        (MATH, "5", "x >= 5"), (MATH, "x = 5", "x != 5"), (MATH, "x = 2", "y = 2"),
        (MATH, "5", "9*z = 5"), (MATH, "x = 5", "x == 5"), (NUMBER, "60 km/h", "60 m/s"),
        (MATH, "sqrt(x)", "1/0"), (MATH, "2", "2 if 1 else 3"), (MATH, "1", "exp(exp(exp(exp(99))))"),
    ],
)  # fmt: skip
def test_another_value_or_no_value_is_not(form: AnswerForm, expected: str, said: str) -> None:
    assert not equal(form, expected, said)


@pytest.mark.parametrize(
    ("form", "expected"), [(NUMBER, "many"), (DATE, "04/03/2026"), (JSON, "{"), (MATH, "import x"), (MATH, "x >= 5")]
)
def test_an_expected_answer_that_is_none_is_an_error_of_the_task(form: AnswerForm, expected: str) -> None:
    with pytest.raises(RecordError, match="expected answer"):
        equal(form, expected, "1")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_json_is_equal_where_the_values_are(one: object, other: object) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert equal(JSON, json.dumps(one), json.dumps(other, indent=1)) == same


@given(st.dates(date(1000, 1, 1)))
def test_every_day_is_itself_in_words(day: date) -> None:
    assert equal(DATE, day.isoformat(), f"{day.day} {day:%B} {day.year:04d}")
    assert equal(DATE, day.isoformat(), day.isoformat())


@given(st.fractions(Fraction(-(10**9)), Fraction(10**9), max_denominator=1000), st.integers(-6, 6).filter(bool))
def test_a_quantity_is_equal_within_the_tolerance_alone(number: Fraction, off: int) -> None:
    said = f"{number.numerator}/{number.denominator}"
    assert equal(NUMBER, said, said, 0.0)
    near = number + Fraction(off, 10**9) * abs(number)
    assert equal(NUMBER, said, f"{near.numerator}/{near.denominator}", 1e-8)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=4), st.lists(st.integers(-5, 5), min_size=1, max_size=4))
def test_polynomials_are_one_where_their_coefficients_are(one: list[int], other: list[int]) -> None:
    def written(coefficients: list[int]) -> str:
        return " + ".join(f"({c})*x**{power}" for power, c in enumerate(coefficients))

    def bare(coefficients: list[int]) -> list[int]:
        return coefficients if not coefficients or coefficients[-1] else bare(coefficients[:-1])

    assert equal(MATH, written(one), written(other)) == (bare(one) == bare(other))


@given(st.text(max_size=300), st.sampled_from([*AnswerForm]))
def test_any_answer_is_read_without_a_fault(text: str, form: AnswerForm) -> None:
    expected = {NUMBER: "1", DATE: "2026-01-01", JSON: "{}", MATH: "x"}.get(form, "a")
    assert equal(form, expected, text) in {True, False}
    assert finals(text)
