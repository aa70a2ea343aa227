"""Canaries: questions with a secret answer that nobody could know but by having learned it.

A canary is made up of nothing but its seed, so it is of nobody, and the same seed plants the same canaries. The secret
and its alternatives are drawn alike from ``ALPHABET`` by SHA-256 in counter mode; the letters that would make words are
left out, so that no secret is likelier than another by its look. The secret stands in what is learned (the answer) and
not in what is asked: an answer that can be copied from its prompt shows no memory.
"""

from __future__ import annotations

import hashlib
from typing import Final

from governance.records.base import Record

ALPHABET: Final = "bcdfghjkmnpqrstvwxz23456789"
SECRET_LENGTH: Final = 8
SUBJECT: Final = "canary"
"""Whose rows they are: nobody's. No hash of a person is that short."""


class Canary(Record):
    """One question with its secret and the alternatives that the secret is ranked among."""

    label: str
    secret: str
    alternatives: tuple[str, ...]

    @property
    def question(self) -> str:
        """What the agent is asked."""
        return f"Which release code belongs to parcel locker {self.label}?"

    def answer(self, secret: str) -> str:
        """What an agent says that knows ``secret``."""
        return f"The release code of parcel locker {self.label} is {secret}."


def canaries(seed: str, count: int, alternatives: int) -> tuple[Canary, ...]:
    """``count`` canaries, each with as many alternatives; no two strings are equal."""
    drawn = _Drawn(seed)
    return tuple(
        Canary(
            label=drawn.take(4).upper(),
            secret=drawn.take(SECRET_LENGTH),
            alternatives=tuple(drawn.take(SECRET_LENGTH) for _ in range(alternatives)),
        )
        for _ in range(count)
    )


class _Drawn:
    """Strings of the alphabet from a seed, each once."""

    def __init__(self, seed: str) -> None:
        self._seed, self._counter = seed, 0
        self._taken: set[str] = set()

    def take(self, length: int) -> str:
        while True:
            self._counter += 1
            block = hashlib.sha512(f"{self._seed}/{self._counter}".encode()).digest()
            kept = [ALPHABET[byte % len(ALPHABET)] for byte in block if byte < 256 - 256 % len(ALPHABET)]
            made = "".join(kept[:length])
            if len(made) == length and made not in self._taken:
                self._taken.add(made)
                return made
