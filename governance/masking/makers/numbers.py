"""Numbers of states, banks and companies: the same form, the same check digit, a range that is never issued.

A surrogate keeps length, punctuation, letters where letters were, and the check digits that the original held. It
follows from the letters and digits alone: a number has one surrogate whatever type a text or a field gives it
(``held``), however it is grouped, as a string or a number. What stands before the check digits is put into one keyed
cycle, and the surrogate is the next one there that can have the same check digits (``Seed.others``): two numbers never
share one where no range is set apart. ``FORMS`` says what a type demands; a star is any character of the original's
class, ``=`` the original's own, brackets a choice. The ranges below are never issued. Each is smaller than what it
stands for: two numbers share a surrogate by chance, with even odds once somebody has about as many of them as the last
column says.

| type | range | size | even chance |
| --- | --- | --- | --- |
| CREDIT_CARD | issuer 999999, which ISO/IEC 7812 assigns to nobody; one to one in an issuer | 10^9 | 37,000 |
| IBAN_CODE | the bank code of zeros (or X), which no register assigns; one to one in a bank | 10^10 | 10^5 |
| US_SSN | area 9xx with group 0x to 4x: neither an SSN nor an ITIN | 5 * 10^7 | 8,300 |
| US_NPI | first digit 2, allowed and not issued yet | 10^8 | 12,000 |
| ABA_ROUTING_NUMBER | prefixes 13 to 19, unassigned | 7 * 10^6 | 3,100 |
| UK_NHS | 999 xxx xxxx, for tests | 9 * 10^5 | 1,100 |
| UK_NINO | prefix QQ, never allocated | 4 * 10^6 | 2,400 |
| PL_PESEL | births from 1800 to 1849; numbers exist since 1979 | 1.8 * 10^8 | 16,000 |
| KR_RRN | births from 1800 to 1849 (seventh digit 9 or 0); numbers exist since 1962 | 3 * 10^9 | 65,000 |
| KR_FRN | births from 2050 (seventh digit 7 or 8) | 3 * 10^9 | 65,000 |
| IN_AADHAAR | first digit 1: numbers begin with 2 to 9 | 10^10 | 10^5 |
| FI_PERSONAL_IDENTITY_CODE | individual numbers 900 to 999, for tests | 3 * 10^6 | 2,000 |

Every other type here has no such range in its specification: its surrogate is valid and may be somebody's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, product
from math import prod
from typing import Final

from stdnum.luhn import calc_check_digit

from governance.masking.draw import Seed
from governance.masking.makers.checks import CHECKS
from governance.masking.makers.held import APART, form_of, held, holds
from governance.masking.makers.shape import (
    alphabet,
    at_place,
    capitals,
    compact,
    leading,
    like_cased,
    place_in,
    refill,
    shape_of,
    shaped,
)

_ATTEMPTS: Final = 5_000
_ATTEMPTS_AT_MANY: Final = 300
"""Numbers hold check digits of other types by chance; those may contradict a range."""
_CHECK_DIGITS: Final = {
    "BR_CPF": 2, "BR_CNPJ": 2, "TR_NATIONAL_ID": 2, "FR_NIR": 2, "AU_ABN": 0, "AU_MEDICARE": 0, "DE_LANR": 0,
    "US_ITIN": 0, "IN_PAN": 0,
}  # fmt: skip
"""How many characters at the end follow from the others, where it is not one; 0 where none stands at the end."""
_TOKEN: Final = re.compile(r"\[[^\]]+\]|.")
_ON_PLATES: Final = "[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주하허호바사아자배]"
"""The syllables that Korean plates are issued with (rules on the registration of motor vehicles, annex)."""
FORMS: Final[Mapping[str, Mapping[int, str]]] = {
    "KR_RRN": {13: "[0-4]*[01]*[0-3]*[90][0-8]*****"},
    "KR_FRN": {13: "[5-9]*[01]*[0-3]*[78]******"},
    "FI_PERSONAL_IDENTITY_CODE": {10: "[0-3]*[01]***9***", 11: "[0-3]*[01]***=9***"},
    "UK_NHS": {10: "999*******"},
    "PL_PESEL": {11: "[0-4]*[89]********"},
    "IN_AADHAAR": {12: "1***********"},
    "UK_NINO": {9: "QQ*******"},
    "US_ITIN": {9: "9**[78][0-8]****"},
    "US_SSN": {9: "9**[0-4]*****"},
    "US_NPI": {10: "2*********"},
    "ABA_ROUTING_NUMBER": {9: "1[3-9]*******"},
    "US_MBI": {11: "[1-9][ACDEFGHJKMNPQRTUVWXY]*********"},
    "DE_TAX_ID": {11: "[1-9]**********"},
    "DE_VAT_ID": {11: "DE*********"},
    "AU_MEDICARE": {10: "[2-6]*********", 11: "[2-6]**********"},
    "SG_NRIC_FIN": {9: "=********"},
    "IT_FISCAL_CODE": {16: "********[ABCDEHLMPRST][0-6]******"},
    "ZA_ID_NUMBER": {13: "**[01]*[0-3]*****[01]**"},
    "SE_PERSONNUMMER": {10: "**[01]*[0-3]*****", 12: "19**[01]*[0-3]*****"},
    "KR_LICENSE_PLATE": {
        7: f"**{_ON_PLATES}****",
        8: f"***{_ON_PLATES}****",
        9: f"==**{_ON_PLATES}****",
        10: f"==***{_ON_PLATES}****",
    },
    "IN_PAN": {10: "***=******"},
    "IN_GSTIN": {15: "==***=******==*"},
    "CH_AHV": {13: "756**********"},
}
"""In the order in which a number takes the first that it fits."""
_PLAIN: Final = (
    "US_PASSPORT", "US_DRIVER_LICENSE", "US_BANK_NUMBER", "US_CLAIM_NUMBER", "US_HEALTH_INSURANCE_MEMBER_ID",
    "US_PRESCRIPTION_NUMBER", "US_PRIOR_AUTHORIZATION_NUMBER", "US_PROVIDER_TAX_ID", "US_REFERRAL_NUMBER",
    "UK_PASSPORT", "UK_DRIVING_LICENCE", "UK_VEHICLE_REGISTRATION", "DE_TAX_NUMBER", "DE_BSNR", "DE_FUEHRERSCHEIN",
    "DE_HANDELSREGISTER", "DE_KFZ", "ES_PASSPORT", "IT_DRIVER_LICENSE", "IT_PASSPORT", "IT_IDENTITY_CARD",
    "IN_VEHICLE_REGISTRATION", "IN_VOTER", "IN_PASSPORT", "KR_PASSPORT", "KR_DRIVER_LICENSE", "KR_BANK_ACCOUNT",
    "KR_LICENSE_PLATE", "NG_VEHICLE_REGISTRATION", "PH_PASSPORT", "PH_TIN", "PH_UMID", "TR_LICENSE_PLATE",
    "ZA_COMPANY_REGISTRATION", "ZA_DRIVER_LICENSE", "ZA_LICENSE_PLATE", "ZA_PASSPORT", "ZA_TRAFFIC_REGISTER_NUMBER",
    "ZA_VAT_NUMBER", "CARD_LAST4", "ID", "PASSPORT", "DRIVER_LICENSE", "BANK_ACCOUNT", "LICENSE_PLATE",
    "MEDICAL_RECORD", "CVV", "PIN", "OTP",
    "TAX_ID", "NATIONAL_ID", "COMPANY_ID", "BE_NN", "AT_VNR", "MX_CURP", "MX_RFC", "AR_CUIT", "CL_RUT", "PT_NIF",
    "DK_CPR", "NO_FNR", "IE_PPS", "CZ_RC", "RO_CNP", "BG_EGN", "EE_IK", "LT_ASMENS", "HR_OIB", "GR_AMKA", "IL_ID",
    "RU_INN", "CN_RIC", "JP_MY_NUMBER", "ID_NIK", "MY_NRIC", "PK_CNIC", "NZ_IRD",
)  # fmt: skip
"""Types whose shape is all that is kept: most have no published check digit."""


def number(seed: Seed, value: str, *, kind: str) -> str:
    """Another number: by its letters and digits alone, unless the type has a range of its own."""
    body = _plain(value)
    if body is None:
        return shaped(seed, "NUMBER", value)
    if kind in APART:
        checked: tuple[str, ...] = (kind,) if kind in CHECKS and CHECKS[kind](body) else ()
        told, form = kind, FORMS.get(kind, {}).get(len(body))
    else:
        checked = held(body)
        told, form = form_of(body, FORMS)
    made = _other(seed, body, form, told, checked)
    if made is None:
        return shaped(seed, kind if kind in APART else "NUMBER", value)
    return refill(value, like_cased(compact(value), made), str.isalnum)


def _other(seed: Seed, body: str, form: str | None, told: str, checked: tuple[str, ...]) -> str | None:
    """Letters and digits of the form that hold the same check digits, or None where there is nothing to hold."""
    if form is None and not checked:
        return None
    tokens = _TOKEN.findall(form or "*" * len(body))
    boxes = leading([_options(place, char) for place, char in zip(tokens, body, strict=True)], body)
    inside = all(char in box for char, box in zip(body, boxes, strict=True))
    same = inside and told not in APART
    label = f"NUMBER\x1f{shape_of(body)}\x1f{'' if same else told}"
    first = told if told in checked else next(iter(checked), "")
    for needed in dict.fromkeys((checked, (first,) if first else ())):
        exactly = checked if same and needed == checked else None
        for text in _solved(seed, f"{label}\x1f{'+'.join(needed)}", body, boxes, needed):
            if exactly is None or held(text) == exactly:
                return text
    return None


def _solved(seed: Seed, label: str, body: str, boxes: list[str], needed: tuple[str, ...]) -> Iterator[str]:
    """What follows in the keyed cycle of all but the check digits, each with the check digits that hold."""
    free = len(body) - max((_CHECK_DIGITS.get(kind, 1) for kind in needed), default=0)
    inside = all(char in box for char, box in zip(body[:free], boxes, strict=False))
    classes = boxes if inside else leading([alphabet(char) or char for char in body], body)
    size = prod(map(len, boxes[:free]))
    block, start = divmod(place_in(classes[:free], body[:free]), size)
    attempts = _ATTEMPTS_AT_MANY if len(needed) > 1 else _ATTEMPTS
    ends = ["".join(one) for one in product(*boxes[free:])]
    for place in islice(seed.others(f"{label}\x1f{block}", start, size), attempts):
        head = at_place(boxes[:free], place)
        found = next((head + end for end in ends if all(_holds(one, head + end) for one in needed)), None)
        if found is not None:
            yield found


def _holds(kind: str, body: str) -> bool:
    return CHECKS[kind](body) if kind in APART else holds(kind, body)


def card(seed: Seed, value: str) -> str:
    """A card number of nobody's issuer, Luhn included; a short one keeps its shape."""
    body = _plain(value)
    if body is None or len(body) < 12 or not body.isdecimal():
        return shaped(seed, "CREDIT_CARD", value)
    issuer, account = body[:6], body[6:-1]
    wrong = (int(body[-1]) - int(calc_check_digit(body[:-1]))) % 10
    label = f"CREDIT_CARD\x1f{issuer}\x1f{wrong}"
    fresh = seed.shifted(label, int(account), 10 ** len(account))
    made = f"999999{fresh:0{len(account)}d}"
    return refill(value, made + calc_check_digit(made), str.isalnum)


