# ruff: noqa: RUF001 - letters that look like others are what the filter must not trip over
"""The engine that asks few recognisers finds what Presidio's engine finds that asks all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.masking.detection import Detector, TextKind
from governance.masking.engine import Engine
from governance.masking.profile import TextProfile
from governance.masking.spans import THRESHOLD

MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHAT = [
    "Hello, this is Amelia Draper. My card number is 4111111111111111 and my phone is 2127340134.",
    "I was born on April 5, 1990; my SSN is 078-05-1129, mail amelia.draper@corp.example.",
    "주민번호는 900101-1234568 입니다. Please call +82 10-1234-5678 or (212) 734-0134.",
    "The user id is mia_kim_4397, IP 83.12.44.7, order SO-2877 for 12 Alder Street, Northport.",
    "meet me at 12 elm street in boston or 221b baker street, london, mail kim@x.example",
    "IBAN DE89 3704 0044 0532 0130 00, pay 12.50 EUR until 2024-05-20. Thanks, Mia Kim",
    "card 4111 1111 1111 1111 visa\u00a04111111111111111\tcard",
]
FRAGMENTS = [
    *CHAT, "we live at ", "12 elm street", " in boston", "anna.miller@x.example", "anna miller", "mr ", "Anna Miller",
    "4111111111111111", "card", "phone", "2127340134", "a@b.co", "078-05-1129", "::1", "user",
    "9", "\uff11\uff12", "900101-1234568", "주민번호", "가", "\n", " ", "\u00a0", ", ", "born", "1990-04-05",
    "İ", "ı", "ſ", "ß", "e\u0301", "😀", "\u202e", "\x00", "GB82WEST12345698765432", "1.2.3.4",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=8).map("".join) | st.text(max_size=60)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


FILTERED, UNFILTERED = Detector(), Detector(prefilter=False)


def plain(results: list[Any]) -> list[tuple[str, int, int, float]]:
    return [(one.entity_type, one.start, one.end, one.score) for one in results]


@cache
def presidio(engine: Engine) -> Any:
    return engine.presidio()


def presidios(engine: Engine, text: str) -> list[tuple[str, int, int, float]]:
    return plain(presidio(engine).analyze(text, language="en", score_threshold=THRESHOLD))


def ours(engine: Engine, text: str) -> list[tuple[str, int, int, float]]:
    return plain(engine.analyze(text, next(engine.read([text], 1)), engine.listed))


@pytest.mark.parametrize("text", CHAT)
def test_a_text_that_holds_much_is_found_alike(engine: Engine, text: str) -> None:
    wanted = presidios(engine, text)
    assert len(wanted) >= 1
    assert ours(engine, text) == wanted


@MANY
@given(TEXTS)
def test_any_text_is_found_alike(engine: Engine, text: str) -> None:
    assert ours(engine, text) == presidios(engine, text)


@MANY
@given(TEXTS)
def test_a_recogniser_that_is_not_asked_would_find_nothing_that_counts(engine: Engine, text: str) -> None:
    profile = TextProfile(text)
    seen = engine.language.tokens_only(text)
    for one in engine.listed:
        if not one.may_find(profile):
            found = plain(one.recogniser.analyze(text, engine.entities, seen))
            lifted = bool(one.recogniser.context)  # by words beside it: then anything may come to count
            assert [hit for hit in found if lifted or hit[3] >= THRESHOLD] == [], one.recogniser.name


@MANY
@given(TEXTS, st.sampled_from([TextKind.TEXT, TextKind.FIELD]))
def test_what_is_found_does_not_depend_on_the_prefilter(text: str, kind: TextKind) -> None:
    assert FILTERED.find([(text, kind)]) == UNFILTERED.find([(text, kind)])


@pytest.mark.parametrize("text", ["meet me at 12 elm street in boston", "the german embassy of 1st avenue, ms smith"])
def test_a_text_in_lower_case_is_found_alike(text: str) -> None:
    assert FILTERED.find([(text, TextKind.TEXT)]) == UNFILTERED.find([(text, TextKind.TEXT)])


def test_a_batch_finds_what_each_text_alone_does() -> None:
    texts = [(text, kind) for text in [*CHAT, *(f"{text} {place}" for place, text in enumerate(CHAT * 3))]
             for kind in TextKind]  # fmt: skip
    assert FILTERED.find(texts) == [found for one in texts for found in FILTERED.find([one])]


def test_a_value_at_the_cut_of_a_long_text_is_found_once_and_whole() -> None:
    mail = "somebody.with.a.long.name@some.host.example"
    for before in (99_950, 99_990, 100_000):
        for filler in ("word ", "字"):
            text = (filler * before)[:before] + " " + mail + " " + filler * 100
            [hits] = FILTERED.find([(text, TextKind.CODE)])
            assert [text[hit.start : hit.end] for hit in hits] == [mail]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb kim@x.example", "\x00\x00 kim@x.example", "\u202ekim@x.example"])
def test_text_that_is_hardly_text_is_read(text: str) -> None:
    [hits] = FILTERED.find([(text, TextKind.TEXT)])
    assert [text[hit.start : hit.end] for hit in hits] == (["kim@x.example"] if "kim" in text else [])
