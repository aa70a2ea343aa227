"""An action: what the model says in one step, as exactly one JSON object ``{"tool": name, "arguments": {...}}``.

1. ``schema`` is the JSON Schema of the actions that are permitted now; with structured output the model can say nothing
   else, so permissions hold by construction and not by the model's good will.
2. ``parse`` is total: any text gives an ``Action`` or a ``Fault`` that says what is wrong. A text that is not exactly
   one JSON value (two concatenated objects, a tail, a repeated key, NaN) is a fault and never half of a call; arguments
   that arrive as a JSON *string* are a fault too, so escaped JSON is never learned.
3. ``render`` is the one text form: ``parse(render(action)) == action``. It is what a demonstration is tokenised from,
   and what a grammar without free white space makes the model write (``serving.vllm_server`` starts vLLM so; with free
   white space a small model fills its limit with line breaks).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from governance.records.base import Record
from governance.records.harness import ToolSpec


class Action(Record):
    """One decision of the agent."""

    tool: str
    arguments: dict[str, Any]


class Fault(Record):
    """Why a text is not an action."""

    kind: str
    """``not_one_json_value``, ``not_an_action``, ``arguments_not_an_object`` or ``not_unicode``."""
    detail: str


class _Refused(ValueError):
    """A JSON text that the standard decoder would take and this one does not."""


def schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """The JSON Schema of one action among ``tools``.

    Raises:
        ValueError: when no tool is offered: such a step could not end.

    """
    if not tools:
        raise ValueError("no tool is offered, so no action is possible")
    options = [_option(tool) for tool in tools]
    return options[0] if len(options) == 1 else {"oneOf": options}


def _option(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": {"const": tool.name}, "arguments": tool.parameters},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def render(action: Action) -> str:
    """The one text form of an action."""
    return dump({"tool": action.tool, "arguments": action.arguments})


def dump(value: Any) -> str:
    """JSON as the model reads and writes it: one line, no free white space, letters as they are."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def parse(text: str) -> Action | Fault:
    """Read an action text; never raises."""
    try:
        value = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return Fault(kind="not_one_json_value", detail=str(error) or type(error).__name__)
    if not _is_unicode(value):
        return Fault(kind="not_unicode", detail="a string holds half of a surrogate pair")
    if not isinstance(value, dict) or set(value) != {"tool", "arguments"} or not isinstance(value["tool"], str):
        return Fault(kind="not_an_action", detail='an action has exactly the keys "tool" (a string) and "arguments"')
    if not isinstance(value["arguments"], dict):
        found = type(value["arguments"]).__name__
        return Fault(kind="arguments_not_an_object", detail=f"arguments are a JSON {found}, not an object")
    return Action(tool=value["tool"], arguments=value["arguments"])


def violation(tool: ToolSpec, arguments: dict[str, Any]) -> str | None:
    """How ``arguments`` break the tool's declared schema, or None; names the first field by its path."""
    import jsonschema  # type: ignore[import-untyped]

    validator = jsonschema.Draft202012Validator(tool.parameters)
    error = next(iter(sorted(validator.iter_errors(arguments), key=lambda found: list(map(str, found.path)))), None)
    if error is None:
        return None
    where = ".".join(map(str, error.path)) or "arguments"
    return f"{where}: {error.message}"


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("an object repeats a key")
    return value


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is not JSON")


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (UnicodeEncodeError, ValueError, RecursionError):
        return False
    return True
