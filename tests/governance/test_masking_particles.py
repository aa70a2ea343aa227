"""Values with a particle of Korean, Japanese or Chinese written onto them: the value is found, the particle stays."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.kr import rrn

from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.records.masking_policy import DETECTED_ONLY

DETECTOR = Detector()
MASKER = PresidioMasker(DerivedKeyProvider("particles"), detector=DETECTOR)
FEW = settings(max_examples=15, deadline=None)
PARTICLES = ["에게", "로", "으로", "입니다", "예요", "는", "です", "に", "吧", ""]


def found(text: str) -> set[tuple[str, str]]:
    [hits] = DETECTOR.find([(text, TextKind.TEXT)])
    return {
        (hit.entity_type, text[hit.start : hit.end])
        for hit in hits
        if hit.entity_type not in DETECTED_ONLY - {"MAC_ADDRESS"}
    }


@st.composite
def values(draw: st.DrawFn) -> tuple[str, str]:
    """A value of a type that needs no word, or whose word stands in the text."""
    letters, digits = st.text("abcdefghk", min_size=3, max_size=8), st.integers(0, 9999)
    octets = ".".join(str(draw(st.integers(1, 254))) for _ in range(4))
    body = "4" + "".join(f"{draw(digits):04d}" for _ in range(4))[:14]
    card = body + luhn.calc_check_digit(body)
    grouped = "-".join(card[place : place + 4] for place in range(0, 16, 4))
    end = draw(st.sampled_from(["io", "com", "co.kr", "example", "한국"]))
    return draw(
        st.sampled_from(
            [
                ("EMAIL_ADDRESS", f"{draw(letters)}@{draw(letters)}.{end}"), ("CREDIT_CARD", card),
                ("CREDIT_CARD", grouped), ("IP_ADDRESS", octets),
                ("MAC_ADDRESS", f"00:1B:44:{draw(digits) % 90 + 10}:3A:B7"),
                ("PHONE_NUMBER", f"010{draw(digits):04d}{draw(digits):04d}"),
            ]
        )
    )  # fmt: skip


@FEW
@given(values(), st.sampled_from(PARTICLES), st.sampled_from(["카드 번호는 ", "카드번호는", "카드"]))
def test_a_value_ends_where_a_particle_begins(value: tuple[str, str], particle: str, before: str) -> None:
    assert value in found(f"{before}{value[1]}{particle}")


def test_an_address_is_one_person_whatever_is_written_onto_it() -> None:
    texts = [f"{before}kim@quxmail.io{particle}" for particle in PARTICLES for before in ("", "私のメールは")]
    masked = MASKER.mask("t", texts)
    assert len({one.mention for made in masked for one in made.findings}) == 1
    for made, text in zip(masked, texts, strict=True):
        assert str(made.value).endswith(f"@example.com{text.partition('.io')[2]}")


@pytest.mark.parametrize(
    "text",
    [
        "react@18.2.0", "uses: actions/checkout@v4.1.1", "golang.org/x/net@v0.17.0", "git@github.com:acme/repo.git",
        "git clone ssh://git@code.example/repo.git", "ssh root@10.0.0.5", "systemd@user-1000.service",
        "주문번호 01023456789입니다", "송장 01023456789", "버전 1.2.3.4입니다",
    ],
)  # fmt: skip
def test_what_is_only_written_so_stays(text: str) -> None:
    kinds = {entity for entity, _ in found(text)}
    assert kinds <= ({"IP_ADDRESS"} if "10.0.0.5" in text else set())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("write to kim@corp.example, please", "kim@corp.example"),
        ("email kim@mail.acmeintern now", "kim@mail.acmeintern"),
        ("kim@quxmail.io.Please answer", "kim@quxmail.io"), ("kim@예시.한국으로", "kim@예시.한국"),
        ("https://x.example/?to=kim@corp.example&a=1", "kim@corp.example"),
    ],
)  # fmt: skip
def test_an_address_is_found_whole(text: str, value: str) -> None:
    assert ("EMAIL_ADDRESS", value) in found(text)


@FEW
@given(st.dates(date(1940, 1, 1), date(2012, 12, 31)), st.integers(0, 94_999))
def test_thirteen_digits_in_one_run_are_a_resident_number_by_birth_and_check_digit(day: date, serial: int) -> None:
    body = f"{day:%y%m%d}{1 if day.year < 2000 else 3}{serial:05d}"
    number = body + rrn.calc_check_digit(body)
    for text in (number, f"{number}입니다", f"제 번호는 {number}예요"):
        assert ("KR_RRN", number) in found(text)
    for text in (f"{number} ms", f"주문번호 {number}입니다", f"order {number}", body + str((int(number[-1]) + 1) % 10)):
        assert not {entity for entity, _ in found(text)} & {"KR_RRN"}


@pytest.mark.parametrize(
    ("text", "entity", "value"),
    [
        ("주민번호 앞자리 900101 뒷자리 1234568", "KR_RRN", "1234568"),
        ("주민번호 앞자리 900101 뒷자리 1234568", "DATE_OF_BIRTH", "900101"),
        ("110-234-567890으로 환불해 주세요", "KR_BANK_ACCOUNT", "110-234-567890"),
        ("제 번호는 01023456789예요", "PHONE_NUMBER", "01023456789"),
    ],
)
def test_korean_numbers_without_hyphens_and_words(text: str, entity: str, value: str) -> None:
    assert (entity, value) in found(text)
