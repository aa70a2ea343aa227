"""SWE-agent: one ``.traj`` file, one run.

Source: SWE-agent's trajectory files (``history``, ``trajectory``, ``info``). The history is the conversation; where it
is missing, the steps of ``trajectory`` are. An answer in text asks for its command in ``action``: it becomes a call of
the command's first word, with the whole command as its argument and the next observation as its result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.base import digest_bytes
from governance.records.span import Span
from ingestion.dialects.values import amount
from ingestion.importers import conversation
from ingestion.importers.conversation import Conversation
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.values import count, is_objects, json_text, obj, seq, text

_STEP: Final = frozenset({"action", "observation"})
_TURN: Final = frozenset({"role", "content"})


class SweAgent(FileForm):
    """A trajectory file."""

    name = "swe_agent"
    needs = "an object with `history` (messages) or `trajectory` (steps with `action` and `observation`)"

    def recognises(self, document: Document) -> bool:
        """By the history with the agent's marks, or by the steps."""
        head = obj(document)
        history, steps = head.get("history"), head.get("trajectory")
        told = is_objects(history) and history[0].keys() >= _TURN and bool({"trajectory", "agent"} & _keys(head))
        return told or (is_objects(steps) and steps[0].keys() >= _STEP)

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """The run."""
        held = obj(document)
        history = [obj(item) for item in seq(held.get("history"))]
        messages = _messages(history) if history else _from_steps([obj(item) for item in seq(held.get("trajectory"))])
        yield from conversation.spans(_run(held, messages), self.name, source)


def _keys(head: dict[str, Any]) -> set[str]:
    return {*head.keys(), *head["history"][0].keys()}


def _run(held: dict[str, Any], messages: list[dict[str, Any]]) -> Conversation:
    info = obj(held.get("info"))
    stats = obj(info.get("model_stats"))
    return Conversation(
        id=digest_bytes(json_text(held).encode("utf-8", "surrogatepass")),
        messages=messages,
        agent="swe_agent",
        attributes={
            "gen_ai.usage.input_tokens": count(stats.get("tokens_sent")),
            "gen_ai.usage.output_tokens": count(stats.get("tokens_received")),
            "gen_ai.usage.cost": amount(stats, "instance_cost"),
            "swe_agent.environment": text(held.get("environment")) or None,
            "swe_agent.exit_status": text(info.get("exit_status")) or None,
        },
    )


def _messages(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    waiting = ""
    for position, item in enumerate(history):
        role, content = text(item.get("role")) or "user", item.get("content")
        if role == "assistant" and not seq(item.get("tool_calls")) and text(item.get("action")).strip():
            waiting = f"action-{position}"
            found.append(_answer(content, text(item["action"]), waiting))
        elif waiting and role == "user":
            found.append({"role": "tool", "content": content, "tool_call_id": waiting})
            waiting = ""
        else:
            ids = seq(item.get("tool_call_ids"))
            named = {"tool_call_id": ids[0]} if ids and isinstance(ids[0], str) else {}
            calls = {"tool_calls": item["tool_calls"]} if seq(item.get("tool_calls")) else {}
            found.append({"role": role, "content": content} | named | calls)
    return found


def _from_steps(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for position, step in enumerate(steps):
        call_id = f"action-{position}"
        found.append(_answer(step.get("response") or step.get("thought"), text(step.get("action")), call_id))
        found.append({"role": "tool", "content": step.get("observation"), "tool_call_id": call_id})
    return found


def _answer(content: Any, action: str, call_id: str) -> dict[str, Any]:
    name = (action.split(maxsplit=1) or ["none"])[0][:64]
    call = {"id": call_id, "name": name, "arguments": {"command": action}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}
