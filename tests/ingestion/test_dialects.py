from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import SpanContent
from governance.records.message import Message, Role, TextPart, ToolCallPart, ToolResultPart, text_message
from governance.records.span import Span, SpanEvent
from ingestion.dialects import read, strip
from tests.ingestion.otlp_bodies import T0, make_span

USER = "What's the weather in Paris?"
ANSWER = "Rainy, 57°F."
ASKED = (text_message(Role.USER, USER),)
ANSWERED = (text_message(Role.ASSISTANT, ANSWER),)


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, time_unix_nano=T0, attributes=attributes)


PARTS_IN = json.dumps([{"role": "user", "parts": [{"type": "text", "content": USER}]}])
PARTS_OUT = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}], "finish_reason": "stop"}])
FORMS: dict[str, Span] = {
    "attribute": make_span(1, attributes={"gen_ai.input.messages": PARTS_IN, "gen_ai.output.messages": PARTS_OUT}),
    "structured attribute": make_span(
        1,
        attributes={"gen_ai.input.messages": json.loads(PARTS_IN), "gen_ai.output.messages": json.loads(PARTS_OUT)},
    ),
    "details event": make_span(
        1,
        events=(
            SpanEvent(
                name="gen_ai.client.inference.operation.details",
                time_unix_nano=T0,
                attributes={"gen_ai.input.messages": PARTS_IN, "gen_ai.output.messages": json.loads(PARTS_OUT)},
            ),
        ),
    ),
    "message events": make_span(
        1,
        events=(
            event("gen_ai.user.message", content=USER),
            event("gen_ai.choice", message=json.dumps({"role": "assistant", "content": ANSWER}), index=0),
        ),
    ),
    "content events": make_span(
        1,
        events=(
            SpanEvent(
                name="gen_ai.content.prompt",
                time_unix_nano=T0,
                attributes={"gen_ai.prompt": json.dumps([{"role": "user", "content": USER}])},
            ),
            SpanEvent(
                name="gen_ai.content.completion",
                time_unix_nano=T0,
                attributes={"gen_ai.completion": json.dumps([{"role": "assistant", "content": ANSWER}])},
            ),
        ),
    ),
    "indexed legacy": make_span(
        1,
        attributes={
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": USER,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
        },
    ),
    "legacy attributes": make_span(
        1, attributes={"gen_ai.prompt": PARTS_IN, "gen_ai.completion": json.dumps({"text": ANSWER})}
    ),
    "openinference": make_span(
        1,
        attributes={
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": USER,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.contents.0.message_content.type": "text",
            "llm.output_messages.0.message.contents.0.message_content.text": ANSWER,
            "input.value": "{}",
        },
    ),
    "openinference values": make_span(
        1, attributes={"openinference.span.kind": "AGENT", "input.value": USER, "output.value": ANSWER}
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_ing_19_every_form_gives_the_same_messages(form: str) -> None:
    content = read(FORMS[form])
    assert content.input == ASKED
    assert content.output == ANSWERED
    assert content.flags == ()


@pytest.mark.parametrize(("first", "second"), [(one, other) for one in FORMS for other in FORMS if one != other])
def test_ing_19_two_forms_at_once_double_nothing(first: str, second: str) -> None:
    one, other = FORMS[first], FORMS[second]
    both = one.model_copy(
        update={"attributes": {**other.attributes, **one.attributes}, "events": (*one.events, *other.events)}
    )
    content = read(both)
    assert content.input == ASKED
    assert content.output == ANSWERED


@pytest.mark.parametrize("form", FORMS)
def test_strip_leaves_no_word_of_the_content(form: str) -> None:
    left = json.dumps(strip(FORMS[form]).plain(), ensure_ascii=False)
    assert USER not in left
    assert ANSWER not in left


def test_ing_19_tool_call_arguments_and_result() -> None:
    content = read(
        make_span(
            1,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "get_weather",
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"city": "Paris"}',
                "gen_ai.tool.call.result": "rainy",
            },
        )
    )
    assert (content.tool_name, content.tool_call_id) == ("get_weather", "c1")
    assert content.tool_arguments == {"city": "Paris"}
    assert content.tool_result == "rainy"


@pytest.mark.parametrize("key", ["response", "result"])
def test_tool_response_part_in_both_spellings(key: str) -> None:
    value = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", key: {"ok": True}}]}]
    content = read(make_span(1, attributes={"gen_ai.input.messages": json.dumps(value)}))
    assert content.input == (Message(role=Role.TOOL, parts=(ToolResultPart(id="c1", response={"ok": True}),)),)


def test_ing_13_a_gap_or_dropped_attributes_are_noted() -> None:
    held = {}
    for number in [*range(10), *range(12, 15)]:
        held[f"llm.input_messages.{number}.message.role"] = "user"
        held[f"llm.input_messages.{number}.message.content"] = f"m{number}"
    content = read(make_span(1, attributes=held))
    assert len(content.input) == 13
    assert content.flags == ("missing_index",)


