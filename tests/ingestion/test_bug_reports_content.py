"""The bug reports about what is said (ING-11 to ING-20): characters, holes, calls, tokens, values, forms, escapes."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from governance.ports.masker import Masked
from governance.records.message import Message, ToolCallPart
from tests.ingestion.otlp_bodies import T0, MailMasker, attributes, body, span_json
from tests.ingestion.pipe import Pipe

WAYS = pytest.mark.parametrize("way", ["json", "protobuf"])


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path)
    yield pipe
    pipe.close()


CHARACTERS = {
    "NUL": ("ok\x00tail", "ok\ufffdtail"),
    "high": ("a\ud83d", "a\ufffd"),
    "low": ("\ude00a", "\ufffda"),
    "turned": ("\ude00\ud83d", "\ufffd\ufffd"),
    "emoji": ("\U0001f600 and \U0001f469\u200d\U0001f4bb", "\U0001f600 and \U0001f469\u200d\U0001f4bb"),
    "pair": ("\ud83d\ude00", "\U0001f600"),
}


@pytest.mark.parametrize("name", sorted(CHARACTERS))
def test_ing_11_what_no_database_takes_is_replaced_visibly(tmp_path: Path, database_url: str, name: str) -> None:
    raw, kept = CHARACTERS[name]
    pipe = Pipe(tmp_path, database_url)
    said = json.dumps(
        [{"role": "user", "content": raw}, {"role": "assistant", "content": [{"type": "text", "text": raw}]}]
    )
    deep = {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": raw, "value": {"stringValue": raw}}]}}]}}
    held = [
        {"key": "gen_ai.input.messages", "value": {"stringValue": said}},
        {"key": "user.id", "value": {"stringValue": "ann"}},
        {"key": f"k{raw}", "value": deep},
    ]
    tool = attributes(
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.result": raw}
    )
    root = span_json(1, attributes=[*held, *attributes({"gen_ai.operation.name": "chat"})])
    pipe.send(body(root, span_json(2, 1, attributes=tool)))
    assert pipe.drain().fates == {"stored": 2}
    told = pipe.shown()
    assert texts(pipe) == [kept, kept]
    assert {turn["content"] for turn in told["turns"]} - {""} == {kept}
    assert told["tool_calls"][0]["result"] == kept
    assert ("replaced_characters" in told["flags"]) is ("\ufffd" in kept)
    assert pipe.spans()[0].span.attributes[f"k{kept}"] == [{kept: kept}]
    pipe.close()


def messages(pipe: Pipe) -> list[Message]:
    """What the first span that says anything says."""
    contents = [item.content for item in pipe.spans() if item.content is not None]
    return next(([*one.input, *one.output] for one in contents if one.input or one.output), [])


def texts(pipe: Pipe) -> list[str]:
    return [message.text for message in messages(pipe)]


def calls(pipe: Pipe) -> list[ToolCallPart]:
    return [part for message in messages(pipe) for part in message.parts if isinstance(part, ToolCallPart)]


def chat(held: Mapping[str, Any], **fields: Any) -> bytes:
    return body(span_json(1, attributes={"user.id": "ann", "session.id": "s", **held}, **fields))


INDEXED = {
    "openinference": "llm.input_messages.{n}.message.{field}",
    "openllmetry": "gen_ai.prompt.{n}.{field}",
}


@pytest.mark.parametrize("convention", sorted(INDEXED))
@pytest.mark.parametrize(
    ("present", "dropped", "reason"),
    [
        (range(42), 57, "dropped_attributes"),
        ([*range(20), *range(25, 61)], 0, "missing_index"),
        (range(19, 61), 57, "dropped_attributes"),
        (range(1, 4), 0, "missing_index"),
    ],
)
def test_ing_13_a_history_with_a_hole_is_incomplete(
    pipe: Pipe, convention: str, present: Sequence[int], dropped: int, reason: str
) -> None:
    held = {"openinference.span.kind": "LLM"} if convention == "openinference" else {"llm.request.type": "chat"}
    for number in present:
        for field, text in (("role", "assistant" if number % 2 else "user"), ("content", f"message {number}")):
            held[INDEXED[convention].format(n=number, field=field)] = text
    pipe.send(body(span_json(1, attributes={"user.id": "ann"} | held) | {"droppedAttributesCount": dropped}))
    pipe.drain()
    told = pipe.shown()
    assert reason in told["incomplete"]
    assert ("missing_session_id" in told["incomplete"]) is bool(dropped)
    assert texts(pipe) == [f"message {number}" for number in present]


CALLS = [("toolu_1", "get_weather", '{"city":"London"}'), ("toolu_2", "get_time", '{"tz":"UTC"}')]


def indexed(prefix: str, form: str) -> dict[str, str]:
    return {
        form.format(prefix=prefix, n=n, field=field): value
        for n, call in enumerate(CALLS)
        for field, value in zip(("id", "name", "arguments"), call, strict=True)
    }


PARALLEL: dict[str, dict[str, Any]] = {
    "genai": {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": json.dumps(
            [
                {
                    "role": "assistant",
                    "parts": [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in CALLS],
                }
            ]
        ),
    },
    "openllmetry": {"llm.request.type": "chat", "gen_ai.completion.0.role": "assistant"}
    | indexed("gen_ai.completion.0.tool_calls", "{prefix}.{n}.{field}"),
    "openinference": {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant"}
    | {
        f"llm.output_messages.0.message.tool_calls.{n}.tool_call.{field}": value
        for n, (id_, name, arguments) in enumerate(CALLS)
        for field, value in (("id", id_), ("function.name", name), ("function.arguments", arguments))
    },
    "vercel": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.response.toolCalls": json.dumps(
            [{"toolCallId": i, "toolName": n, "input": json.loads(a)} for i, n, a in CALLS]
        ),
    },
}


@pytest.mark.parametrize("convention", sorted(PARALLEL))
def test_ing_14_parallel_calls_stay_apart_and_in_order(pipe: Pipe, convention: str) -> None:
    pipe.send(chat(PARALLEL[convention]))
    pipe.drain()
    asked = calls(pipe)
    assert [(call.id, call.name, call.arguments) for call in asked] == [
        (id_, name, json.loads(arguments)) for id_, name, arguments in CALLS
    ]
    assert not any(call.corrupt for call in asked)
    assert "corrupt_arguments" not in pipe.shown()["incomplete"]


@pytest.mark.parametrize(
    "arguments", ['{"city":"London"}{"tz":"UTC"}', '{"a":1} {"a":1}', '{"a":', "[1][2]", '{"a":1}}', '{"a":NaN}']
)
@pytest.mark.parametrize("executed", [False, True])
def test_ing_14_what_is_not_one_value_is_corrupt(pipe: Pipe, arguments: str, executed: bool) -> None:
    if executed:
        held = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "t",
            "gen_ai.tool.call.arguments": arguments,
        }
        pipe.send(body(span_json(1, attributes={"user.id": "ann"}), span_json(2, 1, attributes=held)))
    else:
        call = {"type": "tool_call", "id": "c", "name": "t", "arguments": arguments}
        pipe.send(
            chat(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [call]}]),
                }
            )
        )
    pipe.drain()
    told = pipe.shown()
    assert "corrupt_arguments" in told["incomplete"]
    asked = calls(pipe)
    assert all(call.corrupt and call.arguments == arguments for call in asked)
    assert bool(asked) is not executed
    assert all(call["arguments"] == arguments for call in told["tool_calls"])


AGENT, LLM = {"openinference.span.kind": "AGENT"}, {"openinference.span.kind": "LLM"}


def tokens(kind: dict[str, str], total: int) -> dict[str, Any]:
    return kind | {"llm.token_count.prompt": total} if total else dict(kind)


@pytest.mark.parametrize(
    ("spans", "total"),
    [
        ([(None, AGENT, 29_899), (1, LLM, 3_031), (1, LLM, 4_421), (1, LLM, 10_709), (1, LLM, 11_738)], 29_899),
        ([(None, AGENT, 29_899)], 29_899),
        ([(None, AGENT, 29_899), (1, LLM, 0), (1, LLM, 0)], 29_899),
        ([(None, AGENT, 500), (1, LLM, 500), (2, LLM, 500)], 500),
        ([(None, AGENT, 0), (1, LLM, 100), (1, AGENT, 300), (3, LLM, 300)], 400),
        ([(None, AGENT, 900), (1, LLM, 300)], 900),
    ],
)
def test_ing_16_tokens_count_once(pipe: Pipe, spans: list[tuple[int | None, dict[str, str], int]], total: int) -> None:
    pipe.send(
        body(
            *(span_json(n, parent, attributes=tokens(kind, count)) for n, (parent, kind, count) in enumerate(spans, 1))
        )
    )
    pipe.drain()
    told = pipe.shown()["usage"]
    assert (told["input_tokens"], told["output_tokens"]) == (total, 0)


VALUES: list[tuple[dict[str, Any], Any]] = [
    ({}, None),
    ({"kvlistValue": {"values": [{"key": "effort", "value": {"stringValue": "medium"}}]}}, {"effort": "medium"}),
    ({"kvlistValue": {"values": [{"key": "none", "value": {}}]}}, {"none": None}),
    ({"kvlistValue": {}}, {}),
    ({"arrayValue": {"values": [{"intValue": "1"}, {}, {"arrayValue": {"values": [{"boolValue": False}]}}]}},
     [1, None, [False]]),
    ({"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "a", "value": {"doubleValue": 0.5}}]}}]}},
     [{"a": 0.5}]),
    ({"bytesValue": base64.b64encode(b"\x00\xff").decode()}, {"bytesValue": base64.b64encode(b"\x00\xff").decode()}),
]  # fmt: skip


@WAYS
@pytest.mark.parametrize(("value", "kept"), VALUES)
def test_ing_17_every_value_is_what_it_was(pipe: Pipe, way: str, value: dict[str, Any], kept: Any) -> None:
    held = [{"key": "reasoning", "value": value}, *attributes({"user.id": "ann"})]
    pipe.send(body(span_json(1, attributes=held)), way)
    pipe.drain()
    assert pipe.spans()[0].span.attributes.get("reasoning", "absent") == kept


@pytest.mark.parametrize(
    "said",
    [
        "<generator object run at 0x7f31>",
        "<openai.Stream object at 0x10a2b3c>",
        "<async_generator object Agent.run at 0x7f>",
        "<coroutine object chat at 0x7fde>",
    ],
)
def test_ing_17_an_objects_name_is_no_answer(pipe: Pipe, said: str) -> None:
    pipe.send(chat(LLM | {"input.value": "What time is it?", "output.value": said}))
    pipe.drain()
    told = pipe.shown()
    assert all(said not in turn["content"] for turn in told["turns"])
    assert "python_repr" in told["incomplete"]


ASKED, ANSWERED = "What is the weather in S\u00e3o Paulo?", "Sunny, 31 degrees."
IN = [{"role": "user", "content": ASKED}]
OUT = [{"role": "assistant", "content": ANSWERED}]
PARTS_IN = [{"role": "user", "parts": [{"type": "text", "content": ASKED}]}]
PARTS_OUT = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWERED}], "finish_reason": "stop"}]
CHAT = {"gen_ai.operation.name": "chat"}


def event(name: str, **held: Any) -> dict[str, Any]:
    named = {key.replace("__", "."): value for key, value in held.items()}
    return {"name": name, "timeUnixNano": str(T0), "attributes": attributes(named)}


FORMS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "messages as attributes": (
        CHAT | {"gen_ai.input.messages": json.dumps(PARTS_IN), "gen_ai.output.messages": json.dumps(PARTS_OUT)},
        [],
    ),
    "events by role": (
        CHAT,
        [
            event("gen_ai.user.message", content=ASKED),
            event("gen_ai.choice", index=0, message=json.dumps({"role": "assistant", "content": ANSWERED})),
        ],
    ),
    "content events": (
        CHAT,
        [
            event("gen_ai.content.prompt", gen_ai__prompt=json.dumps(IN)),
            event("gen_ai.content.completion", gen_ai__completion=json.dumps(OUT)),
        ],
    ),
    "operation details": (
        CHAT,
        [
            event(
                "gen_ai.client.inference.operation.details",
                gen_ai__input__messages=json.dumps(PARTS_IN),
                gen_ai__output__messages=json.dumps(PARTS_OUT),
            )
        ],
    ),
    "indexed prompt": (
        {"llm.request.type": "chat", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": ASKED}
        | {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ANSWERED},
        [],
    ),
    "indexed llm messages": (
        LLM
        | {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": ASKED}
        | {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": ANSWERED},
        [],
    ),
}


def said_of(held: dict[str, Any], events: list[dict[str, Any]]) -> bytes:
    return body(span_json(1, attributes={"user.id": "ann"} | held) | {"events": events})


@pytest.mark.parametrize("form", sorted(FORMS))
def test_ing_19_every_form_gives_the_same_messages(pipe: Pipe, form: str) -> None:
    pipe.send(said_of(*FORMS[form]))
    pipe.drain()
    assert [(one.role.value, one.text) for one in messages(pipe)] == [("user", ASKED), ("assistant", ANSWERED)]
    assert [(turn["role"], turn["content"]) for turn in pipe.shown()["turns"]] == [
        ("user", ASKED),
        ("assistant", ANSWERED),
    ]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(sorted(FORMS), 2)))
def test_ing_19_two_forms_are_not_doubled(pipe: Pipe, one: str, other: str) -> None:
    (held, events), (also, further) = FORMS[one], FORMS[other]
    pipe.send(said_of(held | also, [*events, *further]))
    pipe.drain()
    assert [(said.role.value, said.text) for said in messages(pipe)] == [("user", ASKED), ("assistant", ANSWERED)]


def test_ing_19_a_tools_call_and_result(pipe: Pipe) -> None:
    held = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c1"}
    said = {"gen_ai.tool.call.arguments": '{"a": [1, "x"]}', "gen_ai.tool.call.result": '{"ok": true}'}
    pipe.send(body(span_json(1, attributes={"user.id": "ann"}), span_json(2, 1, attributes=held | said)))
    pipe.drain()
    (call,) = pipe.shown()["tool_calls"]
    assert (call["id"], call["name"], call["arguments"], call["result"]) == ("c1", "t", {"a": [1, "x"]}, {"ok": True})


class Reader(MailMasker):
    """A detector that keeps what it was shown, and masks one kind of number."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def _one(self, item: Any) -> Masked:
        self.shown.append(json.dumps(item, ensure_ascii=False))
        masked = super()._one(item)
        text = re.sub(r"900101-\d{7}", "[RRN]", json.dumps(masked.value, ensure_ascii=False))
        return masked.model_copy(update={"value": json.loads(text)})


