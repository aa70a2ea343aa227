"""What field names say: special categories, and values that cannot be what their field's name says."""

from __future__ import annotations

from typing import Any

import pytest

from governance.masking.recognisers.korean_people import names
from governance.masking.recognisers.special import build
from governance.masking.walker import leaves


def forced(value: Any) -> list[str | None]:
    return [leaf.forced for leaf in leaves(value)]


@pytest.mark.parametrize(
    ("value", "entity"),
    [
        ({"diagnosis": "leukaemia"}, "HEALTH"),
        ({"religion": "Muslim"}, "BELIEF"),
        ({"hiv_status": "positive"}, "HEALTH"),
        ({"ethnicity": "Roma"}, "ETHNICITY"),
        ({"medications": ["clozapine"]}, "HEALTH"),
        ({"종교": "불교"}, "BELIEF"),
        ({"patient": {"sexualOrientation": "gay"}}, "SEX_LIFE"),
        ({"criminal_record": "fraud, 2015"}, "CRIMINAL_RECORD"),
        ({"phone": "010-1234-5678"}, "PHONE_NUMBER"),
        ({"phone": 2125550123}, "PHONE_NUMBER"),
        ({"dob": "1990-01-02"}, "DATE_OF_BIRTH"),
        ({"email": "a&#64;b.example"}, "EMAIL_ADDRESS"),
        ({"user": "kimp"}, "USER_ID"),
    ],
)
def test_a_name_tells_its_value(value: Any, entity: str) -> None:
    assert forced(value) == [entity]


@pytest.mark.parametrize(
    "value",
    [
        {"religion": "N/A"}, {"criminal_record": "none"}, {"diagnosis": ""}, {"disability": "no"},
        {"medication": "<medication>"}, {"ethnicity": "prefer not to say"}, {"insurance": "yes"}, {"reason": "health"},
        {"cabin": "economy"}, {"race": "marathon"}, {"phone": "none"}, {"mobile": "yes"}, {"email": "unknown"},
        {"phone_number": "<your phone number>"}, {"username": "N/A"}, {"login": "failed"}, {"user": "not found"},
        {"user": "assistant"}, {"dob": "YYYY-MM-DD"}, {"phone": ["string", "null"]}, {"full_name": "{{name}}"},
    ],
)  # fmt: skip
def test_a_value_that_says_nothing_stays(value: Any) -> None:
    assert not any(forced(value))


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I was diagnosed with HIV last year, sorry", "I was diagnosed with HIV last year"),
        ("I have schizophrenia and take clozapine.", "I have schizophrenia and take clozapine"),
        ("I have a criminal record of fraud.", "I have a criminal record of fraud"),
        ("I take insulin for my diabetes, ok?", "I take insulin for my diabetes"),
        ("Sadly I am allergic to peanuts", "I am allergic to peanuts"),
        ("I voted for the Labour party!", "I voted for the Labour party"),
        ("I am deaf so please write", "I am deaf"),
        ("diagnosed with HIV", "diagnosed with HIV"),
        ("HIV 양성입니다", "HIV 양성입"),
        ("우울증 약을 먹고 있어요", "우울증 약을 먹고 있"),
    ],
)
def test_a_statement_holds_what_it_states(text: str, statement: str) -> None:
    found = build()[0].recogniser.statements(text)  # type: ignore[attr-defined]
    assert [text[start:end] for _, start, end in found] == [statement]


def test_a_label_is_no_name() -> None:
    text = "고객명: 김민수"
    assert {text[start:end] for start, end in names(text)} == {"김민수"}
