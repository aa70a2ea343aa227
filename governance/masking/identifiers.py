"""Which country's identifier a value is, when only the name of its field says that it is one.

Theory. ``passport_number`` says what the value is and not whose. The value then decides: the first type of the family
whose form it has, and whose check digits are valid where they are published; so the same value has the same type, and
the same surrogate, wherever a field of that family holds it. The order goes from the form that only one country has to
the form that many share. A value of no known form is of the family's general type: it is masked all the same.
"""

from __future__ import annotations

import re
from typing import Final

from governance.masking.makers.checks import CHECKS

_FORMS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "PASSPORT": (
        ("KR_PASSPORT", r"[MSROD]\d{3}[A-Z]\d{4}|[MSROD]\d{8}"), ("IN_PASSPORT", r"[A-Z][1-9]\d{5}[1-9]"),
        ("ES_PASSPORT", r"[A-Z]{3}\d{6}"), ("PH_PASSPORT", r"[A-Z]\d{7}[A-Z]"), ("UK_PASSPORT", r"[A-Z]{2}\d{7}"),
        ("US_PASSPORT", r"[A-Z]?\d{8,9}"), ("DE_PASSPORT", r"[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}"),
    ),
    "DRIVER_LICENSE": (
        ("KR_DRIVER_LICENSE", r"(?:1[1-9]|2[0-8])\d{10}"), ("UK_DRIVING_LICENCE", r"[A-Z9]{5}\d{6}[A-Z9]{2}\w[A-Z]{2}"),
        ("DE_FUEHRERSCHEIN", r"[A-Z]{2}\d{8}[A-Z0-9]"), ("IT_DRIVER_LICENSE", r"[A-Z]{2}\d{7}[A-Z]"),
        ("US_DRIVER_LICENSE", r"[A-Z]{0,2}\d{5,14}|\d{2,9}[A-Z]{2,3}\d{0,6}"),
    ),
    "TAX_ID": (
        ("IT_FISCAL_CODE", r"[A-Z0-9]{16}"), ("IN_PAN", r"[A-Z]{5}\d{4}[A-Z]"), ("ES_NIE", r"[XYZ]\d{7}[A-Z]"),
        ("ES_NIF", r"\d{8}[A-Z]"), ("DE_TAX_ID", r"[1-9]\d{10}"), ("BR_CPF", r"\d{11}"), ("US_ITIN", r"9\d{8}"),
        ("AU_TFN", r"\d{8,9}"), ("US_SSN", r"\d{9}"),
    ),
    "NATIONAL_ID": (
        ("KR_RRN", r"\d{6}[1-4]\d{6}"), ("KR_FRN", r"\d{6}[5-8]\d{6}"),
        ("FI_PERSONAL_IDENTITY_CODE", r"\d{6}[-+A-FU-Y]?\d{3}[0-9A-Z]"), ("SG_NRIC_FIN", r"[STFGM]\d{7}[A-Z]"),
        ("ES_NIE", r"[XYZ]\d{7}[A-Z]"), ("ES_NIF", r"\d{8}[A-Z]"), ("IT_FISCAL_CODE", r"[A-Z0-9]{16}"),
        ("UK_NINO", r"[A-Z]{2}\d{6}[A-D]"), ("IN_AADHAAR", r"[2-9]\d{11}"), ("TH_TNIN", r"[1-9]\d{12}"),
        ("ZA_ID_NUMBER", r"\d{13}"), ("TR_NATIONAL_ID", r"[1-9]\d{10}"), ("PL_PESEL", r"\d{11}"),
        ("SE_PERSONNUMMER", r"\d{10}|\d{12}"), ("DE_ID_CARD", r"[A-Z0-9]{9}"), ("CA_SIN", r"\d{9}"),
        ("US_SSN", r"\d{9}"),
    ),
    "BANK_ACCOUNT": (
        ("IBAN_CODE", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}"), ("US_BANK_NUMBER", r"\d{8,17}"),
    ),
    "COMPANY_ID": (
        ("KR_BRN", r"\d{10}"), ("KR_CRN", r"\d{13}"), ("DE_VAT_ID", r"DE\d{9}"), ("AU_ABN", r"\d{11}"),
        ("IT_VAT_CODE", r"\d{11}"), ("BR_CNPJ", r"\d{14}"), ("IN_GSTIN", r"[0-9A-Z]{15}"),
    ),
}  # fmt: skip
"""Family to its types in order, each with the form of its letters and digits."""
_PLAIN_HYPHENS: Final = re.compile(r"\d{2,6}-\d{2,6}-\d{2,7}(?:-\d{1,3})?")
FAMILIES: Final = frozenset(_FORMS)
"""Types that a field's name tells without the country."""

TYPES: Final = FAMILIES | {entity for forms in _FORMS.values() for entity, _ in forms}
"""All types of identifiers that a field may tell."""
FAMILY_OF: Final[dict[str, str]] = {
    **{entity: family for family, forms in reversed(_FORMS.items()) for entity, _ in forms},
    "KR_BANK_ACCOUNT": "BANK_ACCOUNT", "IT_PASSPORT": "PASSPORT", "ZA_PASSPORT": "PASSPORT",
    "ZA_DRIVER_LICENSE": "DRIVER_LICENSE",
}  # fmt: skip
"""Type to the family whose words it shares."""


def told_by_value(entity: str, value: str) -> str:
    """The type of a value that shared words say to be an identifier: as in a field, whatever recogniser saw it."""
    family = FAMILY_OF.get(entity, entity)
    told = of_value(family, value)
    return entity if told == family else told


def of_value(family: str, value: str) -> str:
    """The type of a value in a field of the family; the family itself when the value has no known form."""
    if family == "BANK_ACCOUNT" and _PLAIN_HYPHENS.fullmatch(value.strip()):
        return "KR_BANK_ACCOUNT"
    bare = re.sub(r"[\s.\-/_]", "", value).upper()
    for entity, form in _FORMS.get(family, ()):
        if re.fullmatch(form, bare) and _valid(entity, bare):
            return entity
    return family


def _valid(entity: str, bare: str) -> bool:
    """Registration numbers are random since 2020: their birth date is what can be wrong."""
    if entity in {"KR_RRN", "KR_FRN"}:
        return 1 <= int(bare[2:4]) <= 12 and 1 <= int(bare[4:6]) <= 31
    check = CHECKS.get(entity)
    return check is None or check(bare)
