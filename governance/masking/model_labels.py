"""What the labels of a tagging model are called here.

Theory. Models name the same things in many ways (``B-PER``, ``PS``, ``GIVENNAME``, ``person name``). A label is taken
without its place in the span (``split``) and folded to its letters and digits, then looked up: first in what the owner
of the model wrote beside it, then in the table here. Nobody is asked to guess: a label that neither names is an error,
since what it marks may be personal. A label that means nothing personal is named with an empty type.

``LOCATION`` is a street address here, as everywhere in masking; a place on a map is ``GPE``. Labels of ids without any
kind (``ID``) are not in the table: such ids join records, and only the owner knows which of them name a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from governance.errors import MaskingError
from governance.masking.entity_types import known_types
from governance.masking.words import listed

NOTHING: Final = ""
"""The type of a label that marks nothing personal."""
_PLACE: Final = "BILOUSEMW"
_FIRST: Final = frozenset("BSU")
"""Signs of the first or only token of a span, in BIO, BILOU, BIOES and BMEWO."""
_BEFORE: Final = re.compile(rf"(?P<place>[{_PLACE}])[-_](?P<name>.+)")
_BEHIND: Final = re.compile(rf"(?P<name>.+)-(?P<place>[{_PLACE}])")
_NAMES: Final = {
    "PERSON": """
        per person pers ps name personname fullname firstname lastname middlename givenname surname familyname namegiven
        namefamily namestudent patient doctor staff hcw username prefixname privateperson
    """,
    "ORGANIZATION": "org organization organisation og company companyname corporation vendor hospital patorg facility",
    "GPE": "loc location lc gpe city country state county province region place fac",
    "LOCATION": """
        address street streetaddress buildingnumber buildingnum secondaryaddress secaddress streetname postaladdress
        mailingaddress fulladdress privateaddress
    """,
    "NRP": "nrp norp nationality",
    "EMAIL_ADDRESS": "email emailaddress mail privateemail",
    "PHONE_NUMBER": "phone phonenumber phonenum telephonenum telephonenumber tel mobile mobilephonenumber privatephone",
    "DATE_OF_BIRTH": "dateofbirth dob birthdate birthday bod",
    "DATE_TIME": "date datetime time dat dt ti privatedate",
    "AGE": "age",
    "ZIP_CODE": "zip zipcode postcode postalcode",
    "CREDIT_CARD": "creditcard creditcardnumber cardnumber creditdebitcard",
    "CVV": "cvv creditcardcvv cvc",
    "IBAN_CODE": "iban ibancode",
    "BANK_ACCOUNT": "bankaccount bankaccountnumber accountnumber accountnum",
    "CRYPTO": "bitcoinaddress ethereumaddress litecoinaddress cryptowallet",
    "US_SSN": "ssn socialnum socialsecuritynumber usssn",
    "NATIONAL_ID": "nationalid nationalidnumber idcard idcardnum identitycardnumber idnum",
    "PASSPORT": "passport passportnumber passportnum",
    "DRIVER_LICENSE": "driverlicense driverslicense driverlicensenum driverslicensenumber drivinglicense",
    "TAX_ID": "taxid taxnum taxnumber taxidentificationnumber",
    "LICENSE_PLATE": "licenseplate licenseplatenumber vehiclevrm vehicleregistrationnumber",
    "IP_ADDRESS": "ip ipaddress ipv4 ipv6",
    "MAC_ADDRESS": "mac macaddress",
    "URL": "url privateurl",
    "MEDICAL_RECORD": "medicalrecord medicalrecordnumber mrn",
    "SECRET": "password secret apikey accesstoken",
    "PIN": "pin",
    NOTHING: """
        o misc cardinal ordinal money percent quantity product event language law workofart currency currencycode
        currencysymbol currencyname amount mis
    """,
}
TABLE: Final = {folded: entity for entity, names in _NAMES.items() for folded in listed(names)}
"""Folded label to entity type."""


def split(label: str) -> tuple[str, bool]:
    """A label without the sign of a token's place in its span, and whether that sign says that a span begins."""
    match = _BEFORE.fullmatch(label) or _BEHIND.fullmatch(label)
    return (match["name"], match["place"] in _FIRST) if match else (label, False)


def types_of(labels: list[str], own: Mapping[str, str], where: str) -> dict[str, str]:
    """Label (without its place) to entity type; ``own`` is what the owner of the model wrote.

    Raises:
        MaskingError: naming every label that has no type, and every type that does not exist.

    """
    wrong = sorted({entity for entity in own.values() if entity} - known_types())
    if wrong:
        raise MaskingError(f"{where}: no finding has the type {', '.join(wrong)}")
    chosen = {**TABLE, **{fold(name): entity for name, entity in own.items()}}
    names = dict.fromkeys(split(label)[0] for label in labels)
    unknown = [name for name in names if fold(name) not in chosen]
    if unknown:
        raise MaskingError(f"{where}: say what the labels {', '.join(unknown)} mean: a type, or nothing")
    return {name: chosen[fold(name)] for name in names}


def fold(label: str) -> str:
    """A label as its letters and digits in lower case."""
    return "".join(char for char in label.casefold() if char.isalnum())