@pytest.mark.parametrize(
    "arguments", ['{"city":"London"}{"tz":"UTC"}', "{'city': 'Alaska'}", '{"city": "Lon', "", "NaN", "city=London"]
)
def test_ing_14_arguments_that_are_not_one_json_value_are_corrupt(arguments: str) -> None:
    call = {"id": "toolu_2", "name": "get_time", "arguments": arguments}
    output = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", **call}]}])
    content = read(make_span(1, attributes={"gen_ai.output.messages": output}))
    (part,) = content.output[0].parts
    assert part == ToolCallPart(id="toolu_2", name="get_time", arguments=arguments, corrupt=True)
    assert content.flags == ("corrupt_arguments",)


def test_ing_14_index_keyed_calls_stay_apart_and_in_order() -> None:
    held = {
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "a",
        "gen_ai.completion.0.tool_calls.0.name": "get_weather",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"city":"London"}',
        "gen_ai.completion.0.tool_calls.1.id": "b",
        "gen_ai.completion.0.tool_calls.1.name": "get_time",
        "gen_ai.completion.0.tool_calls.1.arguments": '{"tz":"UTC"}',
    }
    (message,) = read(make_span(1, attributes=held)).output
    assert message.parts == (
        ToolCallPart(id="a", name="get_weather", arguments={"city": "London"}),
        ToolCallPart(id="b", name="get_time", arguments={"tz": "UTC"}),
    )


@pytest.mark.parametrize(
    "text", ["<generator object run at 0x7f1>", "<__main__.Agent object at 0x7f2a>", "{'agent_name': 'research'}"]
)
def test_ing_17_the_repr_of_an_object_is_no_content(text: str) -> None:
    content = read(make_span(1, attributes={"openinference.span.kind": "AGENT", "output.value": text}))
    assert content.output == ()
    assert "python_repr" in content.flags


def test_ing_20_escaped_unicode_becomes_characters() -> None:
    value = '[{"role":"user","parts":[{"type":"text","content":"\\uc8fc\\ubbfc\\ubc88\\ud638\\ub294 900101-1234568"}]}]'
    content = read(make_span(1, attributes={"gen_ai.input.messages": value}))
    assert content.input[0].text == "주민번호는 900101-1234568"


def test_ing_11_refused_characters_inside_a_json_text() -> None:
    value = '[{"role":"user","content":"a\\u0000b\\ud83d"}]'
    content = read(make_span(1, attributes={"gen_ai.input.messages": value}))
    assert content.input[0].text == "a\ufffdb\ufffd"
    assert "replaced_characters" in content.flags


def test_feedback_is_an_evaluation() -> None:
    span = make_span(
        1,
        events=(
            SpanEvent(
                name="gen_ai.evaluation.result",
                time_unix_nano=T0,
                attributes={
                    "gen_ai.evaluation.name": "customer_feedback",
                    "gen_ai.evaluation.score.value": -1,
                    "gen_ai.evaluation.explanation": "no",
                },
            ),
        ),
    )
    (one,) = read(span).evaluations
    assert (one.name, one.score, one.explanation) == ("customer_feedback", -1.0, "no")


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "type", "tool_calls", "message", "kwargs", "text", "arguments"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
_KEYS = [
    "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt.0.content", "gen_ai.completion", "gen_ai.output",
    "gen_ai.system_instructions", "llm.input_messages.0.message.content",
    "llm.output_messages.1.message.tool_calls.0.x",
    "input.value", "output.value", "gen_ai.operation.name", "openinference.span.kind", "gen_ai.usage.input_tokens",
    "gen_ai.tool.call.arguments", "llm.input_messages.0.message.contents.0.message_content.type",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(_KEYS), _VALUE | _VALUE.map(json.dumps), max_size=6))
@settings(max_examples=150, deadline=None)
def test_any_attributes_are_read_without_a_crash(attributes: dict[str, Any]) -> None:
    for kind in ("LLM", "TOOL", None):
        extra = {} if kind is None else {"openinference.span.kind": kind}
        span = make_span(1, attributes=attributes | extra)
        content = read(span)
        assert isinstance(content, SpanContent)
        content.digest()
        strip(span).digest()


# Real spans


def hex_id(value: Any, length: int) -> str:
    text = format(value, "x").zfill(length) if isinstance(value, int) else str(value)
    good = len(text) == length and all(c in "0123456789abcdef" for c in text)
    return text if good else hashlib.sha256(text.encode()).hexdigest()[:length]


