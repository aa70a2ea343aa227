"""The bytes of bodies that a process holds at a time, bounded over all requests.

Theory. A bound per body leaves the sum of many bodies open, so each request draws on one ``Budget`` through a
``Share``.

1. Bytes are claimed as they appear (a chunk that has arrived, a step of unpacking), never on a sender's word: who
   declares much and sends nothing takes nothing from others.
2. A claim is granted whole or refused, under one lock: what is held stays between nothing and the bound.
3. A share that belongs to a tenant is bounded by what one tenant may hold, too, so no key can spend it all.
4. A share is a context; leaving it, by whatever way, gives back what it holds. A thread that outlives its request
   finds the share closed and is refused, so nothing is claimed that nobody gives back.

What is counted are the bodies, packed and unpacked. At most one chunk or step for each request in progress is there
before it is counted, and what is decoded from a body takes a multiple of it for as long as the body is held.
"""

from __future__ import annotations

import threading
from collections import Counter
from types import TracebackType

from ingestion.errors import BudgetSpent


class Budget:
    """A number of bytes that requests share."""

    def __init__(self, limit: int, limit_of_tenant: int | None = None) -> None:
        """``limit`` bytes in all, and ``limit_of_tenant`` for one of those who share them."""
        self.limit = limit
        self.limit_of_tenant = limit if limit_of_tenant is None else min(limit, limit_of_tenant)
        self._held = 0
        self._of: Counter[str] = Counter()
        self._guard = threading.Lock()

    def held(self) -> int:
        """Bytes that are claimed now."""
        return self._held

    def share(self) -> Share:
        """What one request holds; nothing at first."""
        return Share(self)

    def _require(self, share: Share, size: int) -> None:
        if self._held + size > self.limit:
            raise BudgetSpent(f"{self._held} of {self.limit} bytes are held, {size} more do not fit")
        held = self._of[share.tenant]
        if share.tenant and held + size > self.limit_of_tenant:
            raise BudgetSpent(f"the tenant holds {held} of {self.limit_of_tenant} bytes, {size} more do not fit")

    def _claim(self, share: Share, size: int) -> None:
        with self._guard:
            if share.closed:
                raise BudgetSpent("the request has ended")
            self._require(share, size)
            self._move(share, size)

    def _give_back(self, share: Share, size: int) -> None:
        with self._guard:
            self._move(share, -min(size, share.held))

    def _close(self, share: Share) -> None:
        with self._guard:
            self._move(share, -share.held)
            share.closed = True
            if not self._of[share.tenant]:
                del self._of[share.tenant]

    def _move(self, share: Share, size: int) -> None:
        self._held += size
        self._of[share.tenant] += size
        share.held += size


class Share:
    """The part of a budget that one request holds."""

    def __init__(self, budget: Budget) -> None:
        """Made by ``Budget.share``."""
        self.budget = budget
        self.held = 0
        self.closed = False
        self.tenant = ""
        """Whose it is; set before anything is claimed."""

    def require(self, size: int) -> None:
        """Nothing, when ``size`` bytes would fit now; they are not claimed.

        Raises:
            BudgetSpent: when they would not.

        """
        self.budget._require(self, size)

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
