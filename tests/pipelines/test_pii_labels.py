"""Labelled texts: fields are checked by name, places of labels and findings meet, forms are told by their shape."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import RecordError
from governance.masking.evaluation import Mark
from governance.masking.walker import leaves
from pipelines.errors import LineError
from pipelines.pii.forms import NATIVE, Skipped, labelled_lines
from pipelines.pii.labels import Labelled, labelled
from pipelines.pii.lines import Line
from pipelines.pii.pointers import resolve
from pipelines.pii.raw_places import RawPlaces


def read(**fields: Any) -> Labelled:
    found = labelled(Line(1, {"id": 1, **fields}))
    assert isinstance(found, Labelled), found
    return found


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"labels": 5}, "field 'labels' must be a list"),
        ({"labels": [{"start": 0, "end": 1}]}, "field 'labels.0.type' must be a string"),
        ({"labels": [{"type": "A", "start": 0, "end": 9}]}, "must be a place in the 3 characters"),
        ({"labels": [{"type": "A", "start": 1, "end": 1}]}, "must be a place in the 3 characters"),
        ({"labels": [{"type": "A", "start": 0, "end": 1, "value": "x"}]}, "field 'labels.0.value' is not what stands"),
        ({"labels": [{"type": "A", "start": 0, "end": 1, "begin": 0}]}, "field 'labels.0.begin' is unknown"),
        ({"labels": [{"type": "A", "pointer": "/a"}]}, "field 'labels.0.pointer': the pointer goes on"),
        ({"keep": [{"pointer": "", "value": "z"}]}, "field 'keep.0.value' does not stand in its leaf"),
        ({"keep": [{"type": "A", "start": 0, "end": 1}]}, "field 'keep.0.type' is unknown"),
        ({"channel": ["a"]}, "field 'channel' must be a string"),
        ({"types": "A"}, "field 'types' must be a list"),
        ({"label": []}, "unknown field 'label'"),
    ],
)
def test_what_is_wrong_is_named_and_never_shown(fields: dict[str, Any], words: str) -> None:
    fault = labelled(Line(7, {"id": 1, "text": "abc", **fields}))
    assert isinstance(fault, LineError)
    assert str(fault).startswith("line 7: ")
    assert words in str(fault)


def test_a_place_in_json_needs_a_pointer() -> None:
    fault = labelled(Line(1, {"id": 1, "json": {"a": "b"}, "labels": [{"type": "A", "start": 0, "end": 1}]}))
    assert "field 'labels.0.pointer' is missing" in str(fault)


def test_places_of_a_json_value_are_places_in_leaves() -> None:
    value = {"a": {"b~/c": "to Ann and Ann"}, "n": [12.50, True]}
    labels = [
        {"type": "PERSON", "pointer": "/a/b~0~1c", "value": "Ann"},
        {"type": "N", "pointer": "/n/0"},
    ]
    found = read(json=value, labels=labels, keep=[{"pointer": "/n/1"}, {"pointer": "/a/b~0~1c", "value": "to"}])
    assert found.labels == (
        Mark("/a/b~0~1c", 3, 6, "PERSON"), Mark("/a/b~0~1c", 11, 14, "PERSON"), Mark("/n/0", 0, 4, "N"),
    )  # fmt: skip
    assert found.pointers == ("/n/1",)
    assert found.keep == (Mark("/a/b~0~1c", 0, 2, ""),)


def test_places_of_a_text_that_is_json_are_places_in_the_text() -> None:
    text = '{"who": "A\\u006en", "in": "{\\"n\\": 5, \\"m\\": \\"Bob\\"}"}'
    found = read(text=text, labels=[{"type": "P", "pointer": "/who"}, {"type": "P", "pointer": "/in/m"}])
    assert [text[mark.start : mark.end] for mark in found.labels] == ["A\\u006en", "Bob"]
    assert found.mark("/who", 1, 2, "P") == Mark("", 10, 16, "P")
    assert found.mark("/in/m", 0, 3, "P") == found.labels[1]
    assert found.mark("/nowhere", 0, 1, "P") == Mark("/nowhere", 0, 1, "P")


MARK = "Zq7xK"
TEXTS = st.tuples(st.text(max_size=8), st.text(max_size=8)).map(lambda pair: pair[0] + MARK + pair[1])
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def written(value: Any, drawn: st.DataObject) -> Any:
    """The value with some of its containers written as JSON in a string."""
    if isinstance(value, dict):
        made: Any = {key: written(item, drawn) for key, item in value.items()}
    elif isinstance(value, list):
        made = [written(item, drawn) for item in value]
    else:
        return value
    return json.dumps(made, ensure_ascii=drawn.draw(st.booleans())) if drawn.draw(st.booleans()) else made


@given(VALUES.filter(lambda value: isinstance(value, dict | list)), st.data())
def test_every_leaf_is_found_where_it_is_written(value: Any, drawn: st.DataObject) -> None:
    indent = drawn.draw(st.sampled_from([None, 1]))
    made = written(value, drawn)
    text = made if isinstance(made, str) else json.dumps(made, ensure_ascii=drawn.draw(st.booleans()), indent=indent)
    places = RawPlaces.of(text)
    for leaf in leaves(text):
        if not leaf.pointer or MARK not in leaf.text or resolve(text, leaf.pointer) != leaf.text:
            continue
        at = leaf.text.index(MARK)
        assert places is not None
        raw = places.raw(leaf.pointer, at, at + len(MARK))
        assert raw is not None
        assert text[raw[0] : raw[1]] == MARK
        whole = places.raw(leaf.pointer, 0, len(leaf.text))
        assert whole is not None
        assert whole[0] <= raw[0] < raw[1] <= whole[1]


@pytest.mark.parametrize("pointer", ["a", "/b", "/a/9", "/a/x", "/a", "/c/d", "/n/0"])
def test_a_pointer_to_nothing_is_refused(pointer: str) -> None:
    with pytest.raises(RecordError):
        resolve({"a": ["x"], "c": "no JSON", "n": 5}, pointer)


def lines(data: Any) -> tuple[str, list[Any]]:
    raw = data if isinstance(data, bytes) else "\n".join(json.dumps(row) for row in data).encode()
    form, found = labelled_lines(io.BufferedReader(io.BytesIO(raw)))
    return form.name, [one.value if isinstance(one, Line) else one for one in found]


def test_presidio_research() -> None:
    spans = [{"entity_type": "PERSON", "entity_value": "Ann", "start_position": 0, "end_position": 3}]
    rows = [{"full_text": "Ann", "masked": "{{name}}", "spans": spans, "template_id": 4, "metadata": None}]
    for data in (rows, json.dumps(rows).encode(), json.dumps(rows, indent=2).encode()):
        assert lines(data) == (
            "presidio-research",
            [{"id": 1, "text": "Ann", "labels": [{"type": "PERSON", "start": 0, "end": 3}], "cluster": "4"}],
        )


def test_structured_messages() -> None:
    row = {
        "id": "x", "task_id": 3, "kind": "tool", "format": "json", "text": '{"dob": "1990-01-02", "at": "EWR"}',
        "pii_fields": [{"pointer": "/dob", "type": "DATE_OF_BIRTH", "value": "1990-01-02"}], "pii_spans": [],
        "must_keep": [{"pointer": "/at", "value": "EWR"}],
    }  # fmt: skip
    name, [native] = lines([row])
    assert (name, native["channel"], native["cluster"], "types" in native) == (
        "structured messages",
        "tool",
        "3",
        False,
    )
    found = labelled(Line(1, native))
    assert isinstance(found, Labelled)
    assert found.pointers == ("/at",)
    _, [text] = lines([row | {"format": "text"}])
    assert text["types"] == [], "what was not labelled in a text is not wrong"


def test_recogniser_cases() -> None:
    case: dict[str, Any] = {
        "text": "a 1", "entities": ["US_SSN"], "expected_len": 1, "expected_positions": [[2, 3]], "lang": "en",
    }  # fmt: skip
    negative = case | {"expected_len": 0, "expected_positions": []}
    name, found = lines(
        [
            case, negative, case | {"expected_len": None}, case | {"entities": None},
            negative | {"entities": None}, case | {"expected_positions": []},
        ]
    )  # fmt: skip
    assert name == "recogniser cases"
    assert [one.get("labels") if isinstance(one, dict) else one for one in found] == [
        [{"type": "US_SSN", "start": 2, "end": 3}],
        [],
        [{"type": "US_SSN", "start": 2, "end": 3}],
        [{"type": "*", "start": 2, "end": 3}],
        Skipped(5, "no type"),
        Skipped(6, "no positions"),
    ]
    assert found[1]["types"] == ["US_SSN"]


def test_annotations_and_lines_of_no_form() -> None:
    row = {"id": "e", "text": "a@b", "annotations": [{"start": 0, "end": 3, "type": "email"}], "metadata": None}
    name, found = lines([row, {"text": "x"}, {"text": "y", "annotations": [{"type": "email", "start": 0}]}])
    assert name == "annotations"
    assert found[0]["labels"] == [{"start": 0, "end": 3, "type": "email"}]
    assert "not of the form annotations: KeyError" in str(found[1])
    assert isinstance(labelled(Line(3, found[2])), LineError)
    assert lines([{"id": 1, "text": "x"}])[0] == NATIVE.name
    assert lines(b"[1, {}")[1][0].number == 1
    assert lines(b"") == (NATIVE.name, [])
