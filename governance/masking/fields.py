"""What the name of a JSON field says about its value.

Theory. A field name is the best evidence there is: ``dob`` and ``date`` hold values of one shape, and only the name
tells which is personal. Names are folded (case, camelCase, dots) and looked up. Where a name is ambiguous (``name``,
``city``, ``id``), its surroundings decide: the field above, or the fields beside it. A name that says nothing leaves
the value to the detectors, as somebody's words (``TEXT``) where the name says so, else as data.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from governance.masking.detection import TextKind
from governance.masking.words import listed

_PERSON: Final = frozenset(
    listed(
        """
        first_name last_name full_name given_name family_name middle_name surname maiden_name firstname
        lastname fullname customer_name passenger_name user_full_name contact_name recipient_name cardholder
        cardholder_name patient_name employee_name account_holder person_name guest_name holder_name
        person_first_name person_last_name
        """
    )
)
TYPES: Final[dict[str, str]] = {
    **dict.fromkeys(_PERSON, "PERSON"),
    **dict.fromkeys(("email", "e_mail", "email_address", "emails", "mail_address", "contact_email"), "EMAIL_ADDRESS"),
    **dict.fromkeys(
        ("phone", "phone_number", "phones", "phone_numbers", "mobile", "mobile_number", "telephone", "cell_phone"),
        "PHONE_NUMBER",
    ),
    **dict.fromkeys(("dob", "date_of_birth", "birth_date", "birthdate", "birthday"), "DATE_OF_BIRTH"),
    **dict.fromkeys(("ssn", "social_security_number"), "US_SSN"),
    **dict.fromkeys(("card_number", "credit_card_number", "cc_number"), "CREDIT_CARD"),
    **dict.fromkeys(("last_four", "last4", "card_last4", "card_last_four"), "CARD_LAST4"),
    **dict.fromkeys(("iban",), "IBAN_CODE"),
    **dict.fromkeys(("street", "street_address", "address1", "address2", "address_line1", "address_line2",
                     "address_line_1", "address_line_2", "home_address", "shipping_address", "billing_address",
                     "postal_address", "mailing_address"), "LOCATION"),
    **dict.fromkeys(("user_id", "userid", "customer_id", "enduser_id", "username", "user_name", "login", "patient_id",
                     "member_id", "user"), "USER_ID"),
}  # fmt: skip
_PLACE_PARTS: Final = frozenset({"city", "town", "zip", "zip_code", "zipcode", "postal_code", "postcode"})
_NAME_PARTS: Final = frozenset({"name", "first", "last", "middle", "family", "given"})
_PEOPLE: Final = frozenset(
    listed(
        """
        user users enduser customer customers passenger passengers person people contact contacts patient
        recipient guest traveler traveller employee owner cardholder saved_passengers member sender payer
        """
    )
)
_TELLS_PERSON: Final = frozenset(
    key for key, kind in TYPES.items() if kind in {"EMAIL_ADDRESS", "PHONE_NUMBER", "DATE_OF_BIRTH", "US_SSN"}
) | {"first_name", "last_name", "address", "customer_id", "user_id"}
_TEXT_KEYS: Final = frozenset(
    listed(
        """
        text content message body comment comments note notes description reason explanation summary query
        question answer instruction instructions prompt subject title feedback error status_message
        stacktrace value input output reply transcript details detail gen_ai_input_messages
        gen_ai_output_messages
        """
    )
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def fold(key: str) -> tuple[str, ...]:
    """The parts of a field name between dots, each in lower snake case."""
    return tuple(_HUMP.sub("_", part).lower().replace("-", "_").strip() for part in key.split(".") if part)


def forced_type(path: tuple[str, ...], siblings: Collection[str]) -> str | None:
    """The entity type that the field at ``path`` (folded names, outermost first) holds, or None."""
    if not path:
        return None
    key, above = path[-1], path[-2] if len(path) > 1 else ""
    if key in TYPES:
        return _whose(key, siblings)
    if key in _PLACE_PARTS and ("address" in above or {"street", "address1", "street_address"} & set(siblings)):
        return "LOCATION"
    if key == "address" and (above in _PEOPLE or _TELLS_PERSON - {"address"} & set(siblings)):
        return "LOCATION"
    if key in _NAME_PARTS and (above == "name" or (key == "name" and _of_person(above, siblings))):
        return "PERSON"
    return "USER_ID" if key == "id" and above in {"user", "enduser", "customer"} else None


def _whose(key: str, siblings: Collection[str]) -> str | None:
    if key == "user" and {"role", "content", "parts"} & set(siblings):
        return None
    return TYPES[key]


def _of_person(above: str, siblings: Collection[str]) -> bool:
    return above in _PEOPLE or bool(_TELLS_PERSON & set(siblings))


def text_kind(path: tuple[str, ...], text: str) -> TextKind:
    """How the detectors shall take the text at ``path``; a text outside any field is somebody's words."""
    if not path or path[-1] in _TEXT_KEYS:
        return TextKind.TEXT
    return TextKind.FIELD if any(char.isspace() for char in text.strip()) else TextKind.CODE
