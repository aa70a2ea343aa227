"""A person's own id leaves every text in which it stands as a word, and nothing else changes."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.masking.reading import digits
from governance.own_id import HashedId, OwnId, _may_hold
from governance.ports.masker import Masked

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
    masked = Masked(value=value)
    hidden = OwnId(raw_id, "HASH").hidden(masked)
    leaves = _texts(hidden.value)
    taken = raw_id is not None and len(raw_id) >= 6 and "@" not in raw_id and any(char.isdigit() for char in raw_id)
    if taken:
        assert not any(word == raw_id for text in leaves for word in text.split(" "))
    else:
        assert hidden is masked


@given(IDS, VALUES)
def test_an_id_that_is_known_by_its_hash_is_hidden_as_a_word(raw_id: str | None, value: Any) -> None:
    hashed = HashedId("HASH", lambda word: "HASH" if word == raw_id else "other").hidden(Masked(value=value)).value
    plain = OwnId(raw_id, "HASH").hidden(Masked(value=value)).value
    if raw_id is None or raw_id.replace("-", "").isalnum():
        assert hashed == plain
    assert hashed == value or "HASH" in str(hashed)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.items() for text in _texts(list(item))]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


@given(st.sampled_from(WRITTEN), VALUES)
def test_a_look_at_a_value_misses_no_id(raw_id: str, value: Any) -> None:
    everywhere = json.dumps(value, ensure_ascii=False)
    assert _may_hold(raw_id, value) == (json.dumps(raw_id, ensure_ascii=False)[1:-1] in everywhere)


NUMBER_ID = "4100042"
NUMBERED = st.recursive(
    st.sampled_from([4100042, -4100042, 4100042.0, 4100042.5, 41000420, 7, True, "4100042", "id 4100042", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["ref", "user_id", "amount", "customer 4100042"]), inner, max_size=3)
        | inner.map(lambda one: json.dumps([one]))
    ),
    max_leaves=6,
)


@given(NUMBERED, st.booleans())
@settings(max_examples=40, deadline=None)
def test_an_id_that_is_a_number_is_the_number_of_its_hash_everywhere(value: Any, by_hash: bool) -> None:
    subject = "9f" * 20 + "0123456789" + "ab" * 7
    known = HashedId(subject, lambda word: subject if word == NUMBER_ID else "other")
    own = known if by_hash else OwnId(NUMBER_ID, subject)
    hidden = own.hidden(Masked(value=value))
    written = json.dumps(hidden.value)
    assert re.search(r"(?<![\d\-])4100042(?!\d|\.5)", written) is None
    assert "-4100042" not in written or '"-4100042' in json.dumps(value).replace("\\", "")
    assert own.hidden(hidden).value == hidden.value
    assert written.count("4100042.5") == json.dumps(value).count("4100042.5")
    assert written.count("41000420") == json.dumps(value).count("41000420")
    places = {place.pointer for place in hidden.findings}
    assert bool(places) or hidden.value == value or "customer" in str(value)


def test_a_number_stays_a_number_and_agrees_with_a_field_of_the_id() -> None:
    subject = "12ab" * 16
    hidden = OwnId(NUMBER_ID, subject).hidden(Masked(value={"ref": 4100042, "minus": -4100042, "point": 4100042.0}))
    number = int(digits(subject))
    assert hidden.value == {"ref": number, "minus": number, "point": float(number)}
    assert [type(one) for one in hidden.value.values()] == [int, int, float]
    assert {(one.pointer, one.mention) for one in hidden.findings} == {
        (pointer, subject) for pointer in ("/ref", "/minus", "/point")
    }


@given(st.text("a1@.-_ ", max_size=24), st.sampled_from(["a1a1a1", "1-1-1-", "a1.a1.", "111111"]))
def test_an_id_stands_alone_as_a_pattern_of_it_would_say(text: str, raw_id: str) -> None:
    whole = text.replace("aa", raw_id)
    pattern = re.compile(rf"(?<![\w@.\-]){re.escape(raw_id)}(?![\w@]|[.\-]\w)")
    assert OwnId(raw_id, "s" * 64)._written(whole) == [found.span() for found in pattern.finditer(whole)]
