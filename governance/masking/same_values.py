"""Values of a record by their keyed identity, so that the same value is known where nothing beside it tells what it is.

A table by telephone number has the number as the name of a field and again, in the record below, as the value of
``phone``. Only the second says what it is; the first must become the same surrogate.
"""

from __future__ import annotations

from collections.abc import Iterable

from governance.masking.judgement import Mention


class SameValues:
    """What was found in a record."""

    def __init__(self, found: Iterable[tuple[str, str]], mention: Mention) -> None:
        """``found`` are types and mentions; ``mention`` is the tenant's, which made them."""
        self._mention = mention
        self._mentions: dict[str, set[str]] = {}
        for kind, mentioned in found:
            self._mentions.setdefault(kind, set()).add(mentioned)

    def type_of(self, text: str) -> str | None:
        """The type under which the same value was found."""
        return next((kind for kind, held in self._mentions.items() if self._mention(kind, text) in held), None)
