"""Numbers by which states know people, vehicles and companies: Presidio's recognisers of every country.

Theory. Presidio knows the shapes and the check digits. What it scores by shape is weighed again (``evidence``), since
in the traffic of agents most numbers of a shape are order numbers, page ids and times. Each line of the table names
the recogniser, the digits that any of its matches has (its necessary condition), its own words beside Presidio's, and
the group whose words it shares. Of Presidio's words the general ones (``GENERAL``) are left out: they stand beside any
number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from presidio_analyzer import Pattern
from presidio_analyzer import predefined_recognizers as presidio

from governance.masking import words
from governance.masking.profile import TextProfile
from governance.masking.recognisers.evidence import Evidenced, Sure
from governance.masking.recognisers.kit import Listed, always, pattern
from governance.masking.weights import ALONE

SHARED: Final[dict[str, tuple[str, ...]]] = {
    "": (),
    "passport": ("passport", "passport number", "passport no", "travel document", "document number", "passport#"),
    "driver": ("driver license", "drivers license", "driver's license", "driver licence", "driver's licence",
               "driving license", "driving licence", "license number", "licence number", "dl number", "dl no",
               "driver license number", "drivers licence"),
    "tax": ("tax id", "taxpayer id", "tax number", "tax identification number", "tin", "taxpayer", "tax id number"),
    "identity": ("national id", "identity card", "id card", "identity number", "national identity",
                 "national identification number", "citizen id", "id number", "personal number"),
    "plate": ("license plate", "licence plate", "number plate", "plate number", "registration plate", "plate",
              "vehicle registration", "car registration", "license plate number"),
    "health": ("health insurance number", "health card", "health number", "medicare", "insurance number"),
    "company": ("vat", "vat id", "vat number", "company number", "company registration", "business number",
                "business registration number", "company registration number", "tax registration"),
    "postal": ("postcode", "post code", "postal code", "zip code", "zip", "postal"),
    "bank": ("bank account", "account number", "account no", "acct", "acct no", "checking account",
             "savings account", "bank account number", "account#"),
}  # fmt: skip
"""Words that several countries' numbers share."""
GENERAL: Final = frozenset(
    {
        *(word for line in SHARED.values() for word in line),
        *words.listed(
            """
            us united states travel document passport# individual payer tax taxid check account save debit bank id
            identity registration vehicle auto car mot reg insured fahrzeug pkw lkw firma gesellschaft ag ug kg ohg
            gmbh adresse ort stadt dorf gemeinde bundesland straße strasse hausnummer rente praxis rezept hausarzt
            facharzt finanzamt rechnung invoice zulassung pass carta documento elettronica elettronico italiano
            viaggio viaggiare estero pi licenza canada ontario quebec alberta address delivery mailing shipping
            correspondence member subscriber insurance policy claim billing authorization auth approval medication
            specialty provider taxonomy permit lic identification license licence driving driver kay\u0131t
            identificación fev kba mrz nas transaction date medical certificate association number beneficiary sss
            dfa bir rdo crn
            """
        ),
        "insured vehicle", "tax invoice", "dokument nr", "her majesty", "his majesty", "british columbia",
    }
)  # fmt: skip
"""Words of Presidio's lists that stand beside any number; the shared ones score as shared."""


@dataclass(frozen=True)
class Kind:
    """One recogniser of Presidio, and what is asked of a match."""

    name: str
    digits: int
    """Every match has at least that many."""
    group: str = ""
    own: str = ""
    """Words beside Presidio's, parted by semicolons."""
    sure: Sure | None = None
    shape: str | None = None
    """In place of Presidio's."""
    condition: Callable[[TextProfile], bool] = always
    """A necessary condition beside the digits."""


def _if_checked(matched: str, checked: bool) -> float | None:  # noqa: ARG001, FBT001 - the signature of Sure
    return 0.85 if checked else None


def _if_like(shape: str, score: float) -> Sure:
    compiled = re.compile(shape, re.IGNORECASE)
    return lambda matched, checked: score if compiled.fullmatch(matched) else None  # noqa: ARG005


