"""A person's own raw id, where it stands in what is said: it becomes their hash, as in the attributes that carry it.

Only an id that is distinctive enough is looked for: ``SHORTEST_ID`` characters with a digit among them. A mail address
is left to masking, which gives it one surrogate wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

SHORTEST_ID: Final = 6
_WORD: Final = re.compile(r"(?<![\w@.\-])\w[\w.:|\-]*\w(?![\w@]|[.\-]\w)")
"""What may be an id."""


class OwnId:
    """A person's raw id, and how it is taken out of texts: where it stands as a word of its own."""

    def __init__(self, raw_id: str | None, subject: str) -> None:
        """``subject`` is the person's hash, which takes the id's place."""
        plain = raw_id or ""
        self._raw_id = plain if _is_distinctive(plain) else None
        self._shows = repr(plain) == f"'{plain}'"
        """Whether it stands in the repr of a value as it stands in the value."""
        self._subject = subject
        self._pattern: re.Pattern[str] | None = None

    def hidden(self, value: Any) -> Any:
        """The JSON value with the id replaced in every string; the value itself where it stands in none."""
        if self._raw_id is None or not self._within(value):
            return value
        return _in_texts(value, self._sub)

    def _within(self, value: Any) -> bool:
        """Whether the id may stand somewhere in the value; it is never missed."""
        return not self._shows or (self._raw_id or "") in repr(value)

    def _sub(self, text: str) -> str:
        if self._raw_id is None or self._raw_id not in text:
            return text
        if self._pattern is None:
            self._pattern = re.compile(rf"(?<![\w@.\-]){re.escape(self._raw_id)}(?![\w@]|[.\-]\w)")
        return self._pattern.sub(lambda _: self._subject, text)


class HashedId:
    """A person's raw id that is known by its hash alone: each word that may be one is hashed and compared."""

    def __init__(self, subject: str, hashed: Callable[[str], str]) -> None:
        """``hashed`` is the tenant's keyed hash of a raw id."""
        self._subject = subject
        self._hashed = hashed
        self._known: dict[str, bool] = {}

    def hidden(self, value: Any) -> Any:
        """The JSON value with the id replaced in every string; the value itself where it stands in none."""
        made = _in_texts(value, self._sub)
        return value if made == value else made

    def _sub(self, text: str) -> str:
        return _WORD.sub(lambda found: self._subject if self._is_theirs(found.group()) else found.group(), text)

    def _is_theirs(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = _is_distinctive(word) and self._hashed(word) == self._subject
        return self._known[word]


def _is_distinctive(text: str) -> bool:
    return len(text) >= SHORTEST_ID and "@" not in text and any(char.isdigit() for char in text)


def _in_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _in_texts(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_texts(item, change) for item in value]
    return value
