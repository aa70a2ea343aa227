"""Values under a name: in pairs and wrappers of JSON, and in texts as markup, tables, lines and parameters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.recognisers.labelled import labelled
from governance.masking.walker import leaves
from governance.records.masking_policy import DETECTED_ONLY

DETECTOR = Detector()
MASKER = PresidioMasker(DerivedKeyProvider("labelled"), detector=DETECTOR)
FEW = settings(max_examples=30, deadline=None)


def found(text: str) -> set[tuple[str, str]]:
    [hits] = DETECTOR.find([(text, TextKind.TEXT)])
    return {(hit.entity_type, text[hit.start : hit.end]) for hit in hits if hit.entity_type not in DETECTED_ONLY}


def masked(text: str) -> str:
    [made] = MASKER.mask("acme", [text])
    return str(made.value)


def forced(value: Any) -> dict[str, str]:
    return {leaf.text: leaf.forced for leaf in leaves(value) if leaf.forced}


@pytest.mark.parametrize("wrap", ["value", "default", "new_value", "stringValue", "const"])
@pytest.mark.parametrize(
    ("name", "value", "entity"),
    [
        ("dob", "1980-01-02", "DATE_OF_BIRTH"), ("passport_number", "M12345678", "KR_PASSPORT"),
        ("first_name", "quillon", "PERSON"), ("api_key", "kx81", "SECRET"), ("diagnosis", "asthma", "HEALTH"),
    ],
)  # fmt: skip
def test_a_value_in_a_wrapper_has_the_name_of_what_is_wrapped(wrap: str, name: str, value: str, entity: str) -> None:
    assert forced({name: {"type": "string", wrap: value}}) == {value: entity}
    assert forced({name: [{wrap: {wrap: value}}]}) == {value: entity}


@pytest.mark.parametrize("label", ["name", "key", "field", "label", "column", "attributeName"])
def test_the_value_of_a_pair_has_the_name_that_the_pair_gives(label: str) -> None:
    label = "attribute" if label == "attributeName" else label
    assert forced([{label: "dob", "value": "1980-01-02"}]) == {"1980-01-02": "DATE_OF_BIRTH"}
    assert forced({"value": "1980-01-02", label: "Date of birth"}) == {"1980-01-02": "DATE_OF_BIRTH"}
    assert forced({label: "user.email", "value": {"stringValue": "q@b.example"}}) == {"q@b.example": "EMAIL_ADDRESS"}
    assert forced({label: "DB_PASSWORD", "value": "hunter2"}) == {"hunter2": "SECRET"}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "login", "value": "42"}, {"name": "color", "value": "red"}, {"name": "email", "type": "string"},
        {"name": "phones", "value": 123456}, {"name": "dob", "description": "born 1980-01-02"}, {"value": "1980-01-02"},
        {"order": {"value": "4100042"}}, {"name": "email", "value": "see below"}, {"user": {"default": "anya"}},
    ],
)  # fmt: skip
def test_a_name_that_tells_nothing_of_a_value_changes_nothing(value: Any) -> None:
    assert forced(value) == {}


def written(value: Any) -> list[str]:
    return [json.dumps(value), f"Result: {json.dumps(value)}", f"{value!r}", json.dumps(value)[:-1]]


@pytest.mark.parametrize(
    "value",
    [
        {"dob": {"value": "1980-01-02"}}, [{"name": "dob", "value": "1980-01-02"}],
        {"attributes": [{"key": "dob", "value": {"stringValue": "1980-01-02"}}]},
    ],
)  # fmt: skip
def test_json_in_a_text_is_read_as_the_same_json_alone(value: Any) -> None:
    for text in written(value):
        assert "1980-01-02" not in masked(text), text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("<customer><first_name>quillon</first_name><order>4100042</order></customer>", {("PERSON", "quillon")}),
        ("<c:dob>1980-01-02</c:dob><c:due>2026-01-02</c:due>", {("DATE_OF_BIRTH", "1980-01-02")}),
        ('<user dob="1980-01-02" due="2026-01-02"/>', {("DATE_OF_BIRTH", "1980-01-02")}),
        ("| Name | DOB | Due |\n|---|---|---|\n| zorvan quill | 1980-01-02 | 2026-01-02 |",
         {("PERSON", "zorvan quill"), ("DATE_OF_BIRTH", "1980-01-02")}),
        ("dob,due\n1980-01-02,2026-01-02\n1981-01-02,2026-01-03\n",
         {("DATE_OF_BIRTH", "1980-01-02"), ("DATE_OF_BIRTH", "1981-01-02")}),
        ('due;last_name;dob\n2026-01-02;"zorvan; quill";1980-01-02', {("DATE_OF_BIRTH", "1980-01-02")}),
        ("passport_number\torder\nM12345678\t12345678", {("KR_PASSPORT", "M12345678")}),
        ("t=1 lvl=info customer_name=Quillon dob=1980-01-02 due=2026-01-02",
         {("PERSON", "Quillon"), ("DATE_OF_BIRTH", "1980-01-02")}),
        ("customer:\n  last_name: Quill\n  dob: '1980-01-02'\n  due: 2026-01-02",
         {("PERSON", "Quill"), ("DATE_OF_BIRTH", "1980-01-02")}),
    ],
)  # fmt: skip
def test_a_text_is_read_as_the_fields_it_writes(text: str, values: set[tuple[str, str]]) -> None:
    assert found(text) == values


def test_a_parameter_is_read_as_it_is_meant_and_written_as_it_was() -> None:
    made = masked("GET /find?name=Zorvan%20Quill&dob=1980-01-02&due=2026-01-02")
    assert "Zorvan" not in made
    assert "Quill" not in made
    assert "1980" not in made
    assert " " not in made.removeprefix("GET ")
    assert made.endswith("&due=2026-01-02")


@pytest.mark.parametrize(
    "text",
    [
        "login: use the form", "first_name=name", "create_user(first_name=first_name, email=email)",
        "dob=parse(row[3])", "int pin=12345;",
        "phone: call us before noon", "Dear name, email\nplease write, soon", "full_name: the name of the person",
        "user_id: string\nemail: string", "| field | type |\n| dob | date |", "diagnosis: name of the illness",
        "I need your order, last name, and date of birth\nfrom your profile (credit card, gift card, or voucher)",
        "username: anna_81 logs in", "user: what_is_1",
        "<name>orders</name><status>open</status>", "medication=take two",
    ],
)  # fmt: skip
def test_what_a_manual_or_a_program_says_of_a_field_stays(text: str) -> None:
    assert not found(text)


@FEW
@given(st.text(st.sampled_from('ab"|,;\t\n =<>/:&_-dob1980'), max_size=200))
def test_every_value_stands_where_it_says(text: str) -> None:
    for one, beside in labelled(text):
        assert 0 <= one.start < one.end <= len(text)
        assert "\n" not in text[one.start : one.end] or one.form.value == "markup"
        assert one.name[-1] in beside


@FEW
@given(
    st.lists(st.text(st.characters(categories=["L", "Nd", "P"], exclude_characters='",\n\r'), max_size=12), min_size=2,
             max_size=6),
    st.sampled_from([",", "\t", ";", "|"]),
)  # fmt: skip
def test_a_column_is_one_whatever_stands_beside_it(others: list[str], sign: str) -> None:
    rows = [["dob", *("column" for _ in others)], ["1980-01-02", *(f'"{sign}{one}"' for one in others)]]
    assert ("DATE_OF_BIRTH", "1980-01-02") in found("\n".join(sign.join(row) for row in rows))
