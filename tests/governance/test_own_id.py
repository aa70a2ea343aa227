"""A person's own id leaves every text in which it stands as a word, and nothing else changes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from governance.own_id import HashedId, OwnId

WRITTEN = ["person-123", "김철수-0042", "a'b\"c-77", "back\\slash-9", "tab\tid-55"]
IDS = st.sampled_from([*WRITTEN, "u1", "nodigits", "x@y.z-1", None])
WORDS = st.sampled_from([*WRITTEN, "xperson-1234", "said '", '"', ""])
VALUES = st.recursive(
    st.lists(WORDS, max_size=3).map(" ".join) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(IDS, VALUES)
def test_an_id_is_hidden_wherever_it_stands(raw_id: str | None, value: Any) -> None:
    hidden = OwnId(raw_id, "HASH").hidden(value)
    leaves = _texts(hidden)
    taken = raw_id is not None and len(raw_id) >= 6 and "@" not in raw_id and any(char.isdigit() for char in raw_id)
    if taken:
        assert not any(word == raw_id for text in leaves for word in text.split(" "))
    else:
        assert hidden is value


@given(IDS, VALUES)
def test_an_id_that_is_known_by_its_hash_is_hidden_as_a_word(raw_id: str | None, value: Any) -> None:
    hashed = HashedId("HASH", lambda word: "HASH" if word == raw_id else "other").hidden(value)
    plain = OwnId(raw_id, "HASH").hidden(value)
    if raw_id is None or raw_id.replace("-", "").isalnum():
        assert hashed == plain
    assert hashed == value or "HASH" in str(hashed)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []
