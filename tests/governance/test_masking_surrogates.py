"""Surrogates: keyed, type-faithful, valid, reserved; for every type that a recogniser or a field's name reports."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from typing import Any

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn

from governance.keys import DerivedKeyProvider
from governance.masking import fields, recognisers
from governance.masking.applied import apply
from governance.masking.draw import Draw, Seed
from governance.masking.judgement import Judged
from governance.masking.makers import MAKERS, checks, phones, secrets
from governance.masking.recognisers.phones import OF_COUNTRY
from governance.masking.settling import TOLD
from governance.masking.spans import Hit, resolve
from governance.masking.surrogate import Surrogates, normalise
from governance.records.masking_policy import DETECTED_ONLY, SPECIAL_CATEGORIES, Outcome

KEYS = DerivedKeyProvider("surrogates")
HERE, THERE = Surrogates(KEYS, "here"), Surrogates(KEYS, "there")
EXAMPLES = {
    "PERSON": "Anna Miller",
    "ORGANIZATION": "Harbor Widgets GmbH",
    "LOCATION": "12 Alder Street, Northport",
    "GPE": "Northport",
    "ZIP_CODE": "90210",
    "EMAIL_ADDRESS": "anna.miller@corp.example",
    "PHONE_NUMBER": "(212) 734-0134",
    "DATE_OF_BIRTH": "1990-04-05",
    "DATE_TIME": "2024-05-20",
    "AGE": "34 years",
    "IP_ADDRESS": "83.12.4.7",
    "MAC_ADDRESS": "00:1a:2b:3c:4d:5e",
    "URL": "https://corp.example/people/anna",
    "DOMAIN_NAME": "corp.example",
    "CREDIT_CARD": "4111 1111 1111 1111",
    "CARD_LAST4": "1234",
    "IBAN_CODE": "DE89 3704 0044 0532 0130 00",
    "US_SSN": "536-22-1234",
    "US_ITIN": "912-72-1234",
    "US_NPI": "1245319599",
    "US_MBI": "1EG4-TE5-MK73",
    "ABA_ROUTING_NUMBER": "021000021",
    "MEDICAL_LICENSE": "AB1234563",
    "UK_NHS": "943 476 5919",
    "UK_NINO": "AB123456C",
    "DE_TAX_ID": "36 574 261 809",
    "DE_VAT_ID": "DE136695976",
    "DE_ID_CARD": "L01X00T44",
    "DE_PASSPORT": "C01X00T41",
    "DE_HEALTH_INSURANCE": "A123456780",
    "DE_SOCIAL_SECURITY": "15070649C103",
    "DE_LANR": "123456601",
    "ES_NIF": "54362315K",
    "ES_NIE": "X2482300W",
    "IT_FISCAL_CODE": "RCCMNL83S18D969H",
    "IT_VAT_CODE": "00743110157",
    "PL_PESEL": "44051401359",
    "FI_PERSONAL_IDENTITY_CODE": "131052-308T",
    "SE_PERSONNUMMER": "880320-0016",
    "SE_ORGANISATIONSNUMMER": "123456-7897",
    "IN_AADHAAR": "2341 2341 2346",
    "IN_PAN": "ACUPA7085R",
    "IN_GSTIN": "27AAPFU0939F1ZV",
    "AU_ABN": "83 914 571 673",
    "AU_ACN": "004 085 616",
    "AU_TFN": "123 456 782",
    "AU_MEDICARE": "2123 45670 1",
    "CA_SIN": "130-692-544",
    "SG_NRIC_FIN": "S1234567D",
    "SG_UEN": "00192200M",
    "TH_TNIN": "1-2345-45678-78-1",
    "TR_NATIONAL_ID": "17291716060",
    "NG_NIN": "12345678902",
    "ZA_ID_NUMBER": "7503305044089",
    "ZA_INCOME_TAX_NUMBER": "0001339050",
    "KR_RRN": "971013-9019902",
    "KR_FRN": "990101-5123457",
    "KR_BRN": "124-81-00998",
    "KR_CRN": "130111-0006246",
    "KR_BANK_ACCOUNT": "110-123-456789",
    "KR_LICENSE_PLATE": "12가 3456",
    "FR_NIR": "2 95 10 99 126 111 93",
    "NL_BSN": "1112.22.333",
    "BR_CPF": "390.533.447-05",
    "BR_CNPJ": "16.727.230/0001-97",
    "CH_AHV": "756.9217.0769.85",
    "SECRET": "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "HEALTH": "high blood pressure",
    "TITLE": "Mrs.",
    "NRP": "Northlander",
    "UUID": "6f1d0b1e-9c1d-4f53-9d5c-3a53e5b8a0c1",
}


def reported() -> set[str]:
    """Every type that may be found: by the listed recognisers, by a field's name, by a policy's own words."""
    found = {TOLD.get(entity, entity) for one in recognisers.build() for entity in one.recogniser.supported_entities}
    found -= set(OF_COUNTRY.values())  # candidates of one country: found as PHONE_NUMBER
    return found | set(fields.TYPES.values()) | set(DETECTED_ONLY) | set(SPECIAL_CATEGORIES)


def test_every_type_that_can_be_found_has_a_maker() -> None:
    assert reported() - set(MAKERS) - {"USER_ID"} == set()


@pytest.mark.parametrize(("entity", "value"), EXAMPLES.items())
def test_equal_here_different_there_and_never_the_value(entity: str, value: str) -> None:
    made = HERE.make(entity, value)
    assert made == Surrogates(DerivedKeyProvider("surrogates"), "here").make(entity, value)
    assert value not in made
    if entity not in {"TITLE", "AGE"}:  # few values: by chance two tenants may draw the same
        assert made != THERE.make(entity, value)
        assert made != Surrogates(DerivedKeyProvider("another key"), "here").make(entity, value)
    assert HERE.mention(entity, value) != THERE.mention(entity, value)


def shape(text: str) -> str:
    """Classes of characters: what a format checks."""
    return re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"\d", "9", text)))


FREE_FORM = {"PERSON", "ORGANIZATION", "LOCATION", "GPE", "EMAIL_ADDRESS", "URL", "DOMAIN_NAME", "IP_ADDRESS",
             "MAC_ADDRESS", "HEALTH", "TITLE", "NRP", "UUID", "KR_LICENSE_PLATE"}  # fmt: skip


@pytest.mark.parametrize("entity", sorted(set(EXAMPLES) - FREE_FORM))
def test_form_is_kept(entity: str) -> None:
    value = EXAMPLES[entity]
    assert shape(HERE.make(entity, value)) == shape(value)


@pytest.mark.parametrize("entity", sorted(set(checks.CHECKS)))
def test_check_digits_hold_where_the_original_holds_one(entity: str) -> None:
    value, check = EXAMPLES[entity], checks.CHECKS[entity]
    assert check(re.sub(r"\W", "", value)), "the example itself"
    for tenant in ("a", "b", "c"):
        made = Surrogates(KEYS, tenant).make(entity, value)
        assert check(re.sub(r"\W", "", made)), made


NEVER_ISSUED = {
    "CREDIT_CARD": r"9999 99\d\d \d{4} \d{4}",
    "IBAN_CODE": r"DE\d\d 0000 \d{4} \d{4} \d{4} \d\d",
    "US_SSN": r"9\d\d-[0-4]\d-\d{4}",
    "US_NPI": r"2\d{9}",
    "ABA_ROUTING_NUMBER": r"1[3-9]\d{7}",
    "UK_NHS": r"999 \d{3} \d{4}",
    "UK_NINO": r"QQ\d{6}[A-Z]",
    "PL_PESEL": r"[0-4]\d[89]\d{8}",
    "FI_PERSONAL_IDENTITY_CODE": r"\d{6}-9\d\d\w",
    "IN_AADHAAR": r"1\d{3} \d{4} \d{4}",
    "KR_RRN": r"[0-4]\d{5}-[90]\d{6}",
    "KR_FRN": r"[5-9]\d{5}-[78]\d{6}",
    "PHONE_NUMBER": r"\(\d{3}\) [2-8]11-\d{4}",
    "EMAIL_ADDRESS": r"user-[0-9a-f]{12}@example\.com",
    "URL": r"https://site-[0-9a-f]{8}\.example\.com/[0-9a-f]{8}",
}


@pytest.mark.parametrize(("entity", "pattern"), NEVER_ISSUED.items())
def test_surrogates_lie_where_no_real_value_lies(entity: str, pattern: str) -> None:
    for tenant in "abcd":
        assert re.fullmatch(pattern, Surrogates(KEYS, tenant).make(entity, EXAMPLES[entity]))


def test_network_addresses_are_of_documentation_ranges() -> None:
    assert ipaddress.ip_address(HERE.make("IP_ADDRESS", "83.12.4.7")) in ipaddress.ip_network("198.18.0.0/15")
    assert ipaddress.ip_address(HERE.make("IP_ADDRESS", "fe80::1")) in ipaddress.ip_network("2001:db8::/32")
    assert HERE.make("IP_ADDRESS", "10.0.0.0/8").endswith("/8")
    assert int(HERE.make("MAC_ADDRESS", "00:1a:2b:3c:4d:5e")[1], 16) & 3 == 2  # local, unicast


@given(st.sampled_from(sorted({*MAKERS, "USER_ID", "SOMETHING_NEW"})), st.text(min_size=1, max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_value_of_any_type_gets_one_other_surrogate(entity: str, value: str) -> None:
    made = HERE.make(entity, value)
    assert HERE.make(entity, value) == made
    assert len(HERE.mention(entity, value)) == 64
    if any(char.isascii() and char.isalnum() for char in value):
        assert made != value


PHONES = [
    (["+1 212-734-0134", "(212) 734-0134", "212.734.0134", "2127340134", "001 212 734 0134"], 1),
    (["+82 10-9234-5678", "010-9234-5678", "01092345678", "+821092345678"], 82),
    (["+44 7911 123456", "07911 123456", "0044 7911 123456"], 44),
    (["+49 30 90182000", "0049 30 90182000"], 49),
    (["+33 6 12 34 56 78"], 33),
    (["+81 90 1234 5678"], 81),
    (["+886 912 345 678"], 999),
]


@pytest.mark.parametrize(("forms", "country"), PHONES)
def test_one_number_in_all_its_forms_is_one_surrogate_of_its_country(forms: list[str], country: int) -> None:
    made = [HERE.make("PHONE_NUMBER", form) for form in forms]
    digits = {re.sub(r"\D", "", one) for one in made}
    assert len({number[-7:] for number in digits}) == 1
    assert all(phones.reserved(number.removeprefix("00")) for number in digits)
    assert len({HERE.mention("PHONE_NUMBER", form) for form in forms}) == 1
    if country in {1, 82}:
        assert all(phonenumbers.is_valid_number(phonenumbers.parse(one, "US" if country == 1 else "KR"))
                   for one in made if not one.startswith("00"))  # fmt: skip
    assert made[0].startswith(f"+{country}")


def test_a_phone_number_in_a_korean_form_stays_in_it() -> None:
    assert re.fullmatch(r"010-0\d{3}-\d{4}", HERE.make("PHONE_NUMBER", "010-1234-5678"))
    assert re.fullmatch(r"02-0\d{2}-\d{4}", HERE.make("PHONE_NUMBER", "02-734-5678"))


def test_names_are_replaced_word_by_word() -> None:
    first, last = HERE.make("PERSON", "Anna Miller").split()
    assert HERE.make("PERSON", "Anna") == first
    assert HERE.make("PERSON", "Miller") == last
    assert HERE.make("PERSON", "Miller, Anna") == f"{last}, {first}"
    assert HERE.make("PERSON", "ANNA") == first.upper()
    assert HERE.make("PERSON", "Dr. Anna van Miller") == f"Dr. {first} van {last}"
    assert HERE.mention("PERSON", "Miller, Anna") == HERE.mention("PERSON", "anna  MILLER")
    assert HERE.make("PERSON", "Van") != "Van"


@pytest.mark.parametrize("name", ["김민수", "박서연", "김구", "남궁민수"])
def test_a_korean_name_is_a_korean_name_of_its_length(name: str) -> None:
    made = HERE.make("PERSON", name)
    assert len(made) == len(name)
    assert all("\uac00" <= char <= "\ud7a3" for char in made)
    assert made != name


def test_parts_of_a_korean_name_agree() -> None:
    whole = HERE.make("PERSON", "김민수")
    assert whole.endswith(HERE.make("PERSON", "민수"))
    assert HERE.make("PERSON", "이민수")[1:] == whole[1:]


@pytest.mark.parametrize(
    ("name", "script"),
    [("Анна", "CYRILLIC"), ("Ελένη", "GREEK"), ("王小明", "CJK"), ("さくら", "HIRAGANA"), ("サクラ", "KATAKANA"),
     ("فاطمة", "ARABIC"), ("שרה", "HEBREW"), ("प्रिया", "DEVANAGARI"), ("สมชาย", "THAI"), ("José", "LATIN")],
)  # fmt: skip
def test_a_name_stays_in_its_script(name: str, script: str) -> None:
    import unicodedata

    made = HERE.make("PERSON", name)
    assert {unicodedata.name(char).split()[0] for char in made} == {script}
    assert made != name


BIRTHS = ["1990-04-05", "04/05/1990", "April 5, 1990", "5 Apr 1990", "5.4.1990", "1990년 4월 5일", "19900405",
          "04/05/90", "1990. 4. 5.", "APR 5 1990", "90.04.05", "90년 4월 5일", "900405"]  # fmt: skip


@pytest.mark.parametrize("value", BIRTHS)
def test_a_birth_date_keeps_its_form_and_its_decade(value: str) -> None:
    made = HERE.make("DATE_OF_BIRTH", value)
    day = date.fromisoformat(HERE.make("DATE_OF_BIRTH", "1990-04-05"))
    assert 1990 <= day.year <= 1999
    assert day != date(1990, 4, 5)
    assert f"{day.year % 100:02d}" in made
    assert re.sub(r"[^\W\d_]+|\d+", "x", made) == re.sub(r"[^\W\d_]+|\d+", "x", value)
    assert (f"{day:%B}" in made) == ("April" in value)


@given(st.dates(date(1900, 1, 1), date(2019, 12, 31)), st.dates(date(1900, 1, 1), date(2019, 12, 31)))
@settings(max_examples=60, deadline=None)
def test_two_birth_dates_never_become_one(first: date, second: date) -> None:
    made = [HERE.make("DATE_OF_BIRTH", f"{day:%Y-%m-%d}") for day in (first, second)]
    assert all(
        date.fromisoformat(one).year // 10 == day.year // 10 for one, day in zip(made, (first, second), strict=True)
    )
    assert (made[0] == made[1]) == (first == second)


@pytest.mark.parametrize("size", [2, 10, 26, 1000])
def test_a_small_range_is_mapped_one_to_one_and_nothing_onto_itself(size: int) -> None:
    seed = Seed(b"k" * 32)
    made = [seed.shifted("KIND", number, size) for number in range(size)]
    assert sorted(made) == list(range(size))
    assert all(number != place for place, number in enumerate(made))


def test_a_draw_does_not_run_out() -> None:
    draw = Draw(b"k" * 32, "long")
    assert len({draw.hex(64) for _ in range(64)}) == 64


SECRETS = [
    "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "AK" + "IA" + "Q3EGUJ7WXYZ2ABCD",
    "sk-" + "proj-" + "Zx81kdLq02mvNs77PqRt93",
    "xo" + "xb-" + "123456789012-abcdefABCDEF123456",
    "9f86d081884c7d659a2feaa0c55ad015",
    "hunter2!",
    "-----BEGIN PRIVATE " + "KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSj\n-----END PRIVATE " + "KEY-----",
]


@pytest.mark.parametrize("value", SECRETS)
def test_a_secret_keeps_prefix_length_and_alphabet(value: str) -> None:
    made = HERE.make("SECRET", value)
    assert made != value
    assert shape(made).translate(str.maketrans("", "", "Aa9")) == shape(value).translate(str.maketrans("", "", "Aa9"))
    assert [char.isdigit() for char in made] == [char.isdigit() for char in value]
    prefix = re.match(r"ghp_|AKIA|sk-proj-|xoxb-|-----BEGIN PRIVATE KEY-----|", value)
    assert prefix is not None
    assert made.startswith(prefix.group())
    proven = secrets.proven(HERE.seed, made)
    assert proven == (len(re.sub(r"\W", "", value)) >= 16)
    assert not secrets.proven(HERE.seed, value)
    assert not secrets.proven(THERE.seed, made)


def test_identities_fold_what_says_nothing() -> None:
    same: list[tuple[str, Callable[[str], str]]] = [("EMAIL_ADDRESS", str.upper), ("LOCATION", str.title)]
    for entity, change in same:
        assert normalise(entity, EXAMPLES[entity]) == normalise(entity, change(EXAMPLES[entity]))
    assert HERE.make("KR_RRN", "900101-1234568").replace("-", "") == HERE.make("KR_RRN", "9001011234568")
    assert HERE.make("EMAIL_ADDRESS", "Kim@X.example") == HERE.make("EMAIL_ADDRESS", "kim@x.EXAMPLE")


def test_overlaps_become_one_finding_and_the_rest_stays() -> None:
    text = "call 010-1234-5678, please check"
    hits = [Hit(5, 18, "PHONE_NUMBER", 0.7), Hit(5, 13, "ID", 0.5), Hit(9, 18, "BANK", 0.6)]
    resolved = resolve(hits)
    assert [(hit.start, hit.end, hit.entity_type) for hit in resolved] == [(5, 18, "PHONE_NUMBER")]
    masked, found, kept = apply(text, [Judged(hit, Outcome.MASKED) for hit in resolved], HERE)
    assert (len(found), kept) == (1, ())
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


def _cards(first: int, count: int) -> list[str]:
    bodies = [f"411111{place:09d}" for place in range(first, first + count)]
    return [body + luhn.calc_check_digit(body) for body in bodies]


SMALL = {
    "phones of one area": ("PHONE_NUMBER", [f"(212) 7{n // 10_000:02d}-{n % 10_000:04d}" for n in range(300)]),
    "Korean mobile phones": ("PHONE_NUMBER", [f"010-4321-{n:04d}" for n in range(300)]),
    "last digits of cards": ("CARD_LAST4", [f"{n:04d}" for n in range(1500)]),
    "codes of cards": ("CVV", [f"{n:03d}" for n in range(1000)]),
    "postal codes": ("ZIP_CODE", [f"{n:05d}" for n in range(10_000, 10_800)]),
    "British postal codes": ("UK_POSTCODE", [f"SW{n // 10} {n % 10}AA" for n in range(10, 100)]),
    "cards of one issuer": ("CREDIT_CARD", _cards(0, 300)),
    "passports": ("KR_PASSPORT", [f"M{n:08d}" for n in range(300)]),
    "social security numbers": ("US_SSN", [f"536-22-{n:04d}" for n in range(1, 60)]),
    "Spanish numbers": ("ES_NIF", [f"{n:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[n % 23]}" for n in range(1000, 1060)]),
}


@pytest.mark.parametrize("name", SMALL)
def test_different_values_have_different_surrogates(name: str) -> None:
    entity, values = SMALL[name]
    made = [HERE.make(entity, value) for value in values]
    assert len(set(made)) == len(set(values))
    assert not any(one == value for one, value in zip(made, values, strict=True))


NATIONAL = [
    "US_SSN",
    "US_PASSPORT",
    "TAX_ID",
    "NATIONAL_ID",
    "CA_SIN",
    "US_BANK_NUMBER",
    "KR_RRN",
    "PASSPORT",
    "BR_CPF",
]


@given(st.sampled_from([9, 10, 11, 13]), st.data())
@settings(max_examples=8, deadline=None)
def test_a_number_has_one_surrogate_whatever_it_is_called_and_however_it_is_grouped(size: int, data: Any) -> None:
    number = data.draw(st.text("0123456789", min_size=size, max_size=size))
    grouped = f"{number[:3]}-{number[3:5]} {number[5:]}"
    made = {re.sub(r"\W", "", HERE.make(entity, value)) for entity in NATIONAL for value in (number, grouped)}
    assert len(made) == 1
    assert made != {number}
    assert len({HERE.mention(entity, value) for entity in NATIONAL for value in (number, grouped)}) == 1


@given(st.integers(0, 10**6), st.integers(2, 2000))
@settings(max_examples=20, deadline=None)
def test_values_of_one_block_never_meet(value: int, size: int) -> None:
    seed = Seed(b"k" * 32)
    first = value - value % size
    near = range(max(first, value - 5), min(first + size, value + 5))
    assert len({seed.placed("KIND", number, size) for number in near}) == len(near)
