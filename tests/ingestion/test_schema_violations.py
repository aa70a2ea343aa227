"""``schema_violation`` through the detector: arguments against what the trace declares, in every form of declaring."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.records.content import AdmittedSpan
from governance.records.signal import SignalKind
from tests.ingestion.test_assembly import root, tool
from tests.ingestion.test_signals import found, spans_at

ORDER = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}


def declaring(**attributes: Any) -> AdmittedSpan:
    item = root()
    return item.model_copy(
        update={"span": item.span.model_copy(update={"attributes": item.span.attributes | attributes})}
    )


def functions(schema: Any, name: str = "find_order") -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": schema}}]


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.tool.definitions": json.dumps([{"type": "function", "name": "find_order", "parameters": ORDER}])},
        {"gen_ai.tool.definitions": functions(ORDER)},
        {"llm.tools.0.tool.json_schema": json.dumps(functions(ORDER)[0])},
        {"llm.request.functions.0.name": "find_order", "llm.request.functions.0.parameters": json.dumps(ORDER)},
        {"ai.prompt.tools": [json.dumps({"type": "function", "name": "find_order", "inputSchema": ORDER})]},
        {
            "model_request_parameters": json.dumps(
                {"function_tools": [{"name": "find_order", "parameters_json_schema": ORDER}]}
            )
        },
    ],
    ids=lambda attributes: next(iter(attributes)),
)
def test_arguments_are_held_against_what_the_trace_declares(attributes: dict[str, Any]) -> None:
    spans = [declaring(**attributes), tool(2, {"order": "A"}, name="find_order"), tool(3, {}, name="find_order")]
    good = [tool(4, {"order": 1}, name="find_order"), tool(5, {"any": 1}, name="another")]
    one, two = found([*spans, *good], SignalKind.SCHEMA_VIOLATION)
    assert (one.label, one.detail["fault"], one.span_ids) == ("not_as_declared", "type at /order", spans_at(2))
    assert (two.detail["fault"], two.span_ids) == ("required at /", spans_at(3))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#"},
        {"properties": {"order": {"pattern": "^(a+)+$", "maxLength": 1}}},
        {"type": ["object", 3]},
    ],
)
def test_a_schema_that_cannot_be_checked_here_accuses_nobody(schema: Any) -> None:
    spans = [declaring(**{"gen_ai.tool.definitions": functions(schema)}), tool(2, {"order": "a" * 40 + "!"})]
    spans += [tool(3, {"order": "a" * 40 + "!"}, name="find_order")]
    assert found(spans, SignalKind.SCHEMA_VIOLATION) == []


def test_a_tool_that_is_declared_in_two_ways_is_not_checked() -> None:
    two = [*functions(ORDER), *functions({"type": "object"})]
    spans = [declaring(**{"gen_ai.tool.definitions": two}), tool(2, {"order": "A"}, name="find_order")]
    assert found(spans, SignalKind.SCHEMA_VIOLATION) == []