def _run(length: int) -> Callable[[TextProfile], bool]:
    return lambda profile: re.search(rf"\w{{{length}}}", profile.text) is not None


def _register(profile: TextProfile) -> bool:
    return "hr" in profile.folded


KINDS: Final = (
    Kind("AbaRoutingRecognizer", 9, own="routing number; routing; aba; ach"),
    Kind("AuAbnRecognizer", 11, "company", "abn; australian business number"),
    Kind("AuAcnRecognizer", 9, "company", "acn; australian company number"),
    Kind("AuMedicareRecognizer", 10, "health", "medicare number"),
    Kind("AuTfnRecognizer", 9, "tax", "tfn; tax file number"),
    Kind("CaPostalCodeRecognizer", 3, "postal", "code postal"),
    Kind("CaSinRecognizer", 9, "identity", "sin number; social insurance; nas"),
    Kind("DeBsnrRecognizer", 9),
    Kind("DeFuehrerscheinRecognizer", 8, "driver"),
    Kind("DeHandelsregisterRecognizer", 1, "company", sure=_if_like(r"HR[AB]\s*\d+", 0.5), condition=_register),
    Kind("DeHealthInsuranceRecognizer", 9, "health"),
    Kind("DeIdCardRecognizer", 1, "identity"),
    Kind("DeKfzRecognizer", 1, "plate"),
    Kind("DeLanrRecognizer", 9),
    Kind("DePassportRecognizer", 1, "passport"),
    Kind("DePlzRecognizer", 5),
    Kind("DeSocialSecurityRecognizer", 11),
    Kind("DeTaxIdRecognizer", 11, "tax", "steuer-identifikationsnummer; identifikationsnummer"),
    Kind("DeTaxNumberRecognizer", 9, "tax"),
    Kind("DeVatIdRecognizer", 9, "company", "ust"),
    Kind("EsNieRecognizer", 7, "identity"),
    Kind("EsNifRecognizer", 7, "identity", "cif"),
    Kind("EsPassportRecognizer", 6, "passport"),
    Kind("FiPersonalIdentityCodeRecognizer", 9, "identity", sure=lambda _, checked: 0.5 if checked else None,
         shape=r"(?<!\d)\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y](?![0-9A-Za-z])"),
    Kind("InAadhaarRecognizer", 12, "identity", "aadhar; uid number"),
    Kind("InGstinRecognizer", 2, own="gst no", sure=_if_checked, condition=_run(15)),
    Kind("InPanRecognizer", 4, own="pan card; pan number"),
    Kind("InPassportRecognizer", 7, "passport"),
    Kind("InVehicleRegistrationRecognizer", 4, "plate"),
    Kind("InVoterRecognizer", 7, "identity", "voter id; voter card"),
    Kind("ItDriverLicenseRecognizer", 1, "driver"),
    Kind("ItFiscalCodeRecognizer", 0, "tax", sure=_if_checked, condition=_run(16)),
    Kind("ItIdentityCardRecognizer", 5, "identity", "carta d'identità; carta di identità"),
    Kind("ItPassportRecognizer", 7, "passport"),
    Kind("ItVatCodeRecognizer", 11, "company", "p. iva; p iva"),
    Kind("MedicalLicenseRecognizer", 7, own="dea number; medical license; medical licence"),
    Kind("NgNinRecognizer", 11, "identity"),
    Kind("NgVehicleRegistrationRecognizer", 3, "plate"),
    Kind("NhsRecognizer", 10, "health", "nhs number"),
    Kind("PhPassportRecognizer", 7, "passport"),
    Kind("PhTinRecognizer", 9, "tax", "bir tin"),
    Kind("PhUmidRecognizer", 12),
    Kind("PlPeselRecognizer", 11, "identity"),
    Kind("SeOrganisationsnummerRecognizer", 10, "company"),
    Kind("SePersonnummerRecognizer", 10, "identity"),
    Kind("SgFinRecognizer", 7, "identity"),
    Kind("SgUenRecognizer", 6, "company"),
    Kind("ThTninRecognizer", 13, "identity", "thai id; thai national id; บัตรประชาชน"),
    Kind("TrLicensePlateRecognizer", 4, "plate"),
    Kind("TrNationalIdRecognizer", 11, "identity", "tc kimlik no; kimlik"),
    Kind("UkDrivingLicenceRecognizer", 6, "driver", condition=_run(16),
         sure=_if_like(r"[A-Z9]{5}\d{6}[A-Z9]{2}\w[A-Z]{2}", 0.5)),
    Kind("UkNinoRecognizer", 6, "identity", "national insurance number; ni no",
         sure=_if_like(r"[A-Z]{2} \d\d \d\d \d\d [A-D]", 0.5)),
    Kind("UkPassportRecognizer", 7, "passport"),
    Kind("UkPostcodeRecognizer", 1, "postal"),
    Kind("UkVehicleRegistrationRecognizer", 1, "plate", "car reg; vehicle reg; reg no"),
    Kind("UsBankRecognizer", 8, "bank"),
    Kind("UsClaimNumberRecognizer", 6, own="claim number; claim id; claim no"),
    Kind("UsHealthInsuranceMemberIdRecognizer", 1, own="member id; subscriber id; insurance id; member number"),
    Kind("UsItinRecognizer", 9, "tax", "itin"),
    Kind("UsLicenseRecognizer", 2, "driver", "dmv"),
    Kind("UsMbiRecognizer", 5, "health", sure=_if_like(r"\w{4}-\w{3}-\w{4}", 0.5)),
    Kind("UsNpiRecognizer", 10, own="national provider identifier"),
    Kind("UsPassportRecognizer", 8, "passport", "us passport; u.s. passport; american passport"),
    Kind("UsPrescriptionNumberRecognizer", 6, own="rx number; prescription number"),
    Kind("UsPriorAuthorizationNumberRecognizer", 6, own="prior authorization"),
    Kind("UsProviderTaxIdRecognizer", 9, "tax", "ein"),
    Kind("UsReferralNumberRecognizer", 6, own="referral number"),
    Kind("UsSsnRecognizer", 9, own="social security number; ss#; social security no",
         sure=_if_like(r"\d{3}-\d\d-\d{4}", 0.5)),
    Kind("ZaCompanyRegistrationRecognizer", 10, "company"),
    Kind("ZaDriverLicenseRecognizer", 6, "driver"),
    Kind("ZaIdNumberRecognizer", 13, "identity", "south african id; sa id; rsa id"),
    Kind("ZaIncomeTaxNumberRecognizer", 10, "tax"),
    Kind("ZaLicensePlateRecognizer", 2, "plate"),
    Kind("ZaPassportRecognizer", 8, "passport"),
    Kind("ZaTrafficRegisterNumberRecognizer", 13),
    Kind("ZaVatNumberRecognizer", 10, "company"),
)  # fmt: skip


