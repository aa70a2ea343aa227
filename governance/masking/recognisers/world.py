"""Personal numbers of countries that Presidio has no recogniser for: shapes and check digits of python-stdnum.

Theory. As everywhere, the shape and valid check digits make a candidate, and words beside it a finding. A number whose
check digits are wrong is none: these are digits in a row, and most rows of digits are something else.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from presidio_analyzer import Pattern, PatternRecognizer

from governance.masking.makers.checks import stdnum
from governance.masking.recognisers.evidence import Evidenced
from governance.masking.recognisers.kit import Listed
from governance.masking.recognisers.national import SHARED, listed


class Number(NamedTuple):
    """One country's number."""

    entity: str
    module: str
    """python-stdnum's."""
    digits: int
    shape: str
    group: str
    own: str


NUMBERS: Final = (
    Number("FR_NIR", "fr.nir", 12, r"[1-478] ?\d{2} ?[01235-9]\d ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}", "identity",
           "nir;insee;numéro de sécurité sociale;sécurité sociale;securite sociale;numéro insee"),
    Number("NL_BSN", "nl.bsn", 8, r"\d{3}[. ]?\d{3}[. ]?\d{2,3}", "identity", "bsn;burgerservicenummer;sofinummer"),
    Number("BE_NN", "be.nn", 11, r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}", "identity",
           "rijksregisternummer;numéro national;registre national;insz;niss"),
    Number("CH_AHV", "ch.ssn", 13, r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", "identity",
           "ahv;ahv-nummer;ahvn13;avs;numéro avs;sozialversicherungsnummer"),
    Number("AT_VNR", "at.vnr", 10, r"\d{4} ?\d{6}", "health", "sozialversicherungsnummer;svnr;vsnr;sv-nummer"),
    Number("BR_CPF", "br.cpf", 11, r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}", "tax", "cpf;cadastro de pessoas físicas"),
    Number("BR_CNPJ", "br.cnpj", 14, r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", "company", "cnpj"),
    Number("MX_CURP", "mx.curp", 7, r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d", "identity", "curp"),
    Number("MX_RFC", "mx.rfc", 6, r"[A-ZÑ&]{3,4}\d{6}[A-Z\d]{3}", "tax", "rfc;registro federal de contribuyentes"),
    Number("AR_CUIT", "ar.cuit", 11, r"\d{2}-?\d{8}-?\d", "tax", "cuit;cuil"),
    Number("CL_RUT", "cl.rut", 7, r"\d{1,2}\.?\d{3}\.?\d{3}-?[\dK]", "identity", "rut;rol único tributario"),
    Number("PT_NIF", "pt.nif", 9, r"[123568]\d{2} ?\d{3} ?\d{3}", "tax",
           "nif;contribuinte;número de contribuinte;número de identificação fiscal"),
    Number("DK_CPR", "dk.cpr", 10, r"\d{6}-?\d{4}", "identity", "cpr;cpr-nummer;personnummer"),
    Number("NO_FNR", "no.fodselsnummer", 11, r"\d{6} ?\d{5}", "identity", "fødselsnummer;fodselsnummer;personnummer"),
    Number("IE_PPS", "ie.pps", 7, r"\d{7}[A-W][ABWTX]?", "tax", "pps;ppsn;pps number"),
    Number("CZ_RC", "cz.rc", 9, r"\d{6}/?\d{3,4}", "identity", "rodné číslo;rodne cislo;rč"),
    Number("RO_CNP", "ro.cnp", 13, r"[1-9]\d{12}", "identity", "cnp;cod numeric personal"),
    Number("BG_EGN", "bg.egn", 10, r"\d{10}", "identity", "егн;egn"),
    Number("EE_IK", "ee.ik", 11, r"[1-8]\d{10}", "identity", "isikukood"),
    Number("LT_ASMENS", "lt.asmens", 11, r"[1-9]\d{10}", "identity", "asmens kodas"),
    Number("HR_OIB", "hr.oib", 11, r"\d{11}", "identity", "oib;osobni identifikacijski broj"),
    Number("GR_AMKA", "gr.amka", 11, r"\d{11}", "health", "αμκα;amka"),
    Number("IL_ID", "il.idnr", 8, r"\d{8,9}", "identity", "teudat zehut;תעודת זהות;israeli id"),
    Number("RU_INN", "ru.inn", 10, r"\d{10}(?:\d{2})?", "tax", "инн;inn"),
    Number("CN_RIC", "cn.ric", 17, r"\d{17}[\dX]", "identity", "身份证;身份证号;居民身份证;resident identity card"),
    Number("JP_MY_NUMBER", "jp.in_", 12, r"\d{4}[- ]?\d{4}[- ]?\d{4}", "identity", "マイナンバー;個人番号;my number"),
    Number("ID_NIK", "id.nik", 16, r"\d{16}", "identity", "nik;nomor induk kependudukan;ktp"),
    Number("MY_NRIC", "my.nric", 12, r"\d{6}-?\d{2}-?\d{4}", "identity", "mykad;nric;kad pengenalan;ic number"),
    Number("PK_CNIC", "pk.cnic", 13, r"\d{5}-?\d{7}-?\d", "identity", "cnic"),
    Number("NZ_IRD", "nz.ird", 8, r"\d{2,3}-?\d{3}-?\d{3}", "tax", "ird;ird number"),
)  # fmt: skip


class NumberRecognizer(PatternRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """A shape with python-stdnum's check."""

    def __init__(self, number: Number) -> None:
        """For every text."""
        shape = Pattern(number.entity, rf"(?<![\w.\-/]){number.shape}(?![\w\-/]|\.\d)", 0.1)
        super().__init__(
            supported_entity=number.entity, patterns=[shape], supported_language="en", name=f"{number.entity}_number"
        )
        self._valid = stdnum(number.module)

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the check digits are right."""
        return self._valid(pattern_text)


def build() -> list[Listed]:
    """All of them."""
    return [
        listed(Evidenced(NumberRecognizer(one), one.own.split(";"), SHARED[one.group]), one.digits) for one in NUMBERS
    ]
