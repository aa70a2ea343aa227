"""LangChain's own shapes of a tool's run, whichever convention carries them.

Source: ``langchain_core`` (``dumpd`` and ``message_to_dict`` of a ``ToolMessage``; what ``on_tool_start`` and
``on_tool_end`` are given) as LangSmith, OpenInference and OpenLLMetry write it. A tool answers with a message: its
content is the result, its id the call's. A value of another shape is itself.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ingestion.dialects.messages import read_result
from ingestion.dialects.parts import joined
from ingestion.dialects.values import string, unquoted

_RUN: Final = frozenset({"input_str", "inputs"})
_MOST: Final = 4


class Told(NamedTuple):
    """One side of a tool's run: arguments or result, and the id of the call where it stands there."""

    value: Any
    call_id: str | None = None


def arguments(value: Any) -> Told:
    """What a tool was called with; the value as it was where it is no run of LangChain's."""
    parsed = unquoted(value, set())
    if not isinstance(parsed, dict) or not parsed.keys() >= _RUN:
        return Told(value)
    around = parsed.get("kwargs")
    given = parsed["inputs"] if parsed["inputs"] is not None else parsed["input_str"]
    return Told(given, string(around, "tool_call_id") if isinstance(around, dict) else None)


def result(value: Any, notes: set[str]) -> Told:
    """What a tool gave back."""
    held = unquoted(value, set())
    for _ in range(_MOST):
        if not isinstance(held, dict):
            break
        if "tool_call_id" in held and "content" in held and held.get("type") == "tool":
            content = held["content"]
            said = content if isinstance(content, str) else joined(content)
            return Told(read_result(said, notes), string(held, "tool_call_id"))
        held = _inside(held)
    return Told(read_result(value, notes))


def _inside(held: dict[str, Any]) -> Any:
    """One wrapping taken off: a run's output, a serialised object, a message with its type beside it."""
    if isinstance(held.get("output"), dict) and held.keys() <= {"output", "kwargs"}:
        return held["output"]
    if held.get("lc") and isinstance(held.get("kwargs"), dict):
        return held["kwargs"]
    return held["data"] if held.get("type") == "tool" and isinstance(held.get("data"), dict) else None
