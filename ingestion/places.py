"""The requests in progress: how many there are, whose, and how they end when the intake leaves.

1. There are so many places, and so many of them for one tenant, so that no key can shut the others out.
2. ``Arrivals`` are the bodies that are on their way. When the intake leaves, each is told at once to wait no longer, so
   that a slow sender does not keep a process that is to end.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Places:
    """Counts requests."""

    def __init__(self, limit: int, limit_of_tenant: int) -> None:
        """No request yet."""
        self._limit, self._limit_of_tenant = limit, limit_of_tenant
        self._taken = 0
        self._of: Counter[str] = Counter()
        self._guard = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Place]:
        """A request in progress, whoever's."""
        with self._guard:
            self._taken += 1
        place = Place()
        try:
            yield place
        finally:
            with self._guard:
                self._taken -= 1
                if place.tenant is not None:
                    self._of[place.tenant] -= 1

    def full(self, place: Place, tenant_id: str) -> str:
        """Give the request to its tenant: why there is no room for it, or nothing."""
        with self._guard:
            if place.tenant is None:
                place.tenant = tenant_id
                self._of[tenant_id] += 1
            if self._taken > self._limit:
                return "too many requests in progress"
            if self._of[tenant_id] > self._limit_of_tenant:
                return "too many requests of this tenant in progress"
        return ""


class Place:
    """One request."""

    def __init__(self) -> None:
        """Nobody's yet."""
        self.tenant: str | None = None


class Arrivals:
    """The bodies that are on their way, each with its time."""

    def __init__(self) -> None:
        """None yet."""
        self.left = False
        """Whether the intake takes nothing any more."""
        self._timers: dict[asyncio.Timeout, asyncio.AbstractEventLoop] = {}

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """Wait for a body inside, at most so long.

        Raises:
            TimeoutError: when the time is over, or the intake leaves.

        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(0 if self.left else seconds) as timer:
            self._timers[timer] = loop
            try:
                yield
            finally:
                del self._timers[timer]

    def leave(self) -> None:
        """Wait for no body any more. From any thread."""
        self.left = True
        for timer, loop in list(self._timers.items()):
            loop.call_soon_threadsafe(_end_now, timer, loop)


def _end_now(timer: asyncio.Timeout, loop: asyncio.AbstractEventLoop) -> None:
    if not timer.expired():
        timer.reschedule(loop.time())
