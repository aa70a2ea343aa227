"""Surrogates: keyed, type-faithful, reserved; spans: resolved once."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.presidio_masker import apply
from governance.masking.spans import Hit, resolve
from governance.masking.surrogate import Surrogates

KEYS = DerivedKeyProvider("surrogates")
HERE, THERE = Surrogates(KEYS, "here"), Surrogates(KEYS, "there")
TYPES = ["PERSON", "LOCATION", "USER_ID", "EMAIL_ADDRESS", "PHONE_NUMBER", "DATE_OF_BIRTH", "IP_ADDRESS",
         "CREDIT_CARD", "IBAN_CODE", "US_SSN", "KR_RRN", "CARD_LAST4"]  # fmt: skip
EXAMPLES = {
    "PERSON": "Anna Miller",
    "LOCATION": "12 Alder Street, Northport",
    "USER_ID": "anna_miller_1234",
    "EMAIL_ADDRESS": "anna.miller@corp.example",
    "PHONE_NUMBER": "(212) 734-0134",
    "DATE_OF_BIRTH": "1990-04-05",
    "IP_ADDRESS": "83.12.4.7",
    "CREDIT_CARD": "4111 1111 1111 1111",
    "IBAN_CODE": "DE89 3704 0044 0532 0130 00",
    "US_SSN": "536-22-1234",
    "KR_RRN": "900101-1234568",
}


@pytest.mark.parametrize(("entity", "value"), EXAMPLES.items())
def test_equal_here_different_there_and_never_the_value(entity: str, value: str) -> None:
    made = HERE.make(entity, value)
    assert made == Surrogates(DerivedKeyProvider("surrogates"), "here").make(entity, value)
    assert made != THERE.make(entity, value)
    assert made != Surrogates(DerivedKeyProvider("another key"), "here").make(entity, value)
    assert value not in made
    assert HERE.mention(entity, value) != THERE.mention(entity, value)


@given(st.sampled_from(TYPES), st.text(min_size=1, max_size=60))
def test_any_value_of_any_type_gets_one_surrogate(entity: str, value: str) -> None:
    assert HERE.make(entity, value) == HERE.make(entity, value)
    assert len(HERE.mention(entity, value)) == 64


def test_case_and_space_fold() -> None:
    assert HERE.make("EMAIL_ADDRESS", "Kim@X.example") == HERE.make("EMAIL_ADDRESS", "kim@x.EXAMPLE")
    assert HERE.make("PERSON", "anna miller") == HERE.make("PERSON", "Anna Miller").lower()
    assert HERE.mention("LOCATION", "12  Alder Street") == HERE.mention("LOCATION", "12 alder street")


def test_names_are_replaced_word_by_word() -> None:
    first, last = HERE.make("PERSON", "Anna Miller").split()
    assert HERE.make("PERSON", "Anna") == first
    assert HERE.make("PERSON", "Miller") == last
    assert HERE.make("PERSON", "Miller, Anna") == f"{last}, {first}"
    assert HERE.make("PERSON", "ANNA") == first.upper()
    assert HERE.make("PERSON", "Dr. Anna van Miller") == f"Dr. {first} van {last}"


def test_surrogates_are_of_the_type_and_of_nobody() -> None:
    assert re.fullmatch(r"user-[0-9a-f]{12}@example\.com", HERE.make("EMAIL_ADDRESS", "a@b.example"))
    assert re.fullmatch(r"\(\d{3}\) 555-01\d{2}", HERE.make("PHONE_NUMBER", "(212) 734-0134"))
    assert re.fullmatch(r"\+1 \d{3}-555-01\d{2}", HERE.make("PHONE_NUMBER", "+1 212-734-0134"))
    assert HERE.make("PHONE_NUMBER", "+49 30 901820").startswith("+999 ")
    assert ipaddress.ip_address(HERE.make("IP_ADDRESS", "83.12.4.7")) in ipaddress.ip_network("198.18.0.0/15")
    assert ipaddress.ip_address(HERE.make("IP_ADDRESS", "fe80::1")) in ipaddress.ip_network("2001:db8::/32")
    assert re.fullmatch(r"9\d{2}-0[1-9]-\d{3}[1-9]", HERE.make("US_SSN", "536-22-1234"))
    assert re.fullmatch(r"\d{4}", HERE.make("CARD_LAST4", "1234"))
    assert re.fullmatch(r"\d{1,3} \w+ \w+, \w+", HERE.make("LOCATION", "12 Alder Street, Northport"))
    assert re.fullmatch(r"\d{5}", HERE.make("LOCATION", "90210"))


def test_checksums_hold() -> None:
    card = HERE.make("CREDIT_CARD", "4111 1111 1111 1111")
    digits = [int(c) for c in card if c.isdigit()]
    doubled = [sum(divmod(d * 2, 10)) if place % 2 else d for place, d in enumerate(reversed(digits))]
    assert re.fullmatch(r"9999 99\d\d \d{4} \d{4}", card)
    assert sum(doubled) % 10 == 0
    iban = HERE.make("IBAN_CODE", "DE89 3704 0044 0532 0130 00")
    number = "".join(str(int(c, 36)) for c in iban[4:] + iban[:4])
    assert iban.startswith("XX")
    assert int(number) % 97 == 1


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("1990-04-05", r"\d{4}-\d{2}-\d{2}"),
        ("04/05/1990", r"\d{2}/\d{2}/\d{4}"),
        ("April 5, 1990", r"[A-Z][a-z]+ \d{1,2}, \d{4}"),
        ("5 Apr 1990", r"\d{1,2} [A-Z][a-z]{2} \d{4}"),
    ],
)
def test_a_birth_date_keeps_its_form(value: str, shape: str) -> None:
    assert re.fullmatch(shape, HERE.make("DATE_OF_BIRTH", value))
    date.fromisoformat(HERE.make("DATE_OF_BIRTH", "1990-04-05"))


def test_phone_formats_of_one_number_agree() -> None:
    forms = ["(212) 734-0134", "212-734-0134", "2127340134", "+1 212 734 0134"]
    assert len({re.sub(r"\D", "", HERE.make("PHONE_NUMBER", form))[-10:] for form in forms}) == 1


def test_overlaps_become_one_finding_and_the_rest_stays() -> None:
    text = "call 010-1234-5678, please check"
    hits = [Hit(5, 18, "PHONE_NUMBER", 0.7), Hit(5, 13, "ID", 0.5), Hit(9, 18, "BANK", 0.6)]
    resolved = resolve(hits)
    assert [(hit.start, hit.end, hit.entity_type) for hit in resolved] == [(5, 18, "PHONE_NUMBER")]
    masked, found = apply(text, resolved, HERE)
    assert len(found) == 1
    assert masked.startswith("call ")
    assert masked.endswith(", please check")
    assert "5678" not in masked


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10), st.sampled_from(["A", "B"]), st.floats(0, 1))))
def test_resolution_covers_the_union_exactly(raw: list[tuple[int, int, str, float]]) -> None:
    hits = [Hit(start, start + length, kind, score) for start, length, kind, score in raw]
    resolved = resolve(hits)
    assert all(a.end <= b.start for a, b in pairwise(resolved))
    covered = {place for hit in hits for place in range(hit.start, hit.end)}
    assert covered == {place for hit in resolved for place in range(hit.start, hit.end)}
