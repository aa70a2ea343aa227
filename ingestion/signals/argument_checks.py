"""Whether a call's arguments are what its tool declared.

Theory. A part of JSON Schema, the part that models get wrong, checked by our own bounded walk: ``type``, ``required``,
``enum``, ``const``, ``additionalProperties: false``, ``properties``, ``items``, ``anyOf``, ``oneOf``, ``allOf``, and
``$ref`` to an entry of the root's ``$defs`` or ``definitions``. Each of them can only refuse, so what is left out can
hide a fault and never invent one. A declaration is a stranger's text, so:

1. Every look at a schema, a member or an item is a step; a call has ``STEPS`` of them, all calls of a trace together
   ``TRACE_STEPS``, and nothing nests deeper than ``DEEPEST``. A check that needs more says nothing. Checks run where
   traces are assembled, at times within the transaction that stores them, which is why their work is bounded.
2. A rule of a shape that is unknown says nothing, nothing is fetched, nothing is matched or computed. Nothing raises.
   What stands beside a ``$ref`` says nothing (it counts in some drafts only).

Both the arguments and the declaration were masked, and masking may change a text or a number, never its type:

- ``pattern``, ``format``, lengths, bounds and ``multipleOf`` are not checked, nor ``enum`` and ``const`` of numbers: a
  phone number written as an integer is another integer now.
- ``enum`` and ``const`` of texts are checked only where all of them and the argument are plain words: lower-case ASCII
  letters, joined by ``_`` or ``-``, at most ``LONGEST_WORD`` characters. What replaces a person's data rarely looks so.
- A name counts as required only where ``properties`` declares it too, and names with ``@`` (which may have been
  replaced) say nothing.

``nullable: true`` (OpenAPI 3.0) takes null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

STEPS: Final = 20_000
"""Of one call: an array of some thousand objects."""
TRACE_STEPS: Final = 200_000
"""Of all calls of a trace: a fraction of a second."""
DEEPEST: Final = 64
"""Schemas within schemas, references included."""
LONGEST_WORD: Final = 32
_WORD: Final = re.compile(r"[a-z]+(?:[_-][a-z]+)*")
_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": lambda value: _is_number(value),  # noqa: PLW0108 - defined below
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, dict),
}
_HOMES: Final = ("$defs", "definitions")


class ArgumentChecks:
    """The checks of one trace's calls, with the steps that are left to them."""

    def __init__(self, steps: int = TRACE_STEPS) -> None:
        """``steps`` is for all checks together."""
        self._left = steps

    def first_fault(self, schema: dict[str, Any], arguments: Any) -> str | None:
        """Which rule the arguments break first and where, as ``required at /items/0``.

        None when they hold, and where it cannot be told.
        """
        walk = _Walk(schema, min(STEPS, self._left))
        try:
            return next(walk.faults(schema, arguments, "/", 0), None)
        except _Spent:
            return None
        finally:
            self._left -= walk.taken


class _Spent(Exception):
    """The steps are used up, or it nests too deep."""


class _Walk:
    """One value against one schema."""

    def __init__(self, root: dict[str, Any], steps: int) -> None:
        self._root = root
        self._steps = steps
        self.taken = 0

    def faults(self, schema: Any, value: Any, path: str, depth: int) -> Iterator[str]:
        """The value's own faults first, then those inside it, in its order."""
        self._step(1 if depth <= DEEPEST else self._steps + 1)
        if not isinstance(schema, dict) or (value is None and schema.get("nullable") is True):
            return
        if "$id" in schema and schema is not self._root:
            return  # references inside it are its own
        if "$ref" in schema:
            yield from self.faults(self._target(schema["$ref"]), value, path, depth + 1)
            return
        for rule in self._own(schema, value):
            yield f"{rule} at {path}"
        yield from self._combined(schema, value, path, depth + 1)
        for inner, item, name in self._inside(schema, value):
            yield from self.faults(inner, item, f"{path.rstrip('/')}/{name}", depth + 1)

    def _step(self, number: int = 1) -> None:
        self.taken = min(self.taken + number, self._steps)
        if self.taken == self._steps:
            raise _Spent

    def _target(self, ref: Any) -> Any:
        """The entry that a reference names; None where it names something else."""
        parts = ref.split("/") if isinstance(ref, str) else []
        if len(parts) != 3 or parts[0] != "#" or parts[1] not in _HOMES:
            return None
        home = self._root.get(parts[1])
        return home.get(parts[2].replace("~1", "/").replace("~0", "~")) if isinstance(home, dict) else None

    def _own(self, schema: dict[str, Any], value: Any) -> Iterator[str]:
        """The rules of this schema that the value itself breaks."""
        types = self._texts(schema.get("type"))
        if types and all(one in _TYPES and not _TYPES[one](value) for one in types):
            yield "type"
        if "const" in schema and self._is_another(value, [schema["const"]]):
            yield "const"
        if self._is_another(value, schema.get("enum")):
            yield "enum"
        declared = schema.get("properties")
        if not isinstance(value, dict) or not isinstance(declared, dict):
            return
        if any(
            name in declared and name not in value and "@" not in name for name in self._texts(schema.get("required"))
        ):
            yield "required"
        if schema.get("additionalProperties") is False and "patternProperties" not in schema:
            self._step(len(value))
            if any(name not in declared and "@" not in str(name) for name in value):
                yield "additionalProperties"

    def _texts(self, held: Any) -> list[str]:
        """A text or a list of texts; nothing where it is something else."""
        if isinstance(held, str):
            return [held]
        if not isinstance(held, list | tuple):
            return []
        self._step(len(held))
        return list(held) if all(isinstance(one, str) for one in held) else []

    def _is_another(self, value: Any, words: Any) -> bool:
        """Whether it is a plain word, and not one of these plain words (or nulls)."""
        if not _is_word(value) or not isinstance(words, list | tuple) or not words:
            return False
        self._step(len(words))
        return all(one is None or (_is_word(one) and one != value) for one in words)

    def _combined(self, schema: dict[str, Any], value: Any, path: str, depth: int) -> Iterator[str]:
        for name in ("anyOf", "oneOf"):
            branches = schema.get(name)
            if not isinstance(branches, list | tuple) or not branches:
                continue
            if all(next(self.faults(branch, value, path, depth), None) for branch in branches):
                yield f"{name} at {path}"
        every = schema.get("allOf")
        for branch in every if isinstance(every, list | tuple) else ():
            yield from self.faults(branch, value, path, depth)

    def _inside(self, schema: dict[str, Any], value: Any) -> Iterator[tuple[Any, Any, str]]:
        """Each member and item with its schema and name."""
        declared, items = schema.get("properties"), schema.get("items")
        if isinstance(value, dict) and isinstance(declared, dict):
            self._step(len(value))
            for name in sorted(name for name in value if isinstance(name, str) and name in declared):
                yield declared[name], value[name], name
        elif isinstance(value, list | tuple) and isinstance(items, dict) and "prefixItems" not in schema:
            for number, item in enumerate(value):
                yield items, item, str(number)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_WORD and _WORD.fullmatch(value) is not None
