"""Single values out of an attribute map, whoever wrote it: texts, counts, JSON inside texts.

1. A count is a whole number that is not negative; exporters that write every attribute as text write it in digits. An
   amount of money is a finite number that is not negative, exact to ``MONEY_DIGITS`` decimals, so what a program added
   up in floating point is again what its parts say.
2. Of several spellings of one value the first that is there counts, so nothing is added twice.
3. Cached tokens are part of the input and reasoning tokens of the output. Where a convention states them apart, or
   where they are more than the whole that they should be part of, they are added to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.usage import Usage
from ingestion.text import NotJson, parse_json

NOTHING: Final = SpanContent()
"""What a dialect reads from a span that does not speak it."""
EXECUTE_TOOL: Final = "execute_tool"
MONEY_DIGITS: Final = 12
DOLLARS: Final = "USD"
"""The currency of a cost whose convention names none: those that state a cost state it in dollars."""
_LONGEST_AMOUNT: Final = 40
MOST_MONEY: Final = 1e12
"""What is more is no cost."""
_FIGURES: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_OPERATIONS: Final = {
    "call_llm": "chat", "llm_call": "chat", "text_completion": "chat", "generate_content": "chat",
    "completion": "chat", "chain": "invoke_workflow", "tool_call": EXECUTE_TOOL, "agent_call": "invoke_agent",
}  # fmt: skip
"""Values of ``gen_ai.operation.name`` that mean what another value of the convention means."""


def operation_name(name: str) -> str:
    """The one name of an operation; a name that is not known stands for itself."""
    return _OPERATIONS.get(name, name)


def string(attributes: Mapping[str, Any], *keys: str) -> str | None:
    """The first of these attributes that is a text with something in it."""
    for key in keys:
        text = attributes.get(key)
        if isinstance(text, str) and text:
            return text
    return None


def present(attributes: Mapping[str, Any], *keys: str) -> Any:
    """The first of these attributes that is there and not null."""
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def count(attributes: Mapping[str, Any], *keys: str) -> int | None:
    """The first of these attributes that is a count."""
    for key in keys:
        number = _whole(attributes.get(key))
        if number is not None:
            return number
    return None


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(2**63))
    return int(value) if digits else None


def amount(attributes: Mapping[str, Any], *keys: str) -> float | None:
    """The first of these attributes that is an amount of money."""
    for key in keys:
        money = _money(attributes.get(key))
        if money is not None:
            return money
    return None


def _money(value: Any) -> float | None:
    if isinstance(value, str) and len(value) <= _LONGEST_AMOUNT:
        try:
            value = float(value)
        except ValueError:
            return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(float(value), MONEY_DIGITS) if number and 0 <= value <= MOST_MONEY else None


def added(*amounts: float | None) -> float | None:
    """The sum of the amounts that are there; None where none is."""
    there = [one for one in amounts if one is not None]
    return round(math.fsum(there), MONEY_DIGITS) if there else None


def usage(
    input_tokens: int | None,
    output_tokens: int | None,
    *,
    cache_read: int | None = None,
    cache_write: int | None = None,
    reasoning: int | None = None,
    apart: bool = False,
    cost: float | None = None,
    currency: str | None = None,
) -> Usage | None:
    """The tokens and the cost of a span, if it states any; ``apart`` where the parts are not in the wholes."""
    if input_tokens is output_tokens is cache_read is cache_write is reasoning is cost is None:
        return None
    cached, thought = (cache_read or 0) + (cache_write or 0), reasoning or 0
    whole_in, whole_out = input_tokens or 0, output_tokens or 0
    return Usage.proven(
        input_tokens=whole_in + cached if apart or cached > whole_in else whole_in,
        output_tokens=whole_out + thought if apart or thought > whole_out else whole_out,
        cache_read_tokens=cache_read or 0,
        cache_write_tokens=cache_write or 0,
        reasoning_tokens=thought,
        cost=cost,
        currency=None if cost is None else currency or DOLLARS,
    )


def whole_usage(stated: Iterable[Usage | None]) -> Usage | None:
    """What several conventions say of one span: of each figure, the first that is more than nothing."""
    there = [one for one in stated if one is not None]
    if len(there) <= 1:
        return there[0] if there else None
    figures = {name: next((value for one in there if (value := getattr(one, name))), 0) for name in _FIGURES}
    priced = next((one for one in there if one.cost), next((one for one in there if one.cost is not None), there[0]))
    return Usage(**figures, cost=priced.cost, currency=priced.currency)


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
