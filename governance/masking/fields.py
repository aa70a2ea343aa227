"""What the name of a JSON field says about its value.

Theory. A field name is the best evidence there is: ``dob`` and ``date`` hold values of one shape, and only the name
tells which is personal. Names are folded (case, camelCase, dots) and looked up. Where a name is ambiguous (``name``,
``city``, ``id``), its surroundings decide: the field above, or the fields beside it. A name that says nothing leaves
the value to the detectors, as somebody's words (``TEXT``) where the name says so, else as data. Of a passport, a tax id
and their like the name seldom says the country: the value does (``identifiers``).

Programs also write names apart from values: a value in a wrapper (``{"dob": {"value": ..}}``) has the name of what is
wrapped, and the value of a pair (``{"name": "dob", "value": ..}``) the name that the pair gives it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final

from governance.masking import special_fields
from governance.masking.detection import TextKind
from governance.masking.identifiers import FAMILIES, of_value
from governance.masking.identifiers import TYPES as IDENTIFIERS
from governance.masking.secret_fields import holds_secret, is_sure
from governance.masking.values import can_be
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
_SINGLE: Final = {
    "nino": "UK_NINO", "national_insurance_number": "UK_NINO", "nhs_number": "UK_NHS", "itin": "US_ITIN",
    "npi": "US_NPI", "mbi": "US_MBI", "routing_number": "ABA_ROUTING_NUMBER", "social_insurance_number": "CA_SIN",
    "tfn": "AU_TFN", "tax_file_number": "AU_TFN", "aadhaar": "IN_AADHAAR", "aadhaar_number": "IN_AADHAAR",
    "pan_number": "IN_PAN", "cpf": "BR_CPF", "cnpj": "BR_CNPJ", "nif": "ES_NIF", "nie": "ES_NIE", "dni": "ES_NIF",
    "codice_fiscale": "IT_FISCAL_CODE", "pesel": "PL_PESEL", "personnummer": "SE_PERSONNUMMER",
    "hetu": "FI_PERSONAL_IDENTITY_CODE", "bsn": "NL_BSN", "nric": "SG_NRIC_FIN", "steuer_id": "DE_TAX_ID",
    "ip": "IP_ADDRESS", "ip_address": "IP_ADDRESS", "client_ip": "IP_ADDRESS", "remote_addr": "IP_ADDRESS",
    "mac_address": "MAC_ADDRESS", "wallet_address": "CRYPTO", "btc_address": "CRYPTO",
    "이름": "PERSON", "성명": "PERSON", "성함": "PERSON", "고객명": "PERSON", "예약자명": "PERSON", "수령인": "PERSON",
    "수취인": "PERSON", "예금주": "PERSON", "회원명": "PERSON", "이메일": "EMAIL_ADDRESS", "전화번호": "PHONE_NUMBER",
    "휴대폰": "PHONE_NUMBER", "휴대폰번호": "PHONE_NUMBER", "휴대전화": "PHONE_NUMBER", "연락처": "PHONE_NUMBER",
    "생년월일": "DATE_OF_BIRTH", "주소": "LOCATION", "배송지": "LOCATION", "카드번호": "CREDIT_CARD",
}  # fmt: skip
TYPES: Final[dict[str, str]] = {
    **dict.fromkeys(_PERSON, "PERSON"),
    **dict.fromkeys(("email", "e_mail", "email_address", "emails", "mail_address", "contact_email"), "EMAIL_ADDRESS"),
    **dict.fromkeys(
        ("phone", "phone_number", "phones", "phone_numbers", "mobile", "mobile_number", "telephone", "cell_phone"),
        "PHONE_NUMBER",
    ),
    **dict.fromkeys(("dob", "date_of_birth", "birth_date", "birthdate", "birthday"), "DATE_OF_BIRTH"),
    **dict.fromkeys(("ssn", "social_security_number"), "US_SSN"),
    **dict.fromkeys(listed("""passport passport_number passport_no passport_num passport_id travel_document_number
                           여권번호 여권"""), "PASSPORT"),
    **dict.fromkeys(listed("""driver_license driver_license_number drivers_license drivers_license_number dl_number
                           driver_licence driving_licence driving_license driving_licence_number driver_license_no
                           운전면허번호 면허번호"""), "DRIVER_LICENSE"),
    **dict.fromkeys(listed("tax_id tax_number taxpayer_id tax_identification_number tin tax_no"), "TAX_ID"),
    **dict.fromkeys(listed("""national_id national_id_number nationalid identity_number identity_card id_card_number
                           personal_id_number national_identity_number citizen_id id_card government_id"""),
                    "NATIONAL_ID"),
    **dict.fromkeys(listed("""bank_account bank_account_number account_number account_no accountnumber 계좌번호
                           계좌 환불계좌"""), "BANK_ACCOUNT"),
    **dict.fromkeys(listed("""business_number business_registration_number company_registration_number vat_number
                           vat_id company_number 사업자등록번호 사업자번호"""), "COMPANY_ID"),
    **dict.fromkeys(listed("license_plate licence_plate plate_number number_plate vehicle_plate plate_no 차량번호"),
                    "LICENSE_PLATE"),
    **dict.fromkeys(listed("rrn resident_registration_number resident_number 주민등록번호 주민번호"), "KR_RRN"),
    **dict.fromkeys(listed("frn alien_registration_number foreigner_registration_number 외국인등록번호"), "KR_FRN"),
    **dict.fromkeys(listed("brn"), "KR_BRN"),
    **dict.fromkeys(listed("corporate_registration_number 법인등록번호"), "KR_CRN"),
    **_SINGLE,
    **dict.fromkeys(("card_number", "credit_card_number", "cc_number"), "CREDIT_CARD"),
    **dict.fromkeys(("last_four", "last4", "card_last4", "card_last_four"), "CARD_LAST4"),
    **dict.fromkeys(("iban",), "IBAN_CODE"),
    **dict.fromkeys(listed("""cvv cvv2 cvc cvc2 cvn csc card_cvv card_cvc card_security_code card_verification_code
                           card_verification_value security_code"""), "CVV"),
    **dict.fromkeys(listed("pin pin_number card_pin atm_pin account_pin debit_pin user_pin"), "PIN"),
    **dict.fromkeys(listed("""otp otp_code one_time_code one_time_password one_time_passcode one_time_pin passcode
                           verification_code authentication_code mfa_code two_factor_code login_code sms_code
                           totp_code 인증번호 인증코드"""), "OTP"),
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
_TELLS_ADDRESS: Final = _TELLS_PERSON - {"address"}
_TEXT_KEYS: Final = frozenset(
    listed(
        """
        text content message body comment comments note notes description reason explanation summary query
        question answer instruction instructions prompt subject title feedback error status_message
        stacktrace value input output reply transcript details detail gen_ai_input_messages
        gen_ai_output_messages prompts completion completions messages inputs outputs texts contents thoughts
        thinking reasoning utterance transcription document documents page_content observation observations
        """
    )
)
_WRAPPERS: Final = frozenset(
    listed(
        """
        value values val default example examples const current_value new_value old_value previous_value raw_value
        string_value int_value double_value
        """
    )
)
"""Names that say only that a value stands there."""
_LABELS: Final = frozenset(
    listed("name key field field_name label attribute attribute_name column header property param parameter question")
)
"""Fields that hold the name of the value beside them."""
_PAIRED: Final = _WRAPPERS | {"answer"}
_ALSO_PLAIN: Final = frozenset(listed("user username login phones pin passcode"))
"""Names that say what their own field holds, and as the words of a label mean other things too."""
_AMBIGUOUS: Final = _PLACE_PARTS | special_fields.BESIDE_A_PERSON.keys() | {"name", "address"}
_LONGEST_LABEL: Final = 60
_VERSIONS: Final = re.compile(
    r"(?:.*_)?(?:version|release|build|revision|firmware|section|chapter|clause)(?:_(?:number|no))?"
)
_NUMBERING: Final = re.compile(r"\s*v?\d{1,3}(?:\.\d{1,3}){3}\s*")
ALL_NAMES: Final = TYPES.keys() | special_fields.TYPES.keys() | _AMBIGUOUS
"""Every name that may say what its field holds."""
ALL_TYPES: Final = frozenset(TYPES.values()) | IDENTIFIERS | special_fields.CATEGORIES
"""Every type that a name, or the value under it, tells."""
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)
def fold(key: str) -> tuple[str, ...]:
    """The parts of a field name between dots, each in lower snake case; an index (``prompt.0.content``) is none."""
    parts = (part for part in key.split(".") if part and not part.isdecimal())
    return tuple(_HUMP.sub("_", part).lower().replace("-", "_").strip() for part in parts)


def forced_type(path: tuple[str, ...], siblings: Collection[str], text: str = "") -> str | None:
    """The entity type that the field at ``path`` (folded names, outermost first) holds, or None.

    Where the name tells an identifier and not its country, the value tells it. A value that cannot be of the type
    (``values``) has none.
    """
    named = _named_type(path, siblings, text)
    if named is None or named == "SECRET":
        return named
    return of_family(named, text) if can_be(named, text) else None


def is_known(name: str) -> bool:
    """Whether a name, folded, says by itself what its field holds."""
    return name in TYPES or name in special_fields.TYPES or is_sure(name)


def may_be_known(name: str) -> bool:
    """Whether a name, folded, says what its field holds, by itself or by what stands around it."""
    return is_known(name) or name in _AMBIGUOUS


def holds_label(parts: tuple[str, ...]) -> bool:
    """Whether a field, by its folded name, may hold the name of the value beside it."""
    return bool(parts) and parts[-1] in _LABELS


def label(text: Any) -> tuple[str, ...]:
    """The folded name that such a field gives; empty for what tells no type."""
    if not isinstance(text, str) or len(text) > _LONGEST_LABEL:
        return ()
    parts = fold("_".join(text.split()))
    told = (
        bool(parts) and parts[-1] not in _ALSO_PLAIN and (is_known(parts[-1]) or _named_type(parts, (), "") is not None)
    )
    return parts if told else ()


def paired(parts: tuple[str, ...], told: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a member's name in an object whose label is ``told``."""
    return told if told and parts and parts[-1] in _PAIRED else parts


