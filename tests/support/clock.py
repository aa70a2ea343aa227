"""A clock that moves only when a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from governance.ports.clock import Clock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday morning."""


class ManualClock(Clock):
    """Stands still until ``advance`` or ``set``."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        """The moment that the test has set."""
        return self._now

    def advance(self, step: timedelta | None = None, /, **parts: float) -> datetime:
        """Move on by ``step``, or by the parts of a timedelta (``hours=2``), and return the new moment."""
        moved = self._now + (step if step is not None else timedelta(**parts))
        if moved < self._now:
            msg = "time does not run backwards; use set() for a moment in the past"
            raise ValueError(msg)
        self._now = moved
        return moved

    def set(self, moment: datetime) -> None:
        """Stand at ``moment``, which must be aware."""
        if moment.tzinfo is None:
            msg = "a naive time"
            raise ValueError(msg)
        self._now = moment.astimezone(UTC)
