"""The IRI beside each short name of rights."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.pseudonymised import Aim
from governance.records.rights import Basis, ConsentStatus, Purpose
from governance.terms import with_iris

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["purpose", "basis", "status", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("short", [*Purpose, *Basis, *ConsentStatus, *Aim])
def test_each_short_name_has_its_term_beside_it(short: str) -> None:
    kinds = {Purpose: "purpose", Basis: "basis", ConsentStatus: "status", Aim: "aim"}
    key = kinds[type(short)]  # type: ignore[index]
    told = with_iris({"rows": [{key: str(short)}]})["rows"][0]
    assert told[key] == short
    assert told[f"{key}_iri"].startswith(("https://w3id.org/dpv", "urn:tidemill:term:pipa:"))


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=3))
def test_nothing_else_is_changed_and_again_changes_nothing(value: dict[str, object]) -> None:
    once = with_iris(value)
    assert with_iris(once) == once

    def without(one: object) -> object:
        if isinstance(one, list):
            return [without(item) for item in one]
        if isinstance(one, dict):
            return {key: without(item) for key, item in one.items() if not key.endswith("_iri")}
        return one

    assert json.dumps(without(once), sort_keys=True) == json.dumps(value, sort_keys=True)
    assert with_iris({"status": "shipped", "purpose": None}) == {"status": "shipped", "purpose": None}
