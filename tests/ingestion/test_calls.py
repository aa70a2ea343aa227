"""The calls of a trace: from the spans of tools, from the messages around them, each once and in order."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from governance.records.content import AdmittedSpan
from governance.records.trajectory import ToolInvocation
from ingestion.assembly import assemble
from tests.ingestion.otlp_bodies import T0, admitted, make_span

STEP = 1_000_000


def call(name: str, id_: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": id_, "name": name, "arguments": arguments}


def result(id_: str, response: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": id_, "response": response}]}


def at(number: int, parent: int, name: str, attributes: dict[str, Any]) -> AdmittedSpan:
    """A span that starts at its number and takes half a step."""
    start = T0 + number * STEP
    end = start + STEP // 2
    return admitted(
        make_span(number, parent, name=name, attributes=attributes, start_unix_nano=start, end_unix_nano=end)
    )


def chat(number: int, given: list[dict[str, Any]], *asked: dict[str, Any], parent: int = 1) -> AdmittedSpan:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Go."}]}, *given]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": list(asked)}]),
    }
    return at(number, parent, "chat", attributes)


def tool(number: int, name: str, id_: str | None = None, **held: Any) -> AdmittedSpan:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    attributes |= {} if id_ is None else {"gen_ai.tool.call.id": id_}
    attributes |= {f"gen_ai.tool.call.{key}": json.dumps(value) for key, value in held.items()}
    return at(number, 1, f"execute_tool {name}", attributes)


def bare(number: int, name: str, id_: str, text: str) -> AdmittedSpan:
    """A tool's span as OpenInference writes LangChain's tools with one argument: its value, and no name."""
    attributes = {"openinference.span.kind": "TOOL", "tool.name": name, "tool_call.id": id_, "input.value": text}
    return at(number, 1, name, attributes)


def root() -> AdmittedSpan:
    return admitted(make_span(1, name="POST /chat", start_unix_nano=T0, end_unix_nano=T0 + 90 * STEP))


def calls(*spans: AdmittedSpan) -> tuple[ToolInvocation, ...]:
    return assemble([root(), *spans]).calls


def told(*spans: AdmittedSpan) -> list[tuple[str, str, Any, Any]]:
    return [(one.name, one.call_id, one.arguments, one.result) for one in calls(*spans)]


FIRST = chat(2, [], call("find", "c1", key="a"))
BOTH = chat(4, [result("c1", 1)], call("track", "c2", key="b"), call("guess", "c3", key="c"))
LAST = chat(9, [result("c1", 1), result("c2", 2), result("c3", 3)])
WHOLE = [
    ("find", "c1", {"key": "a"}, 1),
    ("track", "c2", {"key": "b"}, 2),
    ("guess", "c3", {"key": "c"}, 3),
]


def test_calls_that_only_messages_tell_of_are_calls_with_their_results() -> None:
    for spans in permutations([FIRST, BOTH, LAST]):
        assert told(*spans) == WHOLE
    found = calls(FIRST, BOTH, LAST)
    assert [one.span_id for one in found] == [one.span.span_id for one in (FIRST, BOTH, BOTH)]
    assert assemble([root(), FIRST, BOTH, LAST]).incomplete == ()


def test_a_call_that_nothing_answered_was_not_executed() -> None:
    assert told(FIRST, chat(4, [])) == []
    assert told(FIRST, BOTH) == WHOLE[:1]


def test_a_result_of_an_earlier_conversation_does_not_answer() -> None:
    earlier = chat(2, [result("c1", "old")], call("find", "c1", key="a"))
    assert told(earlier) == []
    assert told(earlier, chat(4, [result("c1", "old"), result("c1", "new")])) == [("find", "c1", {"key": "a"}, "new")]


@pytest.mark.parametrize("id_", ["c2", None, "other"])
def test_a_traced_call_is_not_there_again(id_: str | None) -> None:
    traced = tool(5, "track", id_, arguments={"key": "b"}, result=2)
    found = calls(FIRST, BOTH, traced, LAST)
    assert [(one.name, one.arguments, one.result) for one in found] == [(name, *rest) for name, _, *rest in WHOLE]
    assert found[1].span_id == traced.span.span_id


def test_of_two_calls_of_one_name_the_span_accounts_for_the_one_of_its_arguments() -> None:
    asks = chat(2, [], call("find", "c1", key="a"), call("find", "c2", key="b"))
    answered = chat(9, [result("c1", 1), result("c2", 2)])
    traced = tool(4, "find", arguments={"key": "b"}, result=2)
    assert [(one.arguments, one.result) for one in calls(asks, traced, answered)] == [
        ({"key": "a"}, 1),
        ({"key": "b"}, 2),
    ]


def test_parallel_calls_stand_as_they_were_asked_for_whichever_ran_first() -> None:
    late, early = tool(6, "track", "c2", arguments={"key": "b"}), tool(5, "guess", "c3", arguments={"key": "c"})
    assert [one.name for one in calls(FIRST, BOTH, early, late, LAST)] == ["find", "track", "guess"]


def test_what_a_tools_span_lacks_stands_in_the_messages_of_its_id() -> None:
    traced = bare(3, "find", "c1", "a")
    assert told(FIRST, traced, BOTH) == WHOLE[:1]
    assert assemble([root(), FIRST, traced, BOTH]).incomplete == ()
    own = tool(3, "find", "c1", arguments={"key": "z"}, result="own")
    assert told(FIRST, own, BOTH) == [("find", "c1", {"key": "z"}, "own")]


def test_a_bare_argument_that_no_message_explains_is_a_gap() -> None:
    trajectory = assemble([root(), bare(3, "find", "c1", "a")])
    assert trajectory.calls[0].arguments == "a"
    assert trajectory.incomplete == ("bare_arguments",)


def test_what_an_agent_and_its_model_both_say_is_one_call() -> None:
    agent = chat(2, [], call("find", "c1", key="a"))
    model = chat(3, [], call("find", "c1", key="a"), parent=2)
    found = calls(agent, model, chat(9, [result("c1", 1)]))
    assert [(one.name, one.span_id) for one in found] == [("find", model.span.span_id)]


def test_withheld_content_tells_of_no_call() -> None:
    structure = [one.model_copy(update={"content": None}) for one in (FIRST, BOTH, LAST)]
    assert told(*structure) == []
