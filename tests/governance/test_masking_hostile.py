"""Texts that are made to be slow: what they cost grows with their length and no faster."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pii_hostile import growth
from governance.masking.detection import Detector, TextKind
from governance.masking.json_tokens import regions
from governance.masking.reading import read
from governance.masking.spans import Hit, outside

LETTERS = "abcdefghij"
MAILBOXES = "".join(f"x{a}{b}.y{c}{d}@ x{a}{b} " for a, b, c, d in product(LETTERS, repeat=4))
PATTERNS = [
    "A",
    "aA",
    "A가",
    "A-",
    "a.",
    "A.a",
    "1.",
    "1 ",
    "a@",
    "a-",
    "Anna Miller, ",
    "name is ",
    "my name is anna. ",
    "i am maria lopez, ",
    "?a=",
    "pw=",
    MAILBOXES,
]
READ = [
    '{"',
    "\\u00",
    '{"a":',
    '"a":',
    "[{",
    '"\\"',
    "{'",
    '{"a":"\n',
    "&amp;",
    "%25",
    "a\u0301",
    "'a':",
    "{ ",
    '"',
    "\\\\",
    "{'a':f(",
    "{'a':f('",
    "'a'=>",
]


@pytest.fixture(scope="module")
def detector() -> Detector:
    made = Detector()
    made.find([("Anna Miller, mail anna@corp.example, phone (212) 734-0134", TextKind.TEXT)])
    return made


@pytest.mark.parametrize("piece", PATTERNS)
def test_detection_takes_linear_time(detector: Detector, piece: str) -> None:
    whole = piece * (8000 // len(piece) + 1)
    _, ratio = growth(lambda text: detector.find([(whole[: len(text)], TextKind.TEXT)]), "x", 2000)
    assert ratio < 10


@pytest.mark.parametrize("piece", READ)
def test_reading_takes_linear_time(piece: str) -> None:
    _, ratio = growth(read, piece, 10_000)
    assert ratio < 10


@pytest.mark.parametrize("where", ["x {}", 'x {"0": [{}, {}]}'])
@pytest.mark.parametrize("value", ["v", '{\\"a\\": 1}'])
def test_reading_many_fields_takes_linear_time_and_memory(where: str, value: str) -> None:
    def text(count: int) -> str:
        row = ",".join(f'"k{n}":"{value}","a.k{n}":{n}' for n in range(count))
        return where.replace("{}", "{" + row + "}")

    _, ratio = growth(lambda made: read(text(len(made) // 20)), "x", 20_000)
    assert ratio < 10
    [region] = regions(text(50))
    assert len({id(token.siblings) for token in region.tokens}) <= 2 * where.count("{}") + 1


SPANS = st.builds(
    lambda start, size, kind: Hit(start, start + size, kind, 0.5),
    st.integers(0, 30), st.integers(1, 8), st.sampled_from("AB"),
)  # fmt: skip


@given(st.lists(SPANS, max_size=6), st.lists(SPANS, max_size=6))
def test_what_is_left_outside_is_each_character_that_is_not_taken(hits: list[Hit], taken: list[Hit]) -> None:
    covered = {place for one in taken for place in range(one.start, one.end)}
    for hit in hits:
        left = [place for one in outside([hit], taken) for place in range(one.start, one.end)]
        assert left == [place for place in range(hit.start, hit.end) if place not in covered]
        assert all(one.entity_type == hit.entity_type for one in outside([hit], taken))
    assert outside(hits, taken) == [part for hit in hits for part in outside([hit], taken)]
