"""A conversation kept as a list of messages, as the spans that an instrumentation would have made of it.

1. One span for the run, one for each answer of the model, one for each tool that was called. They follow each other in
   the order of the messages.
2. A model's span holds the messages before its answer. Where repeating the history would make a conversation larger
   than ``HISTORY`` characters, it holds only those since the answer before, and says so
   (``tidemill.import.derived`` holds ``history``).
3. A result belongs to the call whose id it names, else to the first call without a result. A call without a result is
   kept without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from governance.records.span import Span, SpanEvent
from ingestion.importers.draft import Draft, finish
from ingestion.importers.form import Refused
from ingestion.importers.times import place, unix_nano
from ingestion.importers.values import first, json_text, obj, seq, text

HISTORY: Final = 8 * 2**20


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What a file says of one run."""

    id: str
    """Names the run: the same run has the same id in every copy of the file."""
    messages: list[dict[str, Any]]
    """In the form of OpenAI's chat API."""
    agent: str
    model: Any = None
    start: Any = None
    end: Any = None
    attributes: dict[str, Any] = field(default_factory=dict)
    evaluations: tuple[SpanEvent, ...] = ()
    status: int = 0
    status_message: str = ""


def spans(run: Conversation, form: str, where: str) -> Iterator[Span | Refused]:
    """The spans of a conversation."""
    steps = list(_steps(run))
    start = unix_nano(run.start) or place(0)
    last = max(unix_nano(run.end), start + (len(steps) + 1) * 1_000)
    answers = [item for item in run.messages if item.get("role") == "assistant"]
    asked = run.messages[: run.messages.index(answers[0])] if answers else run.messages
    said = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": run.agent,
        "gen_ai.request.model": text(run.model) or None,
        "gen_ai.input.messages": json_text(asked),
        "gen_ai.output.messages": json_text(answers[-1:]),
    }
    root = Draft(
        trace=run.id,
        span=f"{run.id}/run",
        name=f"invoke_agent {run.agent}",
        start=start,
        end=last,
        status=run.status,
        status_message=run.status_message,
        attributes=said | run.attributes | _untimed(run),
        events=run.evaluations,
    )
    yield finish(root, form, where)
    for position, step in enumerate(steps, 1):
        yield finish(_draft(run, step, position, start), form, f"{where}, step {position}")


def _untimed(run: Conversation) -> dict[str, Any]:
    """The times between start and end are made, so every span says so."""
    return {"tidemill.import.derived": ["start", "end"]} if not unix_nano(run.start) else {}


def _draft(run: Conversation, step: dict[str, Any], position: int, start: int) -> Draft:
    derived = ["start", "end", *step.pop("derived", ())]
    return Draft(
        trace=run.id,
        span=f"{run.id}/{position}",
        parent=f"{run.id}/run",
        name=step.pop("name"),
        start=start + position * 1_000,
        end=start + position * 1_000 + 500,
        status=2 if "error.type" in step else 0,
        status_message=step.pop("error", ""),
        attributes={**step, "tidemill.import.derived": derived},
    )


def _steps(run: Conversation) -> Iterator[dict[str, Any]]:
    sizes = [0, *accumulate(len(json_text(message)) for message in run.messages)]
    spent, before = 0, 0
    for position, message in enumerate(run.messages):
        if message.get("role") != "assistant":
            continue
        whole = spent + sizes[position] <= HISTORY
        spent += sizes[position]
        yield {
            "name": "chat",
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": text(run.model) or None,
            "gen_ai.input.messages": json_text(run.messages[0 if whole else before : position]),
            "gen_ai.output.messages": json_text([message]),
            "derived": [] if whole else ["history"],
        }
        yield from _calls(message, _results(run.messages, position))
        before = position + 1


def _results(messages: list[dict[str, Any]], position: int) -> list[dict[str, Any]]:
    """The tool messages that follow an answer, up to the next one."""
    found = []
    for message in map(messages.__getitem__, range(position + 1, len(messages))):
        if message.get("role") == "assistant":
            break
        if message.get("role") == "tool":
            found.append(message)
    return found


def _calls(message: dict[str, Any], results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    by_id = {text(item.get("tool_call_id")): item for item in results if text(item.get("tool_call_id"))}
    unnamed = [item for item in results if not text(item.get("tool_call_id"))]
    for item in seq(message.get("tool_calls")):
        call = obj(item)
        function = obj(call.get("function")) or call
        call_id, name = text(call.get("id")), text(function.get("name")) or "unknown"
        result = by_id.get(call_id) or (unnamed.pop(0) if unnamed else None)
        arguments = first(function, "arguments", "args", "input")
        step = {
            "name": f"execute_tool {name}",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": call_id or None,
            "gen_ai.tool.call.arguments": json_text({} if arguments is None else arguments),
        }
        if result is not None:
            step |= _result(result)
        yield step


def _result(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    error = obj(message.get("error"))
    found = {"gen_ai.tool.call.result": None if content is None else json_text(content)}
    if error:
        found |= {"error.type": text(error.get("type")) or "error", "error": text(error.get("message"))}
    return found
