"""How many personal values were replaced, by channel and type: numbers only, for the ledger.

A channel is where in a run a value stood: ``user``, ``assistant``, ``system``, ``tool`` (the text of a message, by
its role), ``tool_arguments``, ``tool_results``, ``attributes`` (anything else of a span) or ``feedback``. A message
counts once for each batch in which it is masked, however many spans of the batch repeat it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from governance.ports.masker import Finding
from governance.records.message import Role

Found = Counter[tuple[str, str]]
"""Channel and entity type to count."""
_CARRIED: Final = {
    "tool_arguments": "tool_arguments",
    "tool_result": "tool_results",
    "evaluations": "feedback",
}
_PARTS: Final = {"arguments": "tool_arguments", "response": "tool_results"}


def in_message(role: Role, findings: Iterable[Finding]) -> Found:
    """The findings of a message (``/parts/0/text``, ``/parts/1/arguments/...``)."""
    return Counter((_PARTS.get(_token(one.pointer, 3), role.value), one.entity_type) for one in findings)


def in_span(findings: Iterable[Finding]) -> Found:
    """The findings of what a span carries beside its messages (``/span/...``, ``/content/tool_result/...``)."""
    return Counter((_carried(one.pointer), one.entity_type) for one in findings)


def in_feedback(findings: Iterable[Finding]) -> Found:
    """The findings of what was said about a run."""
    return Counter(("feedback", one.entity_type) for one in findings)


def by_channel(found: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Channel to type to count, as the ledger keeps it."""
    made: dict[str, dict[str, int]] = {}
    for (channel, kind), count in sorted(found.items()):
        made.setdefault(channel, {})[kind] = count
    return made


def _carried(pointer: str) -> str:
    return _CARRIED.get(_token(pointer, 2), "attributes") if _token(pointer, 1) == "content" else "attributes"


def _token(pointer: str, place: int) -> str:
    return (*pointer.split("/", place + 1), *[""] * place)[place]
