"""Keyed choices: what a surrogate is drawn from.

Guarantees. The same key and label draw the same choices, and nobody without the key can recompute one (HMAC-SHA256 in
counter mode). ``Draw`` gives as many choices as are asked for, each unbiased up to 2^-64. ``others`` puts a range into
one keyed cycle (a keyed permutation by a Feistel network with cycle walking, as in NIST SP 800-38G) and gives what
follows a number in it: the first is another number, one for each (``shifted``), and so is the first with any property
that the number itself has, since walking on to it is a permutation of those that have it. ``placed`` maps a larger
range into a smaller one: numbers of one block, as many as the range has, never meet; those of different blocks meet by
chance. ``marked`` is the keyed proof that a text is a surrogate: one text in ``MARK`` passes by chance, every surrogate
that carries the mark does.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import Final

MARK: Final = 16
"""One text in so many carries the mark by chance."""
_ROUNDS: Final = 8
_SPARE: Final = 1 << 64


class Draw:
    """A stream of keyed choices for one value."""

    def __init__(self, key: bytes, label: str) -> None:
        """The same key and label draw the same choices."""
        self._seed = _hmac(key, label)
        self._state = int.from_bytes(self._seed, "big")
        self._range = 1 << 256
        self._block = 0

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit - 1``."""
        while self._range < limit * _SPARE:
            self._block += 1
            self._state = (self._state << 256) | int.from_bytes(_hmac(self._seed, str(self._block)), "big")
            self._range <<= 256
        self._state, rest = divmod(self._state, limit)
        self._range //= limit
        return rest

    def pick(self, options: Sequence[str]) -> str:
        """One of the options."""
        return options[self.below(len(options))]

    def digits(self, count: int) -> str:
        """That many decimal digits."""
        return "".join(str(self.below(10)) for _ in range(count))

    def hex(self, count: int) -> str:
        """That many hex digits."""
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(count))


class Seed:
    """One tenant's secrets for surrogates: the key of the choices and the key of the mark."""

    def __init__(self, key: bytes) -> None:
        """Both are derived from the tenant's surrogate key."""
        self._key = key
        self._mark_key = _hmac(key, "mark")

    def draw(self, kind: str, value: str, attempt: int = 0) -> Draw:
        """The choices for a value; another attempt draws others."""
        label = f"{kind}\x1f{value}"
        return Draw(self._key, f"{label}\x1f{attempt}" if attempt else label)

    def marked(self, kind: str, text: str) -> bool:
        """Whether the text carries the mark of that kind."""
        return _hmac(self._mark_key, f"{kind}\x1f{text}")[0] < 256 // MARK

    def tag(self, kind: str, text: str) -> Draw:
        """The choices that prove a text: whoever draws them again knows that it is a surrogate."""
        return Draw(self._mark_key, f"{kind}\x1ftag\x1f{text}")

    def shifted(self, kind: str, value: int, size: int) -> int:
        """Another number below ``size``, one for each and never itself."""
        return next(self.others(kind, value, size), value)

    def placed(self, kind: str, value: int, size: int) -> int:
        """A number below ``size``: one for each value of a block of ``size`` values, by chance between blocks."""
        block, start = divmod(value, size)
        return self.shifted(f"{kind}\x1f{block}", start, size)

    def others(self, kind: str, value: int, size: int) -> Iterator[int]:
        """All other numbers below ``size``, in the order of one keyed cycle from ``value`` on."""
        label = f"{kind}\x1f{size}"
        place = _permuted(self._key, label, value, size, inverse=False) if size > 1 else 0
        for step in range(1, size):
            yield _permuted(self._key, label, (place + step) % size, size, inverse=True)


def _permuted(key: bytes, label: str, value: int, size: int, *, inverse: bool) -> int:
    """A keyed permutation of the numbers below ``size``, or its inverse."""
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    rounds = [f"{label}\x1f{number}\x1f" for number in range(_ROUNDS)]
    place = value
    while True:
        left, right = place >> half, place & mask
        if inverse:
            for label_ in reversed(rounds):
                left, right = right ^ _number(key, f"{label_}{left}", half), left
        else:
            for label_ in rounds:
                left, right = right, left ^ _number(key, f"{label_}{right}", half)
        place = (left << half) | right
        if place < size:
            return place


def _number(key: bytes, label: str, bits: int) -> int:
    """That many keyed bits, 256 at most."""
    return int.from_bytes(_hmac(key, label)[: 8 if bits <= 64 else 32], "big") & ((1 << bits) - 1)


def _hmac(key: bytes, label: str) -> bytes:
    return hmac.digest(key, label.encode("utf-8", "surrogatepass"), hashlib.sha256)