def of_family(named: str, text: str) -> str | None:
    """The type of a value whose field names a type or a family of them."""
    return of_value(named, text) if named in FAMILIES else named


def _named_type(path: tuple[str, ...], siblings: Collection[str], text: str) -> str | None:
    if not path:
        return None
    if holds_secret(path, siblings, text):
        return "SECRET"
    key, above = path[-1], path[-2] if len(path) > 1 else ""
    if told := _whose(key, siblings) if key in TYPES else _special(key, above, siblings):
        return told
    if key in _PLACE_PARTS and (
        "address" in above or not {"street", "address1", "street_address"}.isdisjoint(siblings)
    ):
        return "LOCATION"
    if key == "address" and (above in _PEOPLE or not _TELLS_ADDRESS.isdisjoint(siblings)):
        return "LOCATION"
    if key in _NAME_PARTS and (above == "name" or (key == "name" and _of_person(above, siblings))):
        return "PERSON"
    if key == "id" and above in {"user", "enduser", "customer"}:
        return "USER_ID"
    return _named_type(path[:-1], (), text) if key in _WRAPPERS and above not in _ALSO_PLAIN else None


def _special(key: str, above: str, siblings: Collection[str]) -> str | None:
    if key in special_fields.BESIDE_A_PERSON and _of_person(above, siblings):
        return special_fields.BESIDE_A_PERSON[key]
    return special_fields.TYPES.get(key)


def _whose(key: str, siblings: Collection[str]) -> str | None:
    if key == "user" and not {"role", "content", "parts"}.isdisjoint(siblings):
        return None
    return TYPES[key]


def _of_person(above: str, siblings: Collection[str]) -> bool:
    return above in _PEOPLE or not _TELLS_PERSON.isdisjoint(siblings)


def text_kind(path: tuple[str, ...], text: str) -> TextKind:
    """How the detectors shall take the text at ``path``; a text outside any field is somebody's words."""
    if not path or path[-1] in _TEXT_KEYS:
        return TextKind.TEXT
    if _VERSIONS.fullmatch(path[-1]) and _NUMBERING.fullmatch(text):
        return TextKind.NUMBERING
    return TextKind.FIELD if any(char.isspace() for char in text.strip()) else TextKind.CODE
