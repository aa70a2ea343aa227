"""LangChain's shapes where they are less than the convention that carries them could say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from governance.records.usage import Usage
from ingestion.dialects import read
from tests.ingestion.langchain_spans import TOLD, dumped
from tests.ingestion.otlp_bodies import make_span


def model_call(usage: Any) -> Usage | None:
    attributes: dict[str, Any] = {"langsmith.span.kind": "llm", "langsmith.metadata.usage_metadata": json.dumps(usage)}
    attributes |= {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 30}
    return read(make_span(1, attributes=attributes)).usage


def test_langsmith_tells_the_parts_of_the_tokens_in_langchains_words() -> None:
    details = {
        "input_tokens": 100,
        "output_tokens": 30,
        "input_token_details": {"cache_read": 64, "cache_creation": 8},
        "output_token_details": {"reasoning": 20},
    }
    parts = {"cache_read_tokens": 64, "cache_write_tokens": 8, "reasoning_tokens": 20}
    assert model_call(details) == Usage(input_tokens=100, output_tokens=30, **parts)


@pytest.mark.parametrize("usage", [None, [], {}, {"input_token_details": 3}, "much"])
def test_parts_that_are_none_change_nothing(usage: Any) -> None:
    assert model_call(usage) == Usage(input_tokens=100, output_tokens=30)


def tool(**attributes: Any) -> Any:
    return read(make_span(1, attributes={"openinference.span.kind": "TOOL", "tool.name": "find", **attributes}))


def test_a_tool_that_was_given_one_text_was_given_no_broken_json() -> None:
    content = tool(**{"input.value": "A-1001"})
    assert (content.tool_arguments, content.flags) == ("A-1001", ())
    broken = tool(**{"input.value": "{'order': 1", "input.mime_type": "application/json"})
    assert broken.flags == ("corrupt_arguments",)
    assert tool(**{"input.value": '{"a": 1} {"a": 2}'}).flags == ("corrupt_arguments",)


@pytest.mark.parametrize(
    "answer", [TOLD, {"output": TOLD}, {"type": "tool", "data": TOLD}, {"output": dumped("ToolMessage", **TOLD)}]
)
def test_a_tools_message_is_its_content_and_the_id_of_its_call(answer: Any) -> None:
    content = tool(**{"output.value": json.dumps(answer)})
    assert (content.tool_result, content.tool_call_id) == (TOLD["content"], TOLD["tool_call_id"])


@pytest.mark.parametrize("answer", [{"type": "tool", "data": 3}, {"output": {"a": 1}}, {"content": "c", "id": "x"}])
def test_a_result_that_only_looks_like_a_message_is_itself(answer: Any) -> None:
    assert tool(**{"output.value": json.dumps(answer)}).tool_result == answer