def strands(path: Path) -> list[Span]:
    spans = []
    for item in json.loads(path.read_bytes()):
        events = [
            SpanEvent(name=one["event_name"], time_unix_nano=one["timestamp"], attributes=one["attributes"])
            for one in item["span_events"]
        ]
        spans.append(
            make_span(
                1,
                trace_id=hex_id(item["trace_id"], 32),
                span_id=hex_id(item["span_id"], 16),
                parent_span_id=hex_id(item["parent_span_id"], 16) if item["parent_span_id"] else None,
                name=item["name"],
                start_unix_nano=item["start_time"],
                end_unix_nano=item["end_time"],
                status_code={"OK": 1, "ERROR": 2}.get(item["status"]["code"], 0),
                attributes=item["attributes"],
                events=events,
                scope_name=item["scope"]["name"],
            )
        )
    return spans


def any_agent(path: Path) -> list[Span]:
    spans = []
    for item in json.loads(path.read_bytes())["spans"]:
        parent = item.get("parent")
        spans.append(
            make_span(
                1,
                trace_id=hex_id(item["context"]["trace_id"], 32),
                span_id=hex_id(item["context"]["span_id"], 16),
                parent_span_id=hex_id(parent["span_id"], 16) if parent else None,
                name=item["name"],
                start_unix_nano=item["start_time"],
                end_unix_nano=item["end_time"],
                attributes=item["attributes"],
            )
        )
    return spans


@pytest.mark.parametrize(
    "name",
    [
        "openinference_client_span_tool_calls",
        "otel_genai_client_span_tool_calls",
        "otel_genai_deprecated_client_span_tool_calls",
        "openinference_client_span_input_output_only",
    ],
)
def test_one_call_in_two_conventions_is_one_content(cases_dir: Path, name: str) -> None:
    attributes = json.loads((cases_dir / f"traces/openinference_fixtures/genai_{name}.json").read_bytes())
    content = read(make_span(1, attributes=attributes))
    assert content.operation == "chat"
    assert [message.role.value for message in content.input] == ["user", "assistant", "tool"]
    assert content.input[1].parts[1] == ToolCallPart(id="1234", name="get_weather", arguments={"location": "Paris"})
    assert content.input[2].parts == (ToolResultPart(id="1234", response="rainy, 57°F"),)
    assert content.output[0].text == "The weather in Paris is currently rainy with a temperature of 57°F."
    assert content.usage is not None
    assert (content.usage.input_tokens, content.usage.output_tokens) == (97, 52)


def test_tool_execution_span_of_the_fixtures(cases_dir: Path) -> None:
    path = cases_dir / "traces/openinference_fixtures/genai_otel_genai_tool_execution_span.json"
    content = read(make_span(1, attributes=json.loads(path.read_bytes())))
    assert content.tool_arguments == {"city": "New York"}
    assert content.tool_result["status"] == "success"


def test_genai_live_spans(cases_dir: Path) -> None:
    spans = strands(cases_dir / "traces/strands_evals_fixtures/otel_genai_convention_spans.json")
    contents = [read(span) for span in spans]
    chats = [content for content in contents if content.operation == "chat"]
    calls = [part.name for part in chats[0].output[0].parts if isinstance(part, ToolCallPart)]
    assert calls == ["get_weather", "get_weather"]
    assert [message.role.value for message in chats[1].input] == ["user", "assistant", "tool", "tool"]
    assert contents[0].output[0].text.startswith("The weather in Paris is rainy at 57°F.")
    assert not any(content.flags for content in contents)


@pytest.mark.parametrize(
    "name",
    [
        "autogen_live_spans",
        "openai_agents_openinference_adot_spans",
        "openai_agents_openinference_live_spans",
        "openinference_adot_spans",
        "openinference_live_spans",
        "pydantic_ai_live_spans",
    ],
)
def test_live_spans_are_read(cases_dir: Path, name: str) -> None:
    for span in strands(cases_dir / f"traces/strands_evals_fixtures/{name}.json"):
        content = read(span)
        texts = [
            part.text
            for message in (*content.input, *content.output)
            for part in message.parts
            if isinstance(part, TextPart)
        ]
        assert not any(text.startswith(("{'", "<")) and "object at" in text for text in texts)
        if content.operation == "execute_tool" and content.tool_arguments is not None:
            assert content.tool_name


@pytest.mark.parametrize("name", ["AGNO", "LANGCHAIN", "OPENAI"])
def test_the_same_task_is_the_same_tool_sequence(cases_dir: Path, name: str) -> None:
    spans = sorted(any_agent(cases_dir / f"traces/any_agent/{name}_trace.json"), key=lambda span: span.start_unix_nano)
    contents = [read(span) for span in spans]
    tools = [content.tool_name for content in contents if content.operation == "execute_tool"]
    asked = [
        part.name
        for content in contents
        if content.operation == "chat"
        for message in content.output
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    assert tools[:2] == ["get_current_time", "write_file"]
    assert asked[:2] == ["get_current_time", "write_file"]
    arguments = next(content.tool_arguments for content in contents if content.tool_name == "get_current_time")
    assert arguments == {"timezone": "America/New_York"}
