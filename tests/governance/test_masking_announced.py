"""What a text announces: identifiers, short codes and names by what they are called, whatever they look like."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.records.masking_policy import DETECTED_ONLY

DETECTOR = Detector()
MASKER = PresidioMasker(DerivedKeyProvider("announced"), detector=DETECTOR)
FEW = settings(max_examples=30, deadline=None)


def found(text: str, kind: TextKind = TextKind.TEXT) -> set[tuple[str, str]]:
    [hits] = DETECTOR.find([(text, kind)])
    return {(hit.entity_type, text[hit.start : hit.end]) for hit in hits if hit.entity_type not in DETECTED_ONLY}


SSN = ["my ssn is {}", "SSN: {}", "my social security number is {} thanks", "social security {}.", "ssn - {}, call me"]


@FEW
@given(st.sampled_from(SSN), st.integers(0, 999), st.integers(0, 99), st.integers(0, 9999), st.sampled_from("- "))
def test_an_announced_number_is_what_it_is_called(text: str, area: int, group: int, serial: int, gap: str) -> None:
    number = f"{area:03d}{gap}{group:02d}{gap}{serial:04d}"
    assert ("US_SSN", number) in found(text.format(number))


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("my account number is 212-555-1234", "KR_BANK_ACCOUNT", "212-555-1234"),
        ("my account number is 2125551234", "US_BANK_NUMBER", "2125551234"),
        ("passport number: M12345678 and", "KR_PASSPORT", "M12345678"),
        ("national insurance number AB 12 34 56 C please", "UK_NINO", "AB 12 34 56 C"),
        ("driver's license number D123-4567-8901", "US_DRIVER_LICENSE", "D123-4567-8901"),
        ("주민번호는 900101-1234567입니다", "KR_RRN", "900101-1234567"),
        ("my social security number is 536228726", "US_SSN", "536228726"),
        ("my social is 078051120", "US_SSN", "078051120"),
        ("it says 078-05-1120", "US_SSN", "078-05-1120"),
        ("ssn, 078-05-1120", "US_SSN", "078-05-1120"),
        ("ssn\n078-05-1120", "US_SSN", "078-05-1120"),
        ("my `ssn` is `078-05-1120`", "US_SSN", "078-05-1120"),
        ("my ssn is 078-05-1120 and my phone is 212-555-0199", "PHONE_NUMBER", "212-555-0199"),
    ],
)
def test_the_name_of_an_identifier_outweighs_a_shape(text: str, entity: str, value: str) -> None:
    assert (entity, value) in found(text)


@pytest.mark.parametrize(
    "text", ["my passport expires 2030-05-01", "ssn last four 1120", "tin 40 g of beans", "my account has 3 users"]
)
def test_a_name_without_a_number_announces_nothing(text: str) -> None:
    assert not found(text)


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("my cvv is 123", "CVV", "123"), ("CVC: 4411", "CVV", "4411"), ("cvv of my card is 999", "CVV", "999"),
        ("the security code on the back is 123", "CVV", "123"), ("my pin is 4411", "PIN", "4411"),
        ("PIN 4411", "PIN", "4411"), ("Your one-time code is 123456", "OTP", "123456"),
        ("123456 is your verification code", "OTP", "123456"), ("verification code: 123-456", "OTP", "123-456"),
        ("passcode 4411", "OTP", "4411"), ("인증번호는 123456입니다", "OTP", "123456"),
        ("비밀번호는 4411이에요", "PIN", "4411"), ("pin code 4821", "PIN", "4821"), ("pin: 4821", "PIN", "4821"),
        ("Your code is 482193", "OTP", "482193"), ("the code on the back is 123", "CVV", "123"),
        ("비밀번호를 4821로 바꿨어요", "PIN", "4821"), ("card[cvc]=123", "CVV", "123"),
        ("카드 비밀번호는 4821입니다", "PIN", "4821"), ("비밀번호 4821", "PIN", "4821"),
        ("my pin = 4821", "PIN", "4821"),
    ],
)  # fmt: skip
def test_short_codes_are_found_behind_their_name(text: str, entity: str, value: str) -> None:
    assert (entity, value) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "order code 4411", "confirmation code 123456", "booking number 4411", "promo code 1234", "error code 4041",
        "pin 13 is the LED", "please pin 3 tabs", "security code is 4 digits", "the cvv is 3 digits, order 1234",
        "order 4411 and order 123456", "const PIN = 1024;", "int pin=12345;", "pin = 4096  # GPIO",
        "assert otp == 123456", "Delhi PIN code 110001", "login number 12345 of the queue", "LED_PIN = 4096",
        "verification number 20240520 refers to the case", "your promo code is 1234", "id,ssn\n1234567,x",
        "It's my birthday and flight HAT136 leaves on 2024-05-20", "birth certificate issued; appointment 2024-05-20",
        "born in a hurry; reservation date 2024-05-20", "birthday party on 2024-05-20",
    ],
)  # fmt: skip
def test_other_codes_and_orders_stay(text: str) -> None:
    assert not found(text)


def test_short_codes_of_fields_are_masked_in_their_form_and_flags_stay() -> None:
    value = {
        "cvv": "123",
        "pin": 4411,
        "otp": "998877",
        "order": {"id": 4411, "code": "123"},
        "pinned": {"pin": "left"},
    }
    [masked] = MASKER.mask("t", [value])
    made = masked.value
    assert {name: made[name] == value[name] for name in value} == {
        "cvv": False, "pin": False, "otp": False, "order": True, "pinned": True,
    }  # fmt: skip
    assert (len(made["cvv"]), type(made["pin"]), made["otp"].isdecimal()) == (3, int, True)


NUMBERS = st.tuples(*[st.integers(0, 255)] * 4).map(lambda parts: ".".join(map(str, parts)))


@FEW
@given(NUMBERS, st.sampled_from(["Version {}", "release {}", "see section {} of it", "version: {}", "a==1.0, b>={}",
                                 "Firmware v{}", "versions 1.2.3.4, 1.2.3.5 and {}", "버전 {}"]))  # fmt: skip
def test_a_version_or_a_section_is_no_address(number: str, text: str) -> None:
    assert not found(text.format(number))


@FEW
@given(
    NUMBERS, st.sampled_from(["server at {} is down", "client ip {}", "the release server {}", "db/{}", "from {} to"])
)
def test_an_address_stays_one(number: str, text: str) -> None:
    assert ("IP_ADDRESS", number) in found(text.format(number))


def test_a_field_of_versions_holds_no_address() -> None:
    value = {"app_version": "1.2.3.4", "section": "10.0.0.1", "host": "10.0.0.1"}
    [masked] = MASKER.mask("t", [value])
    assert masked.value == {**value, "host": masked.value["host"]}
    assert masked.value["host"] != value["host"]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("I was born on 1990-04-05", "1990-04-05"), ("born in Austin, Texas on April 5, 1990", "April 5, 1990"),
        ("my date of birth, as you asked, is 1990-04-05", "1990-04-05"), ("dob 4 5 1990", "4 5 1990"),
        ("my birthday is 4/5/1990 and the flight is on 2024-05-20", "4/5/1990"),
        ("1990-04-05 (date of birth)", "1990-04-05"),
    ],
)  # fmt: skip
def test_a_date_of_birth_is_the_date_that_the_word_governs(text: str, date: str) -> None:
    assert {value for entity, value in found(text) if entity == "DATE_OF_BIRTH"} == {date}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my name is torvald brenwick", "torvald brenwick"), ("i am maria lopez", "maria lopez"),
        ("Hello, My name is torvald brenwick and I need help", "torvald brenwick"),
        ("I am maria lopez, please cancel", "maria lopez"), ("MY NAME IS TORVALD BRENWICK", "TORVALD BRENWICK"),
        ("I AM MARIA LOPEZ", "MARIA LOPEZ"), ("my name is grace hill", "grace hill"),
        ("my name is maria de la cruz", "maria de la cruz"), ("I'm torvald brenwick", "torvald brenwick"),
        ("it's for order 5. regards, maria lopez", "maria lopez"), ("my name is anna please help", "anna"),
        ("hi it's omar again", "omar"), ("name is priya raman, dob 4 5 1990", "priya raman"),
    ],
)  # fmt: skip
def test_announced_names_are_found_whole_in_any_case(text: str, name: str) -> None:
    assert {value for entity, value in found(text) if entity == "PERSON"} == {name}


@pytest.mark.parametrize(
    "text",
    [
        "i am happy", "i am waiting", "I'm waiting for my order", "my name is not on the list", "call me back",
        "my name is spelled wrong", "this is unacceptable", "I AM VERY ANGRY ABOUT THIS", "THIS IS AN ORDER",
        "it's raining here", "i am definately upset", "i am interested in buying", "i am korean", "call me maybe later",
    ],
)  # fmt: skip
def test_states_are_nobody(text: str) -> None:
    assert not found(text)
