"""Check digits: whether a number holds its specification's own, by entity type.

python-stdnum knows most of them. Those that it lacks stand here, each after its source. A function takes the letters
and digits of a number, in capitals; any other text, of any script, is one whose check digits do not hold: none raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from importlib import import_module
from typing import Final

Check = Callable[[str], bool]


@lru_cache(maxsize=64)
def stdnum(module: str, **options: bool) -> Check:
    """The check of python-stdnum's module."""

    @lru_cache(maxsize=1)
    def known() -> Callable[..., bool]:
        is_valid: Callable[..., bool] = import_module(f"stdnum.{module}").is_valid
        return is_valid

    def valid(number: str) -> bool:
        try:
            found = known()(number, **options)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # some of its checks trip over what is no number of their kind
            return False
        return found

    return valid


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    return number.isdecimal() and stdnum("luhn")(number)


def npi(number: str) -> bool:
    """US National Provider Identifier: Luhn behind the prefix 80840 (45 CFR 162.406)."""
    return len(number) == 10 and luhn(f"80840{number}")


def dea(number: str) -> bool:
    """US DEA number: twice the even places and the odd ones, modulo 10."""
    digits = [int(char) for char in number[2:] if char.isdecimal()]
    if len(digits) != 7:
        return False
    return (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]


def icao(number: str) -> bool:
    """Machine-readable travel documents: weights 7, 3, 1, letters from A=10 (ICAO Doc 9303-3, 4.9)."""
    if re.fullmatch(r"[A-Z0-9]{8}[0-9]", number) is None:
        return False
    return sum(int(char, 36) * (7, 3, 1)[place % 3] for place, char in enumerate(number[:-1])) % 10 == int(number[-1])


def kvnr(number: str) -> bool:
    """German health insurance number: Luhn from the left, the letter as two digits (section 290 SGB V)."""
    if re.fullmatch(r"[A-Z]\d{9}", number) is None:
        return False
    digits = f"{ord(number[0]) - 64:02d}{number[1:9]}"
    total = sum(sum(divmod(int(char) * (1 + place % 2), 10)) for place, char in enumerate(digits))
    return total % 10 == int(number[9])


def rvnr(number: str) -> bool:
    """German pension insurance number (section 4 VKVV)."""
    if re.fullmatch(r"\d{2}(?:[0-2]\d|3[01]|[5-7]\d|8[01])(?:0[1-9]|1[0-2])\d{2}[A-Z]\d{3}", number) is None:
        return False
    digits = f"{number[:8]}{ord(number[8]) - 64:02d}{number[9:11]}"
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(sum(divmod(int(char) * weight, 10)) for char, weight in zip(digits, weights, strict=True))
    return number[2:4] not in {"00", "50"} and total % 10 == int(number[11])


def lanr(number: str) -> bool:
    """German physician number (KBV guideline of section 75 (7) SGB V)."""
    if re.fullmatch(r"\d{9}", number) is None:
        return False
    return -sum(int(char) * (4, 9)[place % 2] for place, char in enumerate(number[:6])) % 10 == int(number[6])


def medicare(number: str) -> bool:
    """Australian Medicare number: weights 1, 3, 7, 9 over eight digits (Services Australia)."""
    if re.fullmatch(r"[2-6]\d{9,10}", number) is None:
        return False
    weights = (1, 3, 7, 9, 1, 3, 7, 9)
    return sum(int(char) * weight for char, weight in zip(number, weights, strict=False)) % 10 == int(number[8])


def nric(number: str) -> bool:
    """Singapore NRIC and FIN: weights 2, 7, 6, 5, 4, 3, 2 and a letter (ICA)."""
    if re.fullmatch(r"[STFGM]\d{7}[A-Z]", number) is None:
        return False
    total = sum(int(char) * weight for char, weight in zip(number[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))
    letters = {"S": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "M": "KLJNPQRTUWX"}
    first = {"T": "S", "G": "F"}.get(number[0], number[0])
    total += 4 if number[0] in "TG" else 3 if number[0] == "M" else 0
    place = total % 11 if first != "M" else 10 - total % 11
    return number[8] == letters[first][place]


def hetu(number: str) -> bool:
    """Finnish personal identity code, with or without the sign of its century."""
    whole = f"{number[:6]}-{number[6:]}" if len(number) == 10 else number
    return stdnum("fi.hetu", allow_temporary=True)(whole)


def frn(number: str) -> bool:
    """Korean foreigner registration number: as the resident number, plus two (Immigration Act, form 61)."""
    if re.fullmatch(r"\d{6}[5-8]\d{6}", number) is None or not _born(number):
        return False
    weights = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)
    total = sum(int(char) * weight for char, weight in zip(number, weights, strict=False))
    return (13 - total % 11) % 10 == int(number[12])


