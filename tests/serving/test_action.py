"""An action's text form: total parsing, one rendering, declared schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serving.action import Action, Fault, parse, render, schema, violation
from tests.serving.shop_records import TOOLS, say

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ACTIONS = st.builds(Action, tool=TEXTS, arguments=st.dictionaries(TEXTS, VALUES, max_size=4))


@given(ACTIONS)
def test_what_is_rendered_is_parsed_back(action: Action) -> None:
    assert parse(render(action)) == action


@given(st.text())
def test_parse_never_raises(text: str) -> None:
    assert isinstance(parse(text), Action | Fault)


@given(ACTIONS, ACTIONS)
def test_two_actions_are_never_one(one: Action, other: Action) -> None:
    found = parse(render(one) + render(other))
    assert isinstance(found, Fault)
    assert found.kind == "not_one_json_value"


@given(ACTIONS, st.integers(1, 30))
def test_a_cut_action_is_a_fault(action: Action, cut: int) -> None:
    text = render(action)
    assert isinstance(parse(text[: max(0, len(text) - cut)]), Fault)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "not_one_json_value"),
        ("hello", "not_one_json_value"),
        (say("reply", text="a") + " thanks", "not_one_json_value"),
        ('{"tool": "a", "tool": "b", "arguments": {}}', "not_one_json_value"),
        ('{"tool": "a", "arguments": {"n": NaN}}', "not_one_json_value"),
        ('{"tool": "a", "arguments": {"n": 1e999}}', "not_unicode"),
        ("[" * 5000 + "]" * 5000, "not_one_json_value"),
        ("[]", "not_an_action"),
        ('{"tool": "a"}', "not_an_action"),
        ('{"tool": 1, "arguments": {}}', "not_an_action"),
        ('{"tool": "a", "arguments": {}, "more": 1}', "not_an_action"),
        ('{"tool": "a", "arguments": [1]}', "arguments_not_an_object"),
        ('{"tool": "a", "arguments": {"x": "\\ud800"}}', "not_unicode"),
    ],
)
def test_faults_say_what_is_wrong(text: str, kind: str) -> None:
    found = parse(text)
    assert isinstance(found, Fault)
    assert found.kind == kind


def bug(cases_dir: Path, number: str) -> dict[str, Any]:
    reports = map(json.loads, (cases_dir / "bug_reports.jsonl").read_text().splitlines())
    return next(report["input"] for report in reports if report["id"] == number)


def test_concatenated_arguments_are_no_call(cases_dir: Path) -> None:
    arguments = bug(cases_dir, "ING-14")["tool_call"]["arguments"]
    assert isinstance(parse(f'{{"tool": "get_time", "arguments": {arguments}}}'), Fault)


def test_arguments_that_are_json_in_a_string_are_a_fault(cases_dir: Path) -> None:
    arguments = bug(cases_dir, "SFT-05")["arguments"]
    found = parse(json.dumps({"tool": "weather", "arguments": arguments}))
    assert isinstance(found, Fault)
    assert found.kind == "arguments_not_an_object"
    once = render(Action(tool="weather", arguments=json.loads(arguments)))
    assert once == '{"tool":"weather","arguments":{"city":"SF"}}'


def test_the_schema_allows_the_offered_tools_and_no_others() -> None:
    offered = schema(TOOLS[:2])
    validator = jsonschema.Draft202012Validator(offered)
    assert validator.is_valid(json.loads(say("get_order", order_id="SO-1234")))
    assert not validator.is_valid(json.loads(say("get_order", order_id="1234")))
    assert not validator.is_valid(json.loads(say("reply", text="hello")))
    assert "oneOf" not in schema(TOOLS[:1])
    with pytest.raises(ValueError, match="no tool"):
        schema(())


def test_a_violation_names_its_field() -> None:
    assert violation(TOOLS[0], {"order_id": "SO-1234"}) is None
    assert "order_id" in str(violation(TOOLS[0], {"order_id": "12"}))
    assert "order_id" in str(violation(TOOLS[0], {}))
    assert "more" in str(violation(TOOLS[0], {"order_id": "SO-1234", "more": 1}))
