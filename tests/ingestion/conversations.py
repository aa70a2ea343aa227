"""Conversations made up by hypothesis, and the spans that instrumentations of many habits make of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.message import Message, Role, TextPart, ToolCallPart, ToolResultPart, text_message
from governance.records.span import SpanEvent
from governance.records.trajectory import Turn
from ingestion.conversation.atoms import frozen
from tests.ingestion.otlp_bodies import T0, admitted, make_span

Said = tuple[str, str, tuple[tuple[str, Any], ...], Any]
"""Role, text, calls by name and arguments, the answer."""

WORDS = st.sampled_from(["yes", "no", "Where is my order?", "Refund it, please.", "A-17", "and now?"])
ANSWERS = st.sampled_from(["ok", "done", "I am looking.", "Which order?"])
ARGUMENTS = st.dictionaries(st.sampled_from(["order", "day"]), st.sampled_from(["A-17", 1, None, [1, 2]]), max_size=2)
RESULTS = st.sampled_from([{"ok": True}, "shipped", [1, 2], 3, {"error": "no such order"}])


@dataclass
class Step:
    """One call of the model: what is new to it, and what it answers."""

    new: list[Message]
    reply: Message


@st.composite
def conversations(draw: st.DrawFn, *, words_with_calls: bool = True) -> list[Step]:
    """Some rounds: a customer asks, the agent calls tools, several at once now and then, and answers."""
    steps: list[Step] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        new = [text_message(Role.USER, draw(WORDS))]
        for _ in range(draw(st.integers(0, 3))):
            calls = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                name = draw(st.sampled_from(["get_order", "refund"]))
                calls.append(ToolCallPart(id=f"call-{number}", name=name, arguments=draw(ARGUMENTS)))
            said = [TextPart(text=draw(ANSWERS))] if words_with_calls and draw(st.booleans()) else []
            steps.append(Step(new, Message(role=Role.ASSISTANT, parts=(*said, *calls))))
            new = [
                Message(role=Role.TOOL, parts=(ToolResultPart(id=call.id, response=draw(RESULTS)),)) for call in calls
            ]
        steps.append(Step(new, text_message(Role.ASSISTANT, draw(ANSWERS))))
    return steps


def wanted(steps: Sequence[Step]) -> list[Said]:
    """The turns that a conversation has."""
    return [_said(message) for step in steps for message in (*step.new, step.reply)]


def found(turns: Sequence[Turn]) -> list[Said]:
    """Turns, to be compared."""
    return [_said(turn.message) for turn in turns]


def _said(message: Message) -> Said:
    calls = tuple((part.name, frozen(part.arguments)) for part in message.parts if isinstance(part, ToolCallPart))
    results = [frozen(part.response) for part in message.parts if isinstance(part, ToolResultPart)]
    return message.role.value, message.text, calls, results


History = Callable[[list[Message], list[Message]], list[Message]]
"""What is shown to the model of the messages so far, and of the new ones."""


def whole(before: list[Message], new: list[Message]) -> list[Message]:
    return [*before, *new]


def deltas(before: list[Message], new: list[Message]) -> list[Message]:
    return new


def windowed(size: int) -> History:
    def shown(before: list[Message], new: list[Message]) -> list[Message]:
        return [*before[-size:], *new]

    return shown


def pinned(size: int) -> History:
    def shown(before: list[Message], new: list[Message]) -> list[Message]:
        return [*before[:1], *before[1:][-size:], *new]

    return shown


def summarised(size: int) -> History:
    def shown(before: list[Message], new: list[Message]) -> list[Message]:
        left = before[:-size]
        summary = [text_message(Role.USER, f"Summary of {len(left)} messages.")] if left else []
        return [*summary, *before[-size:], *new]

    return shown


@dataclass
class Habits:
    """How an instrumentation writes a conversation down."""

    history: History = whole
    tool_spans: bool = True
    ids: bool = True
    """Whether messages hold the ids of calls."""
    calls: bool = True
    """Whether messages hold calls and answers at all."""
    events: bool = False
    system: Callable[[int], str | None] = lambda number: "You are a shop."
    root: bool = True
    doubled: bool = False
    """Two instrumentations of one model call, one inside of the other."""
    apart: bool = False
    """Each call in a message of its own."""


@dataclass
class Emitter:
    """Writes the spans of one conversation."""

    habits: Habits
    spans: list[AdmittedSpan] = field(default_factory=list)
    number: int = 1
    now: int = T0
    above: str | None = None
    """The span under which everything is."""

    def emit(self, steps: Sequence[Step]) -> list[AdmittedSpan]:
        self.first, self.start = self.number, self.now
        before: list[Message] = []
        for position, step in enumerate(steps):
            self._chat(self.habits.history(before, step.new), step.reply, position)
            before += [*step.new, step.reply]
            following = steps[position + 1].new if position + 1 < len(steps) else []
            self._tools(step.reply, following)
        if self.habits.root:
            self._root(steps)
        return self.spans

    def _root(self, steps: Sequence[Step]) -> None:
        held = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "shop",
            "gen_ai.input.messages": self._json(steps[0].new),
            "gen_ai.output.messages": self._json([steps[-1].reply]),
        }
        times: dict[str, Any] = {"start_unix_nano": self.start, "end_unix_nano": self.now + 5}
        root = make_span(self.first, None, parent_span_id=self.above, attributes=held, **times)
        self.spans.append(admitted(root))

    def _chat(self, shown: list[Message], reply: Message, position: int) -> None:
        system = self.habits.system(position)
        told = [text_message(Role.SYSTEM, system), *shown] if system else shown
        held: dict[str, Any] = {"gen_ai.operation.name": "chat"}
        events: tuple[SpanEvent, ...] = ()
        if self.habits.events:
            events = (*map(self._event, told), self._choice(reply))
        else:
            held |= {"gen_ai.input.messages": self._json(told), "gen_ai.output.messages": self._json([reply])}
        parent = self.first if self.habits.root else None
        for _ in range(2 if self.habits.doubled else 1):
            self.number += 1
            times: dict[str, Any] = {"start_unix_nano": self.now + 10, "end_unix_nano": self.now + 90}
            self.spans.append(admitted(make_span(self.number, parent, attributes=held, events=events, **times)))
            parent = self.number
        self.now += 100

    def _tools(self, reply: Message, following: list[Message]) -> None:
        answers = {
            part.id: part.response for one in following for part in one.parts if isinstance(part, ToolResultPart)
        }
        calls = [part for part in reply.parts if isinstance(part, ToolCallPart)] if self.habits.tool_spans else []
        for offset, call in enumerate(calls):
            self.number += 1
            held = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.name,
                "gen_ai.tool.call.id": call.id,
                "gen_ai.tool.call.arguments": json.dumps(call.arguments),
            }
            if call.id in answers:
                held["gen_ai.tool.call.result"] = json.dumps(answers[call.id])
            times: dict[str, Any] = {"start_unix_nano": self.now + offset, "end_unix_nano": self.now + 50 + offset}
            parent = self.first if self.habits.root else None
            self.spans.append(admitted(make_span(self.number, parent, attributes=held, **times)))
        self.now += 100

    def _json(self, messages: Sequence[Message]) -> str:
        return json.dumps([one for message in messages for one in self._wire(message)])

    def _wire(self, message: Message) -> list[dict[str, Any]]:
        parts = [self._part(part) for part in message.parts]
        if not self.habits.calls:
            parts = [part for part in parts if part["type"] == "text"]
        groups = [[part] for part in parts] if self.habits.apart else [parts] if parts else []
        return [{"role": message.role.value, "parts": group} for group in groups]

    def _part(self, part: Any) -> dict[str, Any]:
        plain = dict(part.plain())
        if isinstance(part, TextPart):
            return {"type": "text", "content": part.text}
        plain.pop("corrupt", None)
        return plain if self.habits.ids else {key: item for key, item in plain.items() if key != "id"}

    def _event(self, message: Message) -> SpanEvent:
        body: dict[str, Any] = {"content": message.text} if message.text else {}
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        if calls:
            body["tool_calls"] = json.dumps([self._call(part) for part in calls])
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                body |= {"id": part.id, "content": json.dumps(part.response)}
        return SpanEvent(name=f"gen_ai.{message.role.value}.message", time_unix_nano=self._tick(), attributes=body)

    def _choice(self, reply: Message) -> SpanEvent:
        calls = [self._call(part) for part in reply.parts if isinstance(part, ToolCallPart)]
        body = {"role": "assistant", "content": reply.text} | ({"tool_calls": calls} if calls else {})
        return SpanEvent(
            name="gen_ai.choice", time_unix_nano=self._tick(), attributes={"index": 0, "message": json.dumps(body)}
        )

    def _call(self, part: ToolCallPart) -> dict[str, Any]:
        function = {"name": part.name, "arguments": json.dumps(part.arguments)}
        return {"id": part.id, "type": "function", "function": function}

    def _tick(self) -> int:
        """Events are kept in order of time."""
        self.now += 1
        return self.now
