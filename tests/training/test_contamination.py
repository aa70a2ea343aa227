"""Contamination against comparing every pair of texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.contamination import GRAM, NEAR, SHINGLE, Overlap, contamination
from training.values import normalised

LONG = "the customer wants a refund for order nine because the parcel came broken and nobody answered the phone"


@pytest.mark.parametrize(
    ("text", "overlap"),
    [
        (LONG.upper() + "!!", Overlap.EXACT),
        ("please note: " + LONG[:80] + " but there is more to say about all of it and then some", Overlap.NGRAM),
        ("The customer wants a refund for order nine since it came late.", Overlap.NEAR),
        ("something else entirely happened today", None),
        ("", None),
    ],
)
def test_a_text_that_was_learned_from_is_told_however_it_was_changed(text: str, overlap: Overlap | None) -> None:
    short = "the customer wants a refund for order nine since it came broken"
    found = contamination({"b": LONG, "a": "hello there my friend", "c": short}, {"t": text})
    assert [hit.overlap for hit in found.hits] == ([] if overlap is None else [overlap])
    assert found.clean is (overlap is None)
    assert sum(found.counts().values()) == len(found.hits)


WORDS = st.lists(st.sampled_from("abc"), max_size=18).map(" ".join)


def brute(one: str, other: str) -> Overlap | None:
    mine, theirs = normalised(one).split(), normalised(other).split()

    def runs(words: list[str], size: int) -> set[tuple[str, ...]]:
        return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}

    if mine and mine == theirs:
        return Overlap.EXACT
    if runs(mine, GRAM) & runs(theirs, GRAM):
        return Overlap.NGRAM
    left, right = runs(mine, SHINGLE), runs(theirs, SHINGLE)
    return Overlap.NEAR if left & right and len(left & right) >= NEAR * len(left | right) else None


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5))
def test_the_index_finds_what_comparing_all_pairs_finds(learned: list[str], held_out: list[str]) -> None:
    found = contamination(
        {str(number): text for number, text in enumerate(learned)},
        {str(number): text for number, text in enumerate(held_out)},
    )
    told = {hit.held_out: hit for hit in found.hits}
    for number, text in enumerate(held_out):
        kinds = [brute(text, other) for other in learned]
        wanted = next((kind for kind in Overlap if kind in kinds), None)
        assert (told[str(number)].overlap if str(number) in told else None) == wanted
        if wanted:
            assert kinds[int(told[str(number)].learned)] == wanted
