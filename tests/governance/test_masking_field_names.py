"""Names of fields that hold personal values are masked like the values; those that a program gives never are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking import fields, secret_fields, special_fields
from governance.masking.annotations import marks_of
from governance.masking.field_names import forced_type, may_be_value, type_below
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.surrogate import Surrogates

KEYS = DerivedKeyProvider("names of fields")
SURROGATES = Surrogates(KEYS, "t")


@pytest.fixture(scope="module")
def masker() -> PresidioMasker:
    return PresidioMasker(KEYS)


def names(masker: PresidioMasker, value: dict[str, Any]) -> list[str]:
    [masked] = masker.mask("t", [value])
    [again] = masker.mask_again("t", [masked.value], marks_of(masked))
    assert again.value == masked.value
    text = json.dumps(value, ensure_ascii=False)
    [inside] = masker.mask("t", [{"text": text}])
    assert json.loads(inside.value["text"]) == masked.value
    return list(masked.value)


VALUES = [
    ("+82 10-1234-5678", "PHONE_NUMBER"),
    ("(212) 734-0134", "PHONE_NUMBER"),
    ("900101-1234568", "KR_RRN"),
    ("4111 1111 1111 1111", "CREDIT_CARD"),
    ("DE89 3704 0044 0532 0130 00", "IBAN_CODE"),
    ("kim@x.example", "EMAIL_ADDRESS"),
    ("mia_kim_4397", "USER_ID"),
    ("Grace Okafor", "PERSON"),
    ("Anna Miller", "PERSON"),
]


@pytest.mark.parametrize(("name", "kind"), VALUES)
def test_a_value_that_is_a_name_has_its_surrogate(masker: PresidioMasker, name: str, kind: str) -> None:
    assert names(masker, {name: 1, "status": "open"}) == [SURROGATES.make(kind, name), "status"]


ORDINARY = [
    "First Name", "Grace Period", "Total Amount", "Rose Garden", "Will Call", "Order 12345", "SO-1234567", "2024-05-20",
    "4010232137", "12345678-1234-1234-1234-123456789012", "gift_card_8823447", "HAT136", "2024", "address_line_1",
    "X-Request-Id", "application/json; charset=utf-8", "가격", "배송 주소", "https://x.example/a", "Mark Up",
]  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_a_name_that_a_program_gives_stays(masker: PresidioMasker, name: str) -> None:
    assert names(masker, {name: "x"}) == [name]


def test_no_known_name_of_a_field_is_offered() -> None:
    known = {*fields.TYPES, *secret_fields._SURE, *special_fields.TYPES}
    assert [name for name in known for form in (name, name.upper()) if may_be_value(form)] == []


@pytest.mark.parametrize(
    ("above", "name", "kind"),
    [
        ("by_phone", "2127340134", "PHONE_NUMBER"),
        ("usersByEmail", "kim@x.example", "EMAIL_ADDRESS"),
        ("by_ssn", "078-05-1129", "US_SSN"),
        ("by_name", "Anna Miller", "PERSON"),
        ("orders_by_user_id", "c-4397", "USER_ID"),
        ("phones", "2127340134", "PHONE_NUMBER"),
        ("by_phone", "total", None),
        ("by_name", "total", None),
        ("by_user_id", "total", None),
        ("phones", "primary", None),
        ("user", "id", None),
        ("user", "c-4397x", None),
    ],
)
def test_the_field_above_says_what_its_names_are(
    masker: PresidioMasker, above: str, name: str, kind: str | None
) -> None:
    told = type_below(fields.fold(above))
    assert (forced_type(told, name) if told else None) == kind
    [masked] = masker.mask("t", [{above: {name: 1}}])
    assert list(masked.value[above]) == [name if kind is None else SURROGATES.make(kind, name)]


def test_the_same_value_is_the_same_in_names(masker: PresidioMasker) -> None:
    value = {
        "calls": {"2127340134": 2, "5550001111": 1},
        "phone": "(212) 734-0134",
        "ssn": "078-05-1129",
        "078-05-1129": 1,
    }
    [masked] = masker.mask("t", [value])
    phone = SURROGATES.make("PHONE_NUMBER", "2127340134")
    assert list(masked.value["calls"]) == [phone, "5550001111"]
    assert masked.value["ssn"] in masked.value


@given(st.from_regex(r"[a-z]{1,8}([A-Z][a-z]{1,6}|[._\-][a-z]{1,6}|[0-9]{1,3})?", fullmatch=True))
@settings(max_examples=40, deadline=None)
def test_an_identifier_is_never_offered(name: str) -> None:
    assert not may_be_value(name)


@pytest.mark.parametrize(
    "value",
    [
        {"4155552671": {"phone": "4155552671"}},
        {"김민수": {"name": "김민수", "phone": "010-2345-6789"}},
        {"078-05-1120": {"ssn": "078051120", "x": 1}},
        {"a": {"mia kim": 1}, "b": {"full_name": "Mia Kim"}},
    ],
)
def test_a_name_that_is_a_value_of_the_same_text_is_masked(masker: PresidioMasker, value: dict[str, Any]) -> None:
    [alone] = masker.mask("t", [value])
    text = json.dumps(value, ensure_ascii=False)
    for front in ("x ", "Result: ", ""):
        [made] = masker.mask("t", [front + text])
        assert json.loads(made.value.removeprefix(front)) == alone.value
        for held in ("4155552671", "김민수", "078-05-1120", "mia kim"):
            assert held not in made.value
        [again] = masker.mask_again("t", [made.value], marks_of(made))
        assert again.value == made.value


@pytest.mark.parametrize("name", ["가격", "배송지", "당뇨병", "성적지향", "홍길동"])
def test_a_korean_word_stays_a_name_that_no_value_repeats(masker: PresidioMasker, name: str) -> None:
    assert names(masker, {name: 1, "full_name": "김민수"}) == [name, "full_name"]