SPOKEN = [
    "\uc8fc\ubbfc\ubc88\ud638\ub294 900101-1234568",
    "\u4f60\u597d\uff0c\u4e16\u754c",
    "na\u00efve \U0001f600",
    "\u0645\u0631\u062d\u0628\u0627",
]


@pytest.mark.parametrize("said", SPOKEN)
@pytest.mark.parametrize("form", ["attribute", "nested", "event"])
def test_ing_20_escapes_are_read_before_anything_looks(tmp_path: Path, said: str, form: str) -> None:
    reader = Reader()
    pipe = Pipe(tmp_path, masker=reader)
    escaped = json.dumps([{"role": "user", "parts": [{"type": "text", "content": said}]}])
    assert "\\u" in escaped
    if form == "event":
        pipe.send(said_of(CHAT, [event("gen_ai.user.message", body=json.dumps({"content": said}))]))
    elif form == "nested":
        pipe.send(said_of(LLM | {"input.value": json.dumps({"messages": [{"role": "user", "content": said}]})}, []))
    else:
        pipe.send(said_of(CHAT | {"gen_ai.input.messages": escaped}, []))
    pipe.drain()
    assert any(said in text for text in reader.shown)
    assert not any("\\\\u" in text for text in reader.shown)
    kept = said.replace("900101-1234568", "[RRN]")
    assert texts(pipe) == [kept]
    assert kept in json.dumps(pipe.shown(), ensure_ascii=False)
    pipe.close()