def iban(seed: Seed, value: str) -> str:
    """An account at no bank of the same country; what is no IBAN keeps its shape."""
    from stdnum.iban import calc_check_digits

    body = capitals(compact(value))
    if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{7,30}", body) is None:
        return shaped(seed, "IBAN_CODE", value)
    bank = "".join("0" if char.isdecimal() else "X" for char in body[4:8])
    boxes = [alphabet(char) for char in body[8:]]
    valid = CHECKS["IBAN_CODE"](body)
    label = f"IBAN_CODE\x1f{body[:2]}{body[4:8]}{shape_of(body)}\x1f{'' if valid else body[2:4]}"
    made = body
    for rest in islice(seed.others(label, place_in(boxes, body[8:]), prod(map(len, boxes))), _ATTEMPTS):
        text = at_place(boxes, rest)
        made = body[:2] + calc_check_digits(f"{body[:2]}00{bank}{text}") + bank + text
        if not valid or CHECKS["IBAN_CODE"](made):
            break
    return refill(value, like_cased(compact(value), made), str.isalnum)


def _plain(value: str) -> str | None:
    """Its letters and digits in capitals and ASCII digits; None where they become others in number."""
    plain = capitals(unicodedata.normalize("NFKC", compact(value)))
    same = len(plain) == len(compact(value))
    return "".join(str(int(char)) if char.isdecimal() else char for char in plain) if same else None


def _options(place: str, char: str) -> str:
    if place == "*":
        return alphabet(char) or char
    if place == "=":
        return char
    if place.startswith("["):
        return _range(place[1:-1])
    return place.lower() if char.islower() else place


def _range(choice: str) -> str:
    return re.sub(r"(\w)-(\w)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), choice)


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {
    **{kind: partial(number, kind=kind) for kind in {*FORMS, *CHECKS}},
    **{kind: partial(number, kind=kind) for kind in _PLAIN},
    "CREDIT_CARD": card,
    "IBAN_CODE": iban,
}
