"""Every convention: the same call is the same content, and ``strip`` takes all of it and nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from governance.records.message import Message, Role, ToolCallPart, ToolResultPart, text_message
from governance.records.span import Span
from ingestion.assembly import assemble
from ingestion.dialects import DIALECTS, content_keys, read, strip
from ingestion.dialects.messages import is_repr
from tests.ingestion.dialect_spans import ANSWERS, ASKS, TOOLS
from tests.ingestion.dialect_words import (
    ANSWER,
    ASKED,
    CITIES,
    IDS,
    KEPT,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
    event,
    span,
    text,
)
from tests.ingestion.otlp_bodies import admitted

QUESTION = (text_message(Role.SYSTEM, SYSTEM), text_message(Role.USER, USER))
EVERY = {
    f"{kind}: {name}": one
    for kind, spans in (("ask", ASKS), ("tool", TOOLS), ("answer", ANSWERS))
    for name, one in spans.items()
}


@pytest.mark.parametrize("name", ASKS)
def test_ing_14_parallel_calls_stay_separate_in_every_convention(name: str) -> None:
    content = read(ASKS[name])
    assert content.input == QUESTION
    (message,) = content.output
    assert message.role is Role.ASSISTANT
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    assert [call.arguments for call in calls] == [{"city": city} for city in CITIES]
    assert [call.name for call in calls] == [TOOL, TOOL]
    assert [call.id for call in calls] == ([*IDS] if name != "any-agent" else ["", ""])
    assert content.operation == ("invoke_agent" if name == "vercel function" else "chat")
    assert content.flags == ()


@pytest.mark.parametrize("name", ASKS)
def test_ing_16_tokens_are_what_the_convention_states(name: str) -> None:
    usage = read(ASKS[name]).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (97, 52)


@pytest.mark.parametrize("name", TOOLS)
def test_ing_19_a_tool_call_in_every_convention(name: str) -> None:
    content = read(TOOLS[name])
    assert content.operation == "execute_tool"
    assert content.tool_name == TOOL
    assert content.tool_call_id == (IDS[0] if name != "mlflow" else None)
    assert content.tool_arguments == {"city": CITIES[0]}
    assert content.tool_result == RESULT
    assert (content.input, content.output, content.flags) == ((), (), ())


@pytest.mark.parametrize("name", ANSWERS)
def test_ing_19_an_answer_in_every_convention(name: str) -> None:
    content = read(ANSWERS[name])
    assert content.input == (text_message(Role.USER, USER),)
    assert content.output == (text_message(Role.ASSISTANT, ANSWER),)
    assert content.flags == ()


def merged(one: Span, other: Span) -> Span:
    return one.model_copy(
        update={"attributes": {**other.attributes, **one.attributes}, "events": (*one.events, *other.events)}
    )


def clash(one: Span, other: Span) -> bool:
    """Two spans that write different things under one name cannot be one span."""
    same = one.attributes.keys() & other.attributes.keys()
    names = {item.name for item in one.events} & {item.name for item in other.events}
    return bool(names) or any(one.attributes[key] != other.attributes[key] for key in same)


@pytest.mark.parametrize("first", ASKS)
def test_ing_19_two_conventions_at_once_double_nothing(first: str) -> None:
    for second in ASKS:
        if not clash(ASKS[first], ASKS[second]):
            content = read(merged(ASKS[first], ASKS[second]))
            assert content.input == QUESTION, second
            assert [len(message.parts) for message in content.output] == [2], second
            assert content.usage is not None
            assert (content.usage.input_tokens, content.usage.output_tokens) == (97, 52)


def unescaped(shown: str) -> str:
    """The text with every escaped character as itself, however often it is escaped."""
    return re.sub(r"\\+u([0-9a-f]{4})", lambda found: chr(int(found.group(1), 16)), shown)


@pytest.mark.parametrize("name", EVERY)
def test_strip_takes_what_was_said_and_loses_nothing_else(name: str) -> None:
    one = EVERY[name]
    left = strip(one)
    shown = unescaped(json.dumps(left.plain(), ensure_ascii=False))
    for said in (SYSTEM, USER, ANSWER, RESULT, *CITIES):
        assert said not in shown
    taken = content_keys(one)
    assert left.attributes == {key: value for key, value in one.attributes.items() if key not in taken}
    assert KEPT.items() <= left.attributes.items()
    assert read(left).operation == read(one).operation
    assert read(left).usage == read(one).usage or name in ("ask: adk",)


def test_content_that_is_taken_is_named_by_one_dialect_at_least() -> None:
    assert len({dialect.__name__ for dialect in DIALECTS}) == len(DIALECTS)
    for dialect in DIALECTS:
        assert dialect.__doc__
        assert "Source:" in dialect.__doc__
        assert isinstance(dialect.CONTENT_EVENTS, frozenset)
        assert dialect.content_keys({}) == set()


def test_structure_with_names_near_content_stays() -> None:
    kept = {
        "gen_ai.prompt.name": "router", "gen_ai.output.type": "json", "ai.response.id": "r", "ai.model.id": "m",
        "file_path": "/srv/app.log", "langfuse.observation.level": "ERROR", "mlflow.spanType": '"LLM"',
        "gcp.vertex.agent.event_id": "e", "traceloop.entity.name": "flow", "ai.observability.record_id": "7",
    }  # fmt: skip
    assert strip(span(kept)).attributes == KEPT | kept


@pytest.mark.parametrize("name", [name for name in TOOLS if name not in ("genai messages", "gemini cli")])
def test_ing_14_arguments_that_are_two_values_are_flagged_in_every_convention(name: str) -> None:
    both = '{"city":"London"}{"tz":"UTC"}'
    whole = TOOLS[name].model_dump_json().replace(json.dumps(text({"city": CITIES[0]}))[1:-1], json.dumps(both)[1:-1])
    content = read(Span.model_validate_json(whole))
    assert content.flags == ("corrupt_arguments",)
    assert both in content.tool_arguments


def test_strands_cycle_holds_the_calls_and_their_answers() -> None:
    answers = [
        {"toolResult": {"toolUseId": one, "status": "success", "content": [{"text": city}]}}
        for one, city in zip(IDS, CITIES, strict=True)
    ]
    calls = [{"text": "Let me see."}, {"toolUse": {"toolUseId": IDS[0], "name": TOOL, "input": {"city": CITIES[0]}}}]
    content = read(span({}, event("gen_ai.choice", **{"message": text(calls), "tool.result": text(answers)})))
    assert [message.role for message in content.output] == [Role.ASSISTANT, Role.TOOL]
    assert content.output[1].parts == tuple(
        ToolResultPart(id=one, response=city) for one, city in zip(IDS, CITIES, strict=True)
    )


def test_strands_system_prompt_stands_first() -> None:
    content = read(
        span({"gen_ai.agent.system_prompt": SYSTEM}, event("gen_ai.user.message", content=text([{"text": USER}])))
    )
    assert content.input == QUESTION


def test_a_repr_in_a_tools_answer_is_the_tools_own_text() -> None:
    said = "{'temp': 57}"
    one = TOOLS["strands"].model_copy(update={"events": (event("gen_ai.choice", message=text([{"text": said}])),)})
    content = read(one)
    assert (content.tool_result, content.flags) == (said, ())


def test_adk_placeholders_and_merged_calls_are_no_content() -> None:
    merged_calls = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "(merged tools)",
        "gcp.vertex.agent.tool_call_args": "N/A",
        "gcp.vertex.agent.tool_response": text(
            {
                "id": "e1",
                "content": {
                    "role": "user",
                    "parts": [{"function_response": {"id": IDS[0], "name": TOOL, "response": {"result": RESULT}}}],
                },
            }
        ),
    }
    content = read(span(merged_calls))
    assert content.operation != "execute_tool"
    assert content.output == (Message(role=Role.TOOL, parts=(ToolResultPart(id=IDS[0], response={"result": RESULT}),)),)
    nothing = {
        "gen_ai.operation.name": "execute_tool",
        "gcp.vertex.agent.tool_call_args": "<not serializable>",
        "gcp.vertex.agent.tool_response": text({"result": "<not specified>"}),
    }
    content = read(span(nothing))
    assert (content.tool_arguments, content.tool_result, content.flags) == (None, None, ())


def test_claude_code_context_in_labelled_sections() -> None:
    context = f"[USER]\n{USER}\n\n---\n\n[TOOL RESULT: {IDS[0]}]\n{RESULT}"
    content = read(span({"span.type": "llm_request", "system_prompt": SYSTEM, "new_context": context}))
    assert content.input == (*QUESTION, Message(role=Role.TOOL, parts=(ToolResultPart(id=IDS[0], response=RESULT),)))


def test_claude_code_cut_and_withheld_texts() -> None:
    cut = read(span({"span.type": "llm_request", "new_context": USER, "new_context_truncated": True}))
    assert cut.flags == ("truncated",)
    withheld = read(span({"span.type": "interaction", "user_prompt": "<REDACTED>", "user_prompt_length": 9}))
    assert (withheld.operation, withheld.input) == ("invoke_agent", ())


def test_codex_tool_record_is_the_call_and_its_answer() -> None:
    one = event("codex.tool_result", tool_name="shell", call_id="c1", arguments=text({"command": "ls"}), output="a.py")
    content = read(span({}, one))
    assert content.output == (
        Message(role=Role.ASSISTANT, parts=(ToolCallPart(id="c1", name="shell", arguments={"command": "ls"}),)),
        Message(role=Role.TOOL, parts=(ToolResultPart(id="c1", response="a.py"),)),
    )


def test_thoughts_are_left_out_and_noted() -> None:
    vercel = read(
        span({"ai.operationId": "ai.generateText", "ai.response.text": ANSWER, "ai.response.reasoning": "Hm."})
    )
    google = [{"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": ANSWER}]}]
    gemini = read(span({"gen_ai.output.messages": text(google)}))
    for content in (vercel, gemini):
        assert content.output == (text_message(Role.ASSISTANT, ANSWER),)
        assert content.flags == ("reasoning_omitted",)


def test_a_call_that_stands_in_content_and_in_tool_calls_is_one() -> None:
    held = {"type": "tool_use", "id": IDS[0], "name": TOOL, "input": {"city": CITIES[0]}}
    calls = [{"id": IDS[0], "name": TOOL, "args": {"city": CITIES[0]}}]
    kwargs = {"type": "ai", "content": [{"type": "text", "text": "Let me see."}, held], "tool_calls": calls}
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "AIMessage"], "kwargs": kwargs}
    content = read(span({"openinference.span.kind": "CHAIN", "output.value": text({"messages": [message]})}))
    assert [part.type for part in content.output[0].parts] == ["text", "tool_call"]


def test_items_of_the_responses_api() -> None:
    items = [
        {"role": "user", "content": USER},
        {"type": "function_call", "call_id": IDS[0], "name": TOOL, "arguments": text({"city": CITIES[0]})},
        {"type": "function_call_output", "call_id": IDS[0], "output": RESULT},
    ]
    content = read(span({"langfuse.observation.type": "generation", "langfuse.observation.input": text(items)}))
    assert [message.role for message in content.input] == [Role.USER, Role.ASSISTANT, Role.TOOL]
    assert content.input[1].parts == (ToolCallPart(id=IDS[0], name=TOOL, arguments={"city": CITIES[0]}),)


@pytest.mark.parametrize(
    "shown",
    [
        "<generator object run at 0x7f1>",
        "{'role': 'user', 'at': datetime.datetime(2025, 1, 1)}",
        "[HumanMessage(content='hi', additional_kwargs={})]",
        "AgentRunResult(output='hi')",
    ],
)
def test_ing_17_what_python_prints_is_no_message(shown: str) -> None:
    assert is_repr(shown)
    for name in ("mlflow.spanOutputs", "langfuse.observation.output", "traceloop.entity.output", "gen_ai.output"):
        content = read(span({name: shown}))
        assert content.output == ()
        assert content.flags == ("python_repr",)


@pytest.mark.parametrize("said", ["Call(me) maybe", "I said {'hi'}.", "Name(s) and more", '{"city": 1}'])
def test_what_a_person_may_say_is_no_repr(said: str) -> None:
    assert not is_repr(said)


@pytest.mark.parametrize(
    "key", ["mlflow.spanInputs", "langfuse.observation.input", "ai.prompt.messages", "request_data"]
)
def test_ing_11_ing_20_escapes_are_decoded_and_refused_characters_replaced(key: str) -> None:
    value = '{"messages":[{"role":"user","content":"\\uc8fc\\ubbfc a\\u0000b\\ud83d \\ud83d\\ude00"}]}'
    content = read(span({key: value}))
    assert content.input[0].text == "주민 a\ufffdb\ufffd 😀"
    assert content.flags == ("replaced_characters",)


def test_ing_13_a_hole_in_the_prompts_is_noted() -> None:
    held = {f"gen_ai.prompt.{number}.content": f"m{number}" for number in (0, 1, 3)}
    content = read(span(held))
    assert len(content.input) == 3
    assert content.flags == ("missing_index",)


def test_tokens_written_as_text_are_counted() -> None:
    content = read(span({"gen_ai.usage.input_tokens": "31", "gen_ai.usage.output_tokens": "96"}))
    assert content.usage is not None
    assert (content.usage.input_tokens, content.usage.output_tokens) == (31, 96)


def test_a_retrieval_keeps_its_query_and_what_it_found() -> None:
    found = [{"content": RESULT, "id": "d1"}]
    spans = [
        span(
            {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.query.text": USER,
                "gen_ai.retrieval.documents": text(found),
            }
        ),
        span(
            {
                "mlflow.spanType": '"RETRIEVER"',
                "mlflow.spanInputs": text({"query": USER}),
                "mlflow.spanOutputs": text(found),
            }
        ),
        span(
            {
                "langfuse.observation.type": "retriever",
                "langfuse.observation.input": USER,
                "langfuse.observation.output": text(found),
            }
        ),
        span({"openinference.span.kind": "RETRIEVER", "input.value": USER, "output.value": text(found)}),
    ]
    for one in spans:
        content = read(one)
        assert content.operation == "retrieval"
        assert content.tool_result == found
        assert USER in json.dumps(
            [content.tool_arguments, [message.text for message in content.input]], ensure_ascii=False
        )


def test_a_text_that_its_writer_cut_makes_the_trajectory_incomplete() -> None:
    cut = span({"span.type": "llm_request", "new_context": USER, "new_context_truncated": True})
    assert assemble([admitted(cut)]).incomplete == ("truncated",)


@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "tiny", "temperature": 0.5, "messages": ASKED},
        {"model": "tiny", "instructions": SYSTEM, "input": [ASKED[1]]},
    ],
)
def test_a_request_among_the_parameters_of_a_call_is_content(parameters: dict[str, Any]) -> None:
    one = span({"openinference.span.kind": "LLM", "llm.invocation_parameters": text(parameters)})
    assert read(one).input == QUESTION
    assert "llm.invocation_parameters" not in strip(one).attributes
    plain = span({"openinference.span.kind": "LLM", "llm.invocation_parameters": text({"temperature": 0.5})})
    assert strip(plain) == plain
    assert read(plain).input == ()