def crn(number: str) -> bool:
    """Korean corporate registration number: weights 1 and 2, modulo 10 (rules on the registration of corporations)."""
    if re.fullmatch(r"\d{13}", number) is None:
        return False
    return -sum(int(char) * (1, 2)[place % 2] for place, char in enumerate(number[:12])) % 10 == int(number[12])


def brn(number: str) -> bool:
    """Korean business number: weights 1 3 7 1 3 7 1 3 5 and the tens of the last product (National Tax Service)."""
    if not number.isdecimal() or not stdnum("kr.brn")(number):
        return False
    weights = (1, 3, 7, 1, 3, 7, 1, 3, 5)
    total = sum(int(char) * weight for char, weight in zip(number, weights, strict=False)) + int(number[8]) * 5 // 10
    return -total % 10 == int(number[9])


def _born(number: str) -> bool:
    try:
        date(2000, int(number[2:4]), int(number[4:6]))
    except ValueError:
        return False
    return True


CHECKS: Final[Mapping[str, Check]] = {
    "CREDIT_CARD": luhn, "IBAN_CODE": stdnum("iban"), "US_NPI": npi, "MEDICAL_LICENSE": dea,
    "US_ITIN": stdnum("us.itin"), "ABA_ROUTING_NUMBER": stdnum("us.rtn"), "UK_NHS": stdnum("gb.nhs"),
    "DE_TAX_ID": stdnum("de.idnr"), "DE_VAT_ID": stdnum("de.vat"), "DE_ID_CARD": icao, "DE_PASSPORT": icao,
    "DE_HEALTH_INSURANCE": kvnr, "DE_SOCIAL_SECURITY": rvnr, "DE_LANR": lanr, "ES_NIF": stdnum("es.nif"),
    "ES_NIE": stdnum("es.nie"), "IT_FISCAL_CODE": stdnum("it.codicefiscale"), "IT_VAT_CODE": stdnum("it.iva"),
    "PL_PESEL": stdnum("pl.pesel"), "FI_PERSONAL_IDENTITY_CODE": hetu, "SE_PERSONNUMMER": stdnum("se.personnummer"),
    "SE_ORGANISATIONSNUMMER": stdnum("se.orgnr"), "FR_NIR": stdnum("fr.nir"), "NL_BSN": stdnum("nl.bsn"),
    "BR_CPF": stdnum("br.cpf"), "BR_CNPJ": stdnum("br.cnpj"), "CH_AHV": stdnum("ch.ssn"),
    "IN_AADHAAR": stdnum("verhoeff"), "IN_GSTIN": stdnum("in_.gstin"), "IN_PAN": stdnum("in_.pan"),
    "AU_ABN": stdnum("au.abn"), "AU_ACN": stdnum("au.acn"), "AU_TFN": stdnum("au.tfn"), "AU_MEDICARE": medicare,
    "CA_SIN": stdnum("ca.sin"), "SG_NRIC_FIN": nric, "SG_UEN": stdnum("sg.uen"), "TH_TNIN": stdnum("th.pin"),
    "TR_NATIONAL_ID": stdnum("tr.tckimlik"), "NG_NIN": stdnum("verhoeff"), "ZA_ID_NUMBER": stdnum("za.idnr"),
    "ZA_INCOME_TAX_NUMBER": stdnum("za.tin"), "KR_RRN": stdnum("kr.rrn"), "KR_FRN": frn, "KR_BRN": brn,
    "KR_CRN": crn,
}  # fmt: skip
"""Entity type to the check of its numbers; a type that is not here has no published one."""
