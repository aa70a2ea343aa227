"""Which call of a message a tool's span executed.

By the id of the call and its name; else by name and arguments; else by name where one of them has no arguments; else by
what the names have in common after a prefix (``server__tool``, ``module.tool``). The span ``handoff to AGENT`` of the
OpenAI Agents SDK is the call ``transfer_to_AGENT``. Calls of this run come before those of
its history, which only an id can name. Each call is taken once, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from governance.records.trajectory import ToolInvocation
from ingestion.conversation.asked import Asked
from ingestion.conversation.atoms import frozen

_PREFIX: Final = re.compile(r"[./:]|__")
HANDOFF: Final = "handoff to "


class Open:
    """The calls of a thread that no span has executed yet."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        """All of them."""
        self._ids: dict[str, list[Asked]] = {}
        self._names: dict[str, list[Asked]] = {}
        for one in sorted(asked, key=lambda one: one.entry.earlier):
            if one.part.id:
                self._ids.setdefault(one.part.id, []).append(one)
            if not one.entry.earlier:
                self._names.setdefault(_base(one.part.name), []).append(one)

    def take(self, made: ToolInvocation, call_id: str | None) -> Asked | None:
        """The call that was executed; None where no message asked for it."""
        found = next(self._fitting(made, call_id), None)
        if found is None:
            return None
        found.executed = True
        for index, key in ((self._ids, found.part.id), (self._names, _base(found.part.name))):
            held = index.get(key, [])
            if found in held:
                held.remove(found)
        return found

    def _fitting(self, made: ToolInvocation, call_id: str | None) -> Iterator[Asked]:
        base = _base(made.name)
        if call_id is not None:
            named = self._ids.get(call_id, [])
            yield from (one for one in named if not (one.part.name and made.name) or _base(one.part.name) == base)
        alike, given = self._names.get(base, []), frozen(made.arguments)
        equal = [one for one in alike if one.part.name == made.name]
        yield from (one for one in equal if frozen(one.part.arguments) == given)
        yield from (one for one in equal if made.arguments is None or one.part.arguments is None)
        yield from (one for one in alike if frozen(one.part.arguments) == given)
        if made.name.startswith(HANDOFF):
            agent = made.name.removeprefix(HANDOFF).strip().replace(" ", "_")
            yield from self._names.get(f"transfer_to_{agent}", [])


def _base(name: str) -> str:
    """A name without the prefix of its server or module."""
    return _PREFIX.split(name)[-1]
