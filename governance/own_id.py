"""A person's own raw id, where it stands in what is said: it becomes their hash, as in the attributes that carry it."""

from __future__ import annotations

import re
from typing import Any, Final

SHORTEST_ID: Final = 6


class OwnId:
    """A person's raw id, and how it is taken out of texts: where it stands as a word of its own.

    Only one that is distinctive enough is looked for in texts. A mail address is left to masking, which gives it one
    surrogate wherever it stands.
    """

    def __init__(self, raw_id: str | None, subject: str) -> None:
        """``subject`` is the person's hash, which takes the id's place."""
        plain = raw_id or ""
        distinctive = len(plain) >= SHORTEST_ID and "@" not in plain and any(char.isdigit() for char in plain)
        self._raw_id = plain if distinctive else None
        self._shows = repr(plain) == f"'{plain}'"
        """Whether it stands in the repr of a value as it stands in the value."""
        self._subject = subject
        self._pattern: re.Pattern[str] | None = None

    def hidden(self, value: Any) -> Any:
        """The JSON value with the id replaced in every string; the value itself where it stands in none."""
        if self._raw_id is None or not self._within(value):
            return value
        return self._replaced(value)

    def _within(self, value: Any) -> bool:
        """Whether the id may stand somewhere in the value; it is never missed."""
        return not self._shows or (self._raw_id or "") in repr(value)

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._sub(value)
        if isinstance(value, dict):
            return {key: self._replaced(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._replaced(item) for item in value]
        return value

    def _sub(self, text: str) -> str:
        if self._raw_id is None or self._raw_id not in text:
            return text
        if self._pattern is None:
            self._pattern = re.compile(rf"(?<![\w@.\-]){re.escape(self._raw_id)}(?![\w@]|[.\-]\w)")
        return self._pattern.sub(lambda _: self._subject, text)
