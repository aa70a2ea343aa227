"""A person's own raw id, where it stands in what is said: it becomes their hash, as in the attributes that carry it.

Only an id that is distinctive enough is looked for: ``SHORTEST_ID`` characters with a digit among them. A mail address
is left to masking, which gives it one surrogate wherever it stands. The id is looked for where masking looks: in JSON
inside strings, in bytes that are text, in the names of fields, in numbers, and in any spelling (``masking.reading``). A
number that is the id becomes the digits of the hash, as in a field that is named for the id; its sign goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from governance.masking.annotations import with_places
from governance.masking.field_names import may_be_value
from governance.masking.mapped import may_hide_ascii
from governance.masking.reading import said_at
from governance.masking.walker import whole_digits
from governance.ports.masker import Masked

SHORTEST_ID: Final = 6
_WORD: Final = re.compile(r"(?<![\w@.\-])\w[\w.:|\-]*\w(?![\w@]|[.\-]\w)")
"""What may be an id."""
_JOINED: Final = re.compile(r"[\w@.\-]")
_ENDS: Final = re.compile(r"(?![\w@]|[.\-]\w)")
_ESCAPED: Final = frozenset("\"\\/<>&'")
"""What encoders of JSON write in another way, some of them."""
_BYTES: Final = "bytesValue"
_CONTAINERS: Final = (dict, list, tuple)
_HOLDING: Final = (*_CONTAINERS, int, float)
_ESCAPE: Final = "\\u"


class OwnId:
    """A person's raw id, and how it is taken out of texts: where it stands as a word of its own."""

    def __init__(self, raw_id: str | None, subject: str) -> None:
        """``subject`` is the person's hash, which takes the id's place."""
        plain = raw_id or ""
        self._raw_id = plain if _is_distinctive(plain) else None
        self._shows = plain.isascii() and plain.isprintable() and _ESCAPED.isdisjoint(plain)
        """Whether it stands in JSON inside a text as it stands in a text."""
        self._subject = subject

    def hidden(self, masked: Masked) -> Masked:
        """The masked value with the id replaced in every text; the same object where it stands in none."""
        if self._raw_id is None or (self._shows and not _may_hold(self._raw_id, masked.value)):
            return masked
        raw_id = self._raw_id
        may_hold = partial(_may_mean, raw_id) if self._shows else None
        return with_places(
            masked, self._places, self._subject, lambda name: may_be_value(name) or raw_id in name, may_hold
        )

    def may_stand_in(self, texts: Iterable[str]) -> bool:
        """Whether the id may stand in one of these texts, told without reading what is written in them."""
        return self._raw_id is not None and (not self._shows or _stands(self._raw_id, "\n".join(texts)))

    def _places(self, text: str) -> list[tuple[int, int]]:
        return said_at(text, self._written)

    def _written(self, text: str) -> list[tuple[int, int]]:
        return [] if self._raw_id is None else list(_alone(self._raw_id, text))


class HashedId:
    """A person's raw id that is known by its hash alone: each word that may be one is hashed and compared."""

    def __init__(self, subject: str, hashed: Callable[[str], str]) -> None:
        """``hashed`` is the tenant's keyed hash of a raw id."""
        self._subject = subject
        self._hashed = hashed
        self._known: dict[str, bool] = {}

    def hidden(self, masked: Masked) -> Masked:
        """The masked value with the id replaced in every text; the same object where it stands in none."""
        names = lambda name: may_be_value(name) or bool(self._places(name))  # noqa: E731 - as short as what it says
        return with_places(masked, self._places, self._subject, names)

    def may_stand_in(self, texts: Iterable[str]) -> bool:  # noqa: ARG002 - only reading tells
        """Whether the id may stand in one of these texts: any of their words may be it."""
        return True

    def _places(self, text: str) -> list[tuple[int, int]]:
        return said_at(text, self._written)

    def _written(self, text: str) -> list[tuple[int, int]]:
        return [found.span() for found in _WORD.finditer(text) if self._is_theirs(found.group())]

    def _is_theirs(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = _is_distinctive(word) and self._hashed(word) == self._subject
        return self._known[word]


def _alone(raw_id: str, text: str) -> Iterator[tuple[int, int]]:
    """Where an id stands as a word of its own. A pattern of each person's would take longer to make than to use."""
    at = text.find(raw_id)
    while at >= 0:
        end = at + len(raw_id)
        stands = (at == 0 or not _JOINED.match(text, at - 1)) and _ENDS.match(text, end) is not None
        if stands:
            yield at, end
        at = text.find(raw_id, end if stands else at + 1)


def _is_distinctive(text: str) -> bool:
    return len(text) >= SHORTEST_ID and "@" not in text and any(char.isdigit() for char in text)


def _may_hold(raw_id: str, value: Any) -> bool:
    """Whether an id that is never escaped may stand in a text, a name or bytes of the value."""
    waiting, texts = [value], list[str]()
    for item in waiting:
        if isinstance(item, str):
            texts.append(item)
        elif item and isinstance(item, dict):
            texts += item
            inside = item.values()
            texts += [one for one in inside if isinstance(one, str)]
            waiting += [one for one in inside if isinstance(one, _HOLDING)]
        elif item and isinstance(item, _CONTAINERS):
            waiting += item
        elif isinstance(item, int | float) and not isinstance(item, bool):
            texts.append(whole_digits(str(item)))
    return _stands(raw_id, "\n".join(texts))  # the id has no line break, so joining neither hides nor makes one


def _stands(raw_id: str, written: str) -> bool:
    return raw_id in written or _BYTES in written or may_hide_ascii(written)


def _may_mean(raw_id: str, value: Any) -> bool:
    """Whether an id may stand in a value, or in JSON in it that writes its characters in another way."""
    return _may_hold(raw_id, value) or _may_hold(_ESCAPE, value)