_GROUPED_SSN: Final = r"(?<![0-9A-Za-z_.\-])(?!000|666)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9A-Za-z_\-]|\.\d)"
"""Written in its three groups a number is one, also a sample that Presidio leaves out (``078-05-1120``)."""


def build() -> list[Listed]:
    """All of them."""
    return [*(_listed(kind) for kind in KINDS), Listed(pattern("US_SSN", [(_GROUPED_SSN, 0.5)], []), _may_ssn)]


def _may_ssn(profile: TextProfile) -> bool:
    return profile.digits >= 9 and "-" in profile.text


def _listed(kind: Kind) -> Listed:
    shapes = [Pattern(kind.name, kind.shape, ALONE)] if kind.shape else None
    inner = getattr(presidio, kind.name)(supported_language="en", **({"patterns": shapes} if shapes else {}))
    own = {word.casefold() for word in inner.context or ()} - GENERAL
    own |= {word.strip() for word in kind.own.split(";") if word.strip()}
    return listed(Evidenced(inner, own, SHARED[kind.group], kind.sure), kind.digits, kind.condition)


def listed(recogniser: Evidenced, digits: int, condition: Callable[[TextProfile], bool] = always) -> Listed:
    """With its necessary conditions: so many digits, another one, and a word where only words make a match count."""
    return Listed(
        recogniser, lambda profile: profile.digits >= digits and condition(profile) and recogniser.counts(profile)
    )
