"""Whether an answer equals the expected one, compared in its form.

Theory. Two people write one value in many ways, and a checker that knows one of them punishes the others. So what is
compared is the value: a quantity in whichever unit of its kind (``quantities``), a day, the items of a list, a JSON
value, an expression (``expressions``). What can be read in two ways is no answer: ``03/04/2026`` is not the third of
April. Of a longer text the final answer counts: what stands in LaTeX's last box, or behind the last ``answer:``.

Source: dateutil (days).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Final

from governance.errors import RecordError
from governance.records.base import canonical_json
from governance.records.verifier import AnswerForm
from training.values import fold
from training.verifiers.expressions import expression, same_expression
from training.verifiers.quantities import quantity, same_quantity

_BOXED: Final = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_ANSWER: Final = re.compile(r"\banswer(?:\s*(?:is|:|=))+\s*", re.IGNORECASE)


def equal(form: AnswerForm, expected: str, said: str, tolerance: float = 1e-6) -> bool:
    """Whether what was said equals what is expected. What cannot be read as the form equals nothing.

    Raises:
        RecordError: when what is expected cannot be read: then the task is wrong, and no answer to it.

    """
    value = _READERS[form]
    wanted = value(expected)
    if wanted is None:
        raise RecordError(f"an expected answer is no {form}: {expected[:80]!r}")
    same = _SAME.get(form)
    read = (found for answer in finals(said) if (found := value(answer)) is not None)
    return any(bool(wanted == found) if same is None else same(wanted, found, tolerance) for found in read)


def finals(text: str) -> tuple[str, ...]:
    """What may be the final answer of a text: what it says to be one, its first line alone; else the whole text.

    A text that is the expected answer is one, also where it speaks of answers itself.
    """
    boxed, told = _BOXED.findall(text), list(_ANSWER.finditer(text))
    if boxed:
        return (text.strip(), str(boxed[-1]).strip())
    if not told:
        return (text.strip(),)
    behind = text[told[-1].end() :].strip()
    return text.strip(), behind, behind.partition("\n")[0].strip().rstrip(".")


def _words(text: str) -> str | None:
    return fold(text).rstrip(".!?") or None


def _day(text: str) -> date | None:
    """The day that a text says, if every way to read it says the same."""
    from dateutil import parser

    read: set[date] = set()
    for first in (True, False):
        for default in (datetime(1904, 1, 1), datetime(1936, 12, 28)):  # noqa: DTZ001 - a day has no zone
            try:
                read.add(parser.parse(text, dayfirst=first, yearfirst=False, default=default).date())
            except (ValueError, OverflowError):
                return None
    return read.pop() if len(read) == 1 else None


def _iso_or_said(text: str) -> date | None:
    """ISO 8601 has one reading."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return _day(text)


def _items(text: str) -> frozenset[str] | None:
    read = _json(text)
    listed = json.loads(read) if read is not None else None
    if isinstance(listed, list):
        parts = [item if isinstance(item, str) else canonical_json(item).decode() for item in listed]
    else:
        parts = re.split(r"[,;\n]|\band\b", text.strip().strip("{}[]"))
    found = frozenset(fold(re.sub(r"^\s*(?:[-*\u2022]|\d+[.)])\s+", "", part)).strip("\"'. ") for part in parts)
    return (found - {""}) or None


def _json(text: str) -> bytes | None:
    fenced = re.search(r"```(?:json)?\s*(.*?)```", text, re.DOTALL)
    try:
        return canonical_json(_numbers(json.loads(fenced[1] if fenced else text)))
    except (ValueError, RecursionError):
        return None


def _numbers(value: Any) -> Any:
    """A JSON value whose whole floats are integers: JSON knows one kind of number."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_READERS: Final[dict[AnswerForm, Callable[[str], Any]]] = {
    AnswerForm.EXACT: _words,
    AnswerForm.NUMBER: quantity,
    AnswerForm.DATE: _iso_or_said,
    AnswerForm.SET: _items,
    AnswerForm.JSON: _json,
    AnswerForm.MATH: expression,
}
_SAME: Final[dict[AnswerForm, Callable[[Any, Any, float], bool]]] = {
    AnswerForm.NUMBER: same_quantity,
    AnswerForm.MATH: same_expression,
}
