"""Marks stay with their characters when pieces are joined and cut again."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from governance.marked_pieces import cut_marks, joined_marks
from governance.masking.annotations import shields, text_name
from governance.pieces import Run
from governance.records.mark import Mark

TEXTS = st.lists(st.text(alphabet="ab", min_size=1, max_size=6), min_size=2, max_size=5, unique=True)


def pieces(texts: list[str]) -> Run:
    return Run([(n,) for n in range(len(texts))], texts)


@given(TEXTS, st.data())
def test_a_mark_names_the_same_characters_before_and_after(texts: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[at]) - 1))
    mark = Mark(text=text_name(texts[at]), start=start, end=len(texts[at]), entity_type="PERSON")
    made = joined_marks(pieces(texts), shields([mark]))
    (whole,) = made
    assert "".join(texts)[whole.start : whole.end] == texts[at][start:]
    assert cut_marks(texts, made) == [mark]


def test_what_was_replaced_in_cut_json_is_marked_in_the_texts_inside() -> None:
    texts = ['{"to": "Ivory', ' Dapple", "cc": "none"}', " "]
    mark = Mark(text=text_name(texts[1]), start=1, end=7, entity_type="PERSON")
    made = joined_marks(pieces(texts), shields([mark]))
    assert json.loads("".join(texts))["to"] == "Ivory Dapple"
    assert Mark(text=text_name("Ivory Dapple"), start=6, end=12, entity_type="PERSON") in made
