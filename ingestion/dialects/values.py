"""Single values out of an attribute map, whoever wrote it: texts, counts, JSON inside texts.

1. A count is a whole number that is not negative; exporters that write every attribute as text write it in digits.
2. Of several spellings of one value the first that is there counts, so nothing is added twice: cached tokens are part
   of the input and reasoning tokens of the output wherever a convention states both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.trajectory import Usage
from ingestion.text import NotJson, parse_json

NOTHING: Final = SpanContent()
"""What a dialect reads from a span that does not speak it."""
EXECUTE_TOOL: Final = "execute_tool"
_OPERATIONS: Final = {
    "call_llm": "chat", "llm_call": "chat", "text_completion": "chat", "generate_content": "chat",
    "completion": "chat", "tool_call": EXECUTE_TOOL, "agent_call": "invoke_agent",
}  # fmt: skip
"""Values of ``gen_ai.operation.name`` that mean what another value of the convention means."""


def operation_name(name: str) -> str:
    """The one name of an operation; a name that is not known stands for itself."""
    return _OPERATIONS.get(name, name)


def string(attributes: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these attributes that is a text with something in it."""
    return next((attributes[key] for key in keys if isinstance(attributes.get(key), str) and attributes[key]), None)


def present(attributes: Mapping[str, Any], *keys: str) -> Any:
    """The first of these attributes that is there and not null."""
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def count(attributes: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these attributes that is a count."""
    return next((number for number in (_whole(attributes.get(key)) for key in keys) if number is not None), None)


def _whole(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(2**63))
    return int(value) if digits else None


def usage(input_tokens: int | None, output_tokens: int | None) -> Usage | None:
    """The tokens of a span, if it states any."""
    if input_tokens is None and output_tokens is None:
        return None
    return Usage(input_tokens=input_tokens or 0, output_tokens=output_tokens or 0)


def unquoted(value: Any, notes: set[str]) -> Any:
    """The JSON value that a text holds; any other text, and any other value, is itself."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, notes)
    except NotJson:
        return value


def structured(value: Any, notes: set[str]) -> Any:
    """The list or object that a text holds; any other text is itself."""
    parsed = unquoted(value, notes) if isinstance(value, str) and value.lstrip().startswith(("{", "[")) else value
    return parsed if isinstance(parsed, dict | list) else value
