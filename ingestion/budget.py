"""The bytes of bodies that a process holds at a time, bounded over all requests.

Theory. A bound per body leaves the sum of many bodies open, so each request draws on one ``Budget`` through a
``Share``.

1. Bytes are claimed as they appear (a chunk that has arrived, a step of unpacking), never on a sender's word: who
   declares much and sends nothing takes nothing from others.
2. A claim is granted whole or refused, under one lock: what is held stays between nothing and the bound.
3. A share is a context; leaving it, by whatever way, gives back what it holds. A thread that outlives its request
   finds the share closed and is refused, so nothing is claimed that nobody gives back.

What is counted are the bodies, packed and unpacked. At most one chunk or step for each request in progress is there
before it is counted, and what is decoded from a body takes a multiple of it for as long as the body is held.
"""

from __future__ import annotations

import threading
from types import TracebackType

from ingestion.errors import BudgetSpent


class Budget:
    """A number of bytes that requests share."""

    def __init__(self, limit: int) -> None:
        """``limit`` bytes in all."""
        self.limit = limit
        self._held = 0
        self._guard = threading.Lock()

    def held(self) -> int:
        """Bytes that are claimed now."""
        return self._held

    def share(self) -> Share:
        """What one request holds; nothing at first."""
        return Share(self)

    def require(self, size: int) -> None:
        """Nothing, when ``size`` bytes would fit now; they are not claimed.

        Raises:
            BudgetSpent: when they would not.

        """
        if self._held + size > self.limit:
            raise BudgetSpent(f"{self._held} of {self.limit} bytes are held, {size} more do not fit")

    def _claim(self, share: Share, size: int) -> None:
        with self._guard:
            if share.closed:
                raise BudgetSpent("the request has ended")
            self.require(size)
            self._held += size
            share.held += size

    def _give_back(self, share: Share, size: int) -> None:
        with self._guard:
            size = min(size, share.held)
            self._held -= size
            share.held -= size

    def _close(self, share: Share) -> None:
        with self._guard:
            self._held -= share.held
            share.held = 0
            share.closed = True


class Share:
    """The part of a budget that one request holds."""

    def __init__(self, budget: Budget) -> None:
        """Made by ``Budget.share``."""
        self.budget = budget
        self.held = 0
        self.closed = False

    def claim(self, size: int) -> None:
        """Hold ``size`` more bytes.

        Raises:
            BudgetSpent: when they do not fit, or the share is closed; then nothing has changed.

        """
        self.budget._claim(self, size)

    def give_back(self, size: int) -> None:
        """Hold ``size`` bytes less, and never less than nothing."""
        self.budget._give_back(self, size)

    def __enter__(self) -> Share:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.budget._close(self)
