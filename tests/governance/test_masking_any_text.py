# ruff: noqa: RUF001 - digits of other scripts are what people write
"""Any text may stand where a number or a name is expected: no check and no maker trips over one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.makers import MAKERS, checks
from governance.masking.makers.held import held
from governance.masking.makers.name_parts import KOREAN_FAMILIES, KOREAN_FAMILY
from governance.masking.reading import digits
from governance.masking.surrogate import Surrogates

HERE = Surrogates(DerivedKeyProvider("any text"), "here")
SCRIPTS = "AZaz09Åßé서울가ー日本ก١²½ⅷ𝟘٪ǅı̇ \u200b-."
TEXTS = st.one_of(
    st.text(max_size=14), st.text(SCRIPTS, max_size=12), st.text("0123456789서ÅA²", min_size=7, max_size=12)
)  # fmt: skip
MANY = settings(max_examples=20, deadline=None)
PLATES = ["서울12가3456", "ÅB1234567", "계좌1234567", "ß12345678"]


@MANY
@example("서울12가3456")
@example("ÅB1234567")
@example("ß12345678")
@given(TEXTS)
def test_a_check_says_yes_or_no_of_any_text(text: str) -> None:
    for check in checks.CHECKS.values():
        assert check(text) in {True, False}
    assert set(held(text)) <= set(checks.CHECKS)


@MANY
@example("서울12가3456")
@given(TEXTS)
def test_every_maker_answers_any_text(text: str) -> None:
    for entity in MAKERS:
        assert isinstance(HERE.make(entity, text), str)


@pytest.mark.parametrize("value", PLATES)
@pytest.mark.parametrize("entity", ["LICENSE_PLATE", "PASSPORT", "BANK_ACCOUNT", "TAX_ID", "KR_LICENSE_PLATE"])
def test_letters_of_another_script_stay_letters(entity: str, value: str) -> None:
    made = HERE.make(entity, value)
    assert made != value
    assert [char.isdecimal() for char in made] == [char.isdecimal() for char in value]
    assert [char.isascii() for char in made] == [char.isascii() for char in value]


NUMBERS = {
    "CREDIT_CARD": 4111111111111111, "CARD_LAST4": 1234, "PIN": 4821, "CVV": 123, "US_SSN": 536221234,
    "KR_RRN": 9001011234568, "US_BANK_NUMBER": 12345678901234567,
}  # fmt: skip


@pytest.mark.parametrize("tenant", [f"t{place}" for place in range(4)])
@pytest.mark.parametrize(("entity", "number"), NUMBERS.items())
def test_a_number_has_the_digits_of_its_text(entity: str, number: int, tenant: str) -> None:
    made = Surrogates(DerivedKeyProvider("any text"), tenant).make(entity, str(number))
    assert len(made) == len(str(number))
    assert made[0] != "0"
    assert digits(made) == made
    check = checks.CHECKS.get(entity)
    assert check is None or check(made) == check(str(number))


@MANY
@given(st.integers(2, 9), st.data())
def test_digits_alone_are_mapped_one_to_one_and_keep_their_zero(length: int, data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.text("0123456789", min_size=length, max_size=length), min_size=2, unique=True))
    made = [HERE.make("CVV", text) for text in texts]
    assert len({*made}) == len(texts)
    assert [one[0] == "0" for one in made] == [text[0] == "0" for text in texts]


@pytest.mark.parametrize("value", ["83가7350", "123하4567", "서울12바3456", "12가 3456"])
def test_a_plate_has_a_syllable_that_is_issued(value: str) -> None:
    for tenant in range(5):
        made = Surrogates(DerivedKeyProvider("any text"), f"t{tenant}").make("KR_LICENSE_PLATE", value)
        assert made == Surrogates(DerivedKeyProvider("any text"), f"t{tenant}").make("LICENSE_PLATE", value)
        assert re.fullmatch(
            r"(서울)?\d{2,3}[가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주하허호바사아자배] ?\d{4}",
            made,
        )
        assert made != value


@pytest.mark.parametrize("tenant", [f"t{place}" for place in range(3)])
def test_frequent_korean_families_never_share_a_surrogate(tenant: str) -> None:
    here = Surrogates(DerivedKeyProvider("any text"), tenant)
    families = KOREAN_FAMILIES[: len(KOREAN_FAMILY)]
    assert len({here.make("PERSON", f"{family}민수")[0] for family in families}) == len(families)
    assert len({*KOREAN_FAMILIES}) == len(KOREAN_FAMILIES)
