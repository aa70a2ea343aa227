"""The conversation that every client has: what the model says, and the trajectories that it must become."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.instrumentations.clients import shop
from tests.instrumentations.customers import PERSON
from tests.support.openai_server import MODEL, Script, Step

FIND = ("look_up_order", {"order_id": "A-1001"})
TRACK = ("track_parcel", {"parcel_id": "P-77"})
ESTIMATE = ("estimate_arrival", {"parcel_id": "P-77", "express": True})
WRONG = ("cancel_order", {"order_id": "1001", "reason": "late", "refund_cents": 0})
CANCEL = ("cancel_order", {"order_id": "A-1001", "reason": 'came late, "again": désolé', "refund_cents": 4250})
ANSWERS = ("On its way: two days.\nAsk mara.lind@example.org.", "Done; 42.50 € go back to you.")
STEPS: Mapping[str, Sequence[Step]] = {
    shop.QUESTIONS[0]: (
        Step(calls=[FIND], input_tokens=101, output_tokens=11, cached_tokens=32, reasoning_tokens=3),
        Step(calls=[TRACK, ESTIMATE], input_tokens=151, output_tokens=23, cached_tokens=64, reasoning_tokens=7),
        Step(text=ANSWERS[0], input_tokens=211, output_tokens=31, cached_tokens=96, reasoning_tokens=10),
    ),
    shop.QUESTIONS[1]: (
        Step(calls=[WRONG], input_tokens=233, output_tokens=19, cached_tokens=96, reasoning_tokens=6),
        Step(calls=[CANCEL], input_tokens=263, output_tokens=17, cached_tokens=128, reasoning_tokens=5),
        Step(text=ANSWERS[1], input_tokens=307, output_tokens=13, cached_tokens=128, reasoning_tokens=4),
    ),
}
WORDS = (
    "Where is my order", "please cancel", "On its way", "go back to you", "came late", "depot", "delayed", "mara.lind",
    PERSON,
)  # fmt: skip
"""Pieces of what is said, by everyone who says something, and who it is: none may stand in a span's structure."""


def script() -> Script:
    """A fresh script; the model refuses each second question once."""
    return Script(STEPS, frozenset({shop.QUESTIONS[1]}))


def expected(question: int) -> dict[str, Any]:
    """What the trajectory of a question holds, whichever framework had it."""
    steps = STEPS[shop.QUESTIONS[question]]
    asked = [call for step in steps for call in step.calls]
    earlier = [turn | {"earlier": True} for number in range(question) for turn in turns(number)]
    return {
        "turns": [*earlier, *turns(question)],
        "subagents": [],
        "calls": [(name, held, result(name, held), _error(result(name, held))) for name, held in asked],
        "usage": {
            "input_tokens": sum(step.input_tokens for step in steps),
            "output_tokens": sum(step.output_tokens for step in steps),
            "cache_read_tokens": sum(step.cached_tokens for step in steps),
            "cache_write_tokens": 0,
            "reasoning_tokens": sum(step.reasoning_tokens for step in steps),
        },
        "failures": ["not_found"] * asked.count(WRONG),
        "outcome": "unknown",
        "incomplete": [],
        "model": MODEL,
    }


def turns(question: int) -> list[dict[str, Any]]:
    """What is said from a question to its answer."""
    asked = shop.QUESTIONS[question]
    told: list[dict[str, Any]] = [{"role": "user", "actor": "customer", "content": asked}]
    for number, step in enumerate(STEPS[asked]):
        calls: list[dict[str, Any]] = [
            {"id": f"call_{question}_{number}_{place}", "name": name, "arguments": held, "corrupt": False}
            for place, (name, held) in enumerate(step.calls)
        ]
        told.append({"role": "assistant", "actor": "agent", "content": step.text})
        if calls:
            told[-1]["tool_calls"] = calls
        told += [
            {
                "role": "tool",
                "actor": "tool",
                "content": "",
                "tool_results": [{"id": call["id"], "response": result(call["name"], call["arguments"])}],
            }
            for call in calls
        ]
    return told


def result(name: str, arguments: Mapping[str, Any]) -> Any:
    """What a tool of the shop answers: JSON, or the text of an error."""
    told = shop.call(name, json.dumps(arguments))
    return told if told.startswith("Error") else json.loads(told)


def _error(told: Any) -> str | None:
    return told if isinstance(told, str) else None
