"""Checking arguments: what is wrong is found, what masking changes is not, and no declaration costs much or raises."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.signals.argument_checks import DEEPEST, STEPS, ArgumentChecks


def fault(schema: Any, arguments: Any) -> str | None:
    return ArgumentChecks().first_fault(schema, arguments)


def of(name: str, **rules: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: rules}}


ITEM = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
CLOSED = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
MAYBE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
WORDS = {"enum": ["refund", "exchange", None]}


@pytest.mark.parametrize(
    ("schema", "arguments", "found"),
    [
        (of("n", type="integer"), {"n": "1"}, "type at /n"),
        (of("n", type="integer"), {"n": True}, "type at /n"),
        (of("n", type="integer"), {"n": 1.0}, None),
        (of("n", type="integer"), {"n": 1.5}, "type at /n"),
        (of("n", type="number"), {"n": 10**400}, None),
        (of("n", type=["string", "null"]), {"n": 1}, "type at /n"),
        (of("n", type=["string", "null"]), {"n": None}, None),
        (of("n", type="string"), {"n": None}, "type at /n"),
        (of("n", type="string", nullable=True), {"n": None}, None),
        (of("n", nullable=True, allOf=[{"$ref": "#/$defs/a"}]) | {"$defs": {"a": ITEM}}, {"n": None}, None),
        (of("items", type="array", items=ITEM), {"items": [{}]}, "required at /items/0"),
        (of("items", type="array", items=ITEM), {"items": [{"sku": "a"}, {"sku": 2}]}, "type at /items/1/sku"),
        (CLOSED, {"a": 1, "b": 2}, "additionalProperties at /"),
        (CLOSED | {"patternProperties": {"^b": {}}}, {"a": 1, "b": 2}, None),
        (of("n", **{"$ref": "#/$defs/a~1b"}) | {"$defs": {"a/b": ITEM}}, {"n": {}}, "required at /n"),
        (of("n", **{"$ref": "#/definitions/i"}) | {"definitions": {"i": ITEM}}, {"n": 1}, "type at /n"),
        (of("n", **MAYBE), {"n": 1}, "anyOf at /n"),
        (of("n", **MAYBE), {"n": None}, None),
        (of("n", oneOf=[{"type": "string"}, ITEM]), {"n": {}}, "oneOf at /n"),
        (of("n", allOf=[{"type": "object"}, ITEM]), {"n": {}}, "required at /n"),
        (of("n", **WORDS), {"n": "return"}, "enum at /n"),
        (of("n", **WORDS), {"n": "refund"}, None),
        (of("n", const="on"), {"n": "off"}, "const at /n"),
    ],
)  # fmt: skip
def test_what_a_model_gets_wrong(schema: Any, arguments: Any, found: str | None) -> None:
    assert fault(schema, arguments) == found


@pytest.mark.parametrize(
    ("rules", "value"),
    [
        ({"type": "integer", "minimum": 10_000_000_000}, 7),
        ({"type": "integer", "enum": [2125550143]}, 8125550199),
        ({"const": 5}, 6),
        ({"multipleOf": 0.5}, 10**400),
        ({"type": "string", "pattern": "^a$", "format": "email", "maxLength": 1, "minLength": 90}, "Clara Moreno"),
        ({"enum": ["clara", "ben"]}, "Maria Lopez"),
        ({"enum": ["Clara Moreno"]}, "maria"),
        ({"enum": ["a1"]}, "b"),
        ({"enum": ["x" * 33]}, "y"),
        ({"enum": [1, "on"]}, "off"),
    ],
)  # fmt: skip
def test_what_masking_may_have_changed_is_not_held_against_anybody(rules: Any, value: Any) -> None:
    assert fault(of("n", **rules), {"n": value}) is None


def test_names_that_masking_may_have_changed_are_no_fault() -> None:
    assert fault(CLOSED, {"clara@corp.example": 1}) is None
    assert fault({"properties": {"a@b.example": {}}, "required": ["a@b.example"]}, {}) is None
    assert fault({"properties": {"customer": {}}, "required": ["Maria"]}, {}) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "http://[::1", "type": "object"},
        {"properties": {"x": {"pattern": "a{99999999999999999999}"}}},
        {"title": "t", "$ref": "#/title/x"},
        {"title": "t", "$ref": "#/title"},
        {"x": 5, "$ref": "#/x"},
        {"$ref": "#"},
        {"$ref": 7},
        {"$ref": "#/$defs/gone", "$defs": []},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"x": {"required": [[1]]}, "$ref": "#/x"},
        {"properties": {"x": {}, "y": {}}, "required": [["y"]]},
        {"properties": [], "required": {"y": 1}, "additionalProperties": False, "items": 3, "enum": 3, "allOf": {}},
        {"type": "nonsense"},
        {"type": ["object", 3]},
        {"properties": {"x": {"multipleOf": 0.5}}},
        {"properties": {"x": {"$id": "other", "$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "string"}}},
        {"properties": {"x": 1}, "anyOf": [1, None], "oneOf": []},
        {"minimum": float("nan")},
    ],
)  # fmt: skip
def test_a_declaration_of_no_known_shape_accuses_nobody(schema: Any) -> None:
    assert fault(schema, {"x": 10**400}) is None


def doubling(levels: int) -> dict[str, Any]:
    defs = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/a0", "$defs": defs | {f"a{levels}": {"type": "object"}}}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (doubling(28), {}),
        (of("x", type="array", uniqueItems=True), {"x": [{"n": n} for n in range(3000)]}),
        (of("x", items={"anyOf": [{"required": ["q"] * 500}] * 500}), {"x": [{}] * 10_000}),
        (of("x", items=of("y", type="string")), {"x": [{"y": ""}] * 50_000 + [{"y": 1}]}),
    ],
)
def test_work_without_end_is_cut_off_and_says_nothing(schema: Any, arguments: Any) -> None:
    started = time.process_time()
    assert fault(schema, arguments) is None
    assert time.process_time() - started < 2, "a step costs a few microseconds"


def test_a_schema_that_nests_too_deep_says_nothing_and_one_below_that_is_checked() -> None:
    def nested(levels: int) -> tuple[Any, Any]:
        schema, value = {"type": "string"}, 1
        for _ in range(levels):
            schema, value = of("x", **schema), {"x": value}  # type: ignore[assignment]
        return schema, value

    assert str(fault(*nested(DEEPEST))).startswith("type at /x/x/")
    assert fault(*nested(DEEPEST + 1)) is None


def test_all_calls_of_a_trace_share_their_steps() -> None:
    checks = ArgumentChecks(STEPS + 10)
    wrong: tuple[dict[str, Any], Any] = {"type": "array"}, {}
    assert checks.first_fault(*wrong) == "type at /"
    assert checks.first_fault(doubling(28), {}) is None
    assert [checks.first_fault(*wrong) for _ in range(10)][-1] is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)
RULES = ("type", "required", "enum", "const", "additionalProperties", "properties", "items", "anyOf", "oneOf", "allOf",
         "$ref", "$defs", "definitions", "nullable", "a")  # fmt: skip
SCHEMA = st.recursive(
    JSON | st.sampled_from(["string", "object", "#/$defs/a", "#/definitions/b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(RULES), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(RULES), SCHEMA, max_size=6), JSON)
def test_no_declaration_raises(schema: Any, arguments: Any) -> None:
    found = fault(schema, arguments)
    assert found is None or " at /" in found


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(RULES[:10]), SCHEMA, max_size=6), JSON)
def test_whatever_is_found_the_whole_of_json_schema_finds_too(schema: Any, arguments: Any) -> None:
    from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]

    if fault(schema, arguments) is None:
        return
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return
    assert not Draft202012Validator(schema).is_valid(arguments)
