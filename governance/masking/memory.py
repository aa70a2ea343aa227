"""What was found in texts, remembered without the texts.

Guarantees. A text is known by its digest (BLAKE2b) under a key that this process drew and that nothing else holds, so
neither the memory nor a dump of it tells whether somebody's text was seen. It is bounded in entries and in bytes; what
was not asked for longest goes first. It lives as long as its process: each process of a drain has its own.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from hashlib import blake2b
from typing import Final, Generic, TypeVar

ENTRY_BYTES: Final = 250
"""Of an entry: its name, its place in the table and an empty value."""
ITEM_BYTES: Final = 350
"""Of a finding in it."""
T = TypeVar("T")


class Memory(Generic[T]):
    """Values by the name of a text."""

    def __init__(self, entries: int, size: int) -> None:
        """At most so many entries, and so many bytes."""
        self._entries = entries
        self._size = size
        self._key = secrets.token_bytes(32)
        self._held: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self.bytes = 0
        """What the entries take, estimated."""

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._held)

    def name(self, *parts: str) -> bytes:
        """The name of a text and what else decides what is found in it."""
        name = blake2b(key=self._key, digest_size=16)
        for part in parts:
            coded = part.encode("utf-8", "surrogatepass")
            name.update(len(coded).to_bytes(8, "big"))
            name.update(coded)
        return name.digest()

    def get(self, name: bytes) -> T | None:
        """What is remembered under a name."""
        found = self._held.get(name)
        if found is None:
            return None
        self._held.move_to_end(name)
        return found[0]

    def put(self, name: bytes, value: T, items: int) -> None:
        """Remember a value of so many items."""
        before = self._held.pop(name, None)
        size = ENTRY_BYTES + ITEM_BYTES * items
        self.bytes += size - (before[1] if before else 0)
        self._held[name] = value, size
        while self._held and (len(self._held) > self._entries or self.bytes > self._size):
            _, (_, gone) = self._held.popitem(last=False)
            self.bytes -= gone
