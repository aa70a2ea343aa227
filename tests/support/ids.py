"""Identifiers that repeat from one run to the next."""

from __future__ import annotations

import hashlib
import itertools

from governance.ports.clock import IdFactory


class SeededIds(IdFactory):
    """The n-th id is SHAKE-256 of seed and n: the same seed gives the same ids, two seeds never share one."""

    def __init__(self, seed: str = "tests") -> None:
        self._seed = seed
        self._count = itertools.count()

    def hex(self, bytes_: int) -> str:
        """The next ``bytes_`` bytes of the seed's sequence."""
        while True:
            value = hashlib.shake_256(f"{self._seed}:{next(self._count)}".encode()).hexdigest(bytes_)
            if value.strip("0"):
                return value
