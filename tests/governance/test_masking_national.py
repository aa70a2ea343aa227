# ruff: noqa: RUF001 - letters that look like others are what the words must not trip over
"""Identifiers of the world: found with words beside them, below the threshold without, whatever their checksum says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import phonenumbers
import pytest
import stdnum.au.tfn
import stdnum.luhn
import stdnum.verhoeff
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stdnum.iso7064 import mod_11_10

from governance.keys import DerivedKeyProvider
from governance.masking import fields
from governance.masking.detection import Detector, TextKind
from governance.masking.identifiers import of_value
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.profile import TextProfile, lower, plain
from governance.masking.recognisers import build
from governance.masking.recognisers.evidence import Words
from governance.masking.recognisers.phones import HOME, SHORTEST, PhoneFinder
from governance.masking.spans import THRESHOLD
from governance.records.masking_policy import DETECTED_ONLY

DETECTOR = Detector()
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DIGITS = st.text("0123456789", min_size=9, max_size=9)


def types(text: str, kind: TextKind = TextKind.TEXT) -> dict[str, str]:
    [hits] = DETECTOR.find([(text, kind)])
    return {hit.entity_type: text[hit.start : hit.end] for hit in hits}


def tax_file_number(body: str) -> str:
    """The body of eight digits with the check digit that python-stdnum accepts, or none."""
    return next((body + last for last in "0123456789" if stdnum.au.tfn.is_valid(body + last)), "")


VALUES = [
    ("AU_TFN", "my tax file number is {}", lambda: tax_file_number("87654321")),
    ("DE_TAX_ID", "Die Steuer-ID lautet {}", lambda: "3657426180" + mod_11_10.calc_check_digit("3657426180")),
    ("IN_AADHAAR", "Aadhaar number {}", lambda: "39987654321" + stdnum.verhoeff.calc_check_digit("39987654321")),
    ("CA_SIN", "my social insurance number: {}", lambda: "13069254" + stdnum.luhn.calc_check_digit("13069254")),
    ("US_PASSPORT", "US passport {}", lambda: "512345678"),
    ("UK_PASSPORT", "British passport number AB{}", lambda: "1234567"),
    ("US_DRIVER_LICENSE", "DMV says driver's license {}", lambda: "H12234567"),
    ("UK_VEHICLE_REGISTRATION", "the car reg is {}", lambda: "AB51 ABC"),
    ("BR_CPF", "CPF: {}", lambda: "390.533.447-05"),
    ("FR_NIR", "numéro de sécurité sociale {}", lambda: "2 95 10 99 126 111 93"),
    ("NL_BSN", "BSN {}", lambda: "111222333"),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "text", "make"), VALUES, ids=[entity for entity, _, _ in VALUES])
def test_an_identifier_counts_with_words_of_its_kind_and_not_alone(entity: str, text: str, make: Any) -> None:
    value = make()
    whole = text.format(value)
    found = types(whole)
    assert entity in found
    assert found[entity].endswith(value)
    shape = found[entity]
    alone = DETECTOR.candidates(shape)
    assert max(hit.score for hit in alone if hit.entity_type == entity) < THRESHOLD
    assert entity not in types(f"see {shape} for more")


@FEW
@given(DIGITS.map(lambda text: tax_file_number(text[:8])).filter(bool))
def test_any_valid_number_is_found_with_context_and_not_without(number: str) -> None:
    assert types(f"TFN {number}").get("AU_TFN") == number
    assert "AU_TFN" not in types(f"page {number}")
    assert "AU_TFN" not in types(f"TFN of the order {number}")
    assert [hit.score for hit in DETECTOR.candidates(number) if hit.entity_type == "AU_TFN"] == [0.35]


@pytest.mark.parametrize(
    "text",
    [
        "https://wiki.example.net/pages/4010232137/Runbook", '"created_at": 1717171717', "serial 2026050801",
        "chapter H1", "at 1701283456789 ms", "order number 123456782", "build 20240520 of 2024-05-20",
        "row 8001015009087", "version 10.4.2 (build 5567037485)", "invoice DE-2024-000123 over 119.00 EUR",
        "the passport was mentioned, order 123456789 was not", "epoch 9111245678",
    ],
)  # fmt: skip
def test_checksums_and_shapes_without_context_stay(text: str) -> None:
    assert not types(text).keys() - DETECTED_ONLY


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("device 00:1a:2b:3c:4d:5e joined", "MAC_ADDRESS", "00:1a:2b:3c:4d:5e"),
        ("from 2001:db8::1 at noon", "IP_ADDRESS", "2001:db8::1"),
        ("IBAN GB33 BUKB 2020 1555 5555 55", "IBAN_CODE", "GB33 BUKB 2020 1555 5555 55"),
        ("see https://x.example/p?first_name=Anna&item=7", "PERSON", "Anna"),
        ("https://shop.example/u?email=kim@x.example", "EMAIL_ADDRESS", "kim@x.example"),
        ("https://www.linkedin.com/in/anna-miller-77 is me", "USER_ID", "anna-miller-77"),
        ("Ｐａｓｓｐｏｒｔ ＡＢ１２３４５６７", "UK_PASSPORT", "ＡＢ１２３４５６７"),
    ],
)  # fmt: skip
def test_addresses_of_networks_and_web(text: str, entity: str, value: str) -> None:
    assert types(text).get(entity) == value


def test_a_public_address_never_hides_the_value_inside_it() -> None:
    [hits] = DETECTOR.find([("https://example.com/?email=kim@x.example", TextKind.TEXT)])
    assert {hit.entity_type for hit in hits} == {"URL", "EMAIL_ADDRESS"}


def test_one_network_address_is_a_field_of_its_own() -> None:
    assert fields.forced_type(("client_ip",), (), "203.0.113.7") == "IP_ADDRESS"


@pytest.mark.parametrize(
    ("family", "value", "entity"),
    [
        ("PASSPORT", "M123A4567", "KR_PASSPORT"), ("PASSPORT", "AB1234567", "UK_PASSPORT"),
        ("PASSPORT", "?", "PASSPORT"), ("DRIVER_LICENSE", "11-12-345678-90", "KR_DRIVER_LICENSE"),
        ("NATIONAL_ID", "900101-1234567", "KR_RRN"), ("NATIONAL_ID", "9001011234567", "KR_RRN"),
        ("TAX_ID", "87 654 321 0", "AU_TFN"), ("BANK_ACCOUNT", "110-123-456789", "KR_BANK_ACCOUNT"),
        ("BANK_ACCOUNT", "GB33 BUKB 2020 1555 5555 55", "IBAN_CODE"), ("COMPANY_ID", "?", "COMPANY_ID"),
    ],
)  # fmt: skip
def test_the_value_tells_the_country_that_the_field_does_not(family: str, value: str, entity: str) -> None:
    assert of_value(family, value) == entity


def test_fields_are_context_for_what_their_texts_do_not_say() -> None:
    masker = PresidioMasker(DerivedKeyProvider("national"), detector=DETECTOR)
    row = {"passport_number": "M123A4567", "account_number": 945456787654, "taxId": "876543210", "nino": "AB123456C",
           "passport": "required", "driver_license": "H12234567", "note": "nothing", "page": "876543210"}  # fmt: skip
    masked = masker.mask("t", [row])[0].value
    gone = {"passport_number", "account_number", "taxId", "nino", "driver_license"}
    assert {key for key in row if masked[key] != row[key]} == gone
    assert isinstance(masked["account_number"], int)


PHONES = st.sampled_from(
    ["(212) 734-0134", "+44 20 7946 0958", "02-312-3456", "010-1234-5678", "030 901820", "06 12 34 56 78",
     "03-1234-5678", "2127340134", "212.734.0134 x12", "1-212-734-0134"]
)  # fmt: skip


@FEW
@given(st.lists(PHONES | st.text(" ,.-/()+1290ax", max_size=6), max_size=5).map(" ".join))
def test_one_scan_finds_what_a_scan_for_each_region_finds(text: str) -> None:
    ours = [(one.start, one.end) for one in PhoneFinder().analyze(text, ["PHONE_NUMBER"])]
    for region in HOME:
        for match in phonenumbers.PhoneNumberMatcher(text, region):
            if sum(map(str.isdigit, match.raw_string)) >= SHORTEST:
                assert any(start < match.end and match.start < end for start, end in ours), (region, match)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("phone: 0412 345 678", "0412 345 678"), ("call +55 11 96123-4567", "+55 11 96123-4567"),
        ("tel 555-0134-22", "555-0134-22"), ("reach me on my mobile 98765 43210", "98765 43210"),
        ("(212) 734-0134", "(212) 734-0134"), ("Telefon 030 901820", "030 901820"),
    ],
)  # fmt: skip
def test_phones_of_all_regions_with_a_word_or_written_as_one(text: str, number: str) -> None:
    assert types(text).get("PHONE_NUMBER") == number


WORDS = Words.of(["passport number", "driver's license", "ss#", "Straße", "주민 번호", "nr5 code", "tax-id"])


@given(
    st.lists(
        st.sampled_from(["passport", "number", "passportnumber", "passport_number", "Driver's license", "ss#", "ſs#",
                         "İ", "STRASSE", "straße", "주민번호는", "주민 번호", "nr5", "code", "tax.id",
                         "taxid", "1", "_", " ", "-"])
        | st.text(max_size=3),
        max_size=8,
    ).map("".join)
)  # fmt: skip
def test_words_that_stand_in_a_text_are_among_its_words(text: str) -> None:
    if WORDS.pattern.search(lower(text)):
        assert WORDS.may_stand_in(TextProfile(text))


@given(st.text())
def test_plain_and_lower_texts_keep_every_position(text: str) -> None:
    assert len(plain(text)) == len(text)
    assert len(lower(text)) == len(text)


def test_each_recogniser_is_listed_with_types_that_a_policy_can_name() -> None:
    names = [entity for listed in build() for entity in listed.recogniser.supported_entities]
    assert len(set(names)) > 110
    assert all(name.replace("_", "").isalnum() and name.isupper() for name in names)


def of_case(case: dict[str, Any]) -> set[str]:
    """The types that a case is about: its own, or what its file is named after."""
    return set(case["entities"] or [case["source"].removeprefix("test_").removesuffix("_recognizer.py").upper()])


def test_the_cases_of_presidios_recognisers(cases_dir: Path) -> None:
    lines = (cases_dir / "pii" / "presidio_recognizer_cases" / "cases.jsonl").read_text().splitlines()
    counts = {True: [0, 0], False: [0, 0]}
    for case in map(json.loads, lines):
        hits = {(hit.start, hit.end) for hit in DETECTOR.candidates(case["text"]) if hit.entity_type in of_case(case)}
        wanted = {(start, end) for start, end in case["expected_positions"]}
        positive = case["expected_len"] != 0
        right = (wanted <= hits if wanted else len(hits) == case["expected_len"]) if positive else not hits
        counts[positive][0] += right
        counts[positive][1] += 1
    assert counts[True][1] > 400
    assert counts[False][1] > 250
    assert counts[True][0] / counts[True][1] >= 0.95
    assert counts[False][0] / counts[False][1] >= 0.98
