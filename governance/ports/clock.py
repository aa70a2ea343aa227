"""Time and ids come from ports, so that a run replays exactly."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from datetime import UTC, datetime


class Clock(ABC):
    """Tells the time."""

    @abstractmethod
    def now(self) -> datetime:
        """The present moment, aware, in UTC."""


class SystemClock(Clock):
    """The machine's clock."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)


class IdFactory(ABC):
    """Makes identifiers."""

    @abstractmethod
    def hex(self, bytes_: int) -> str:
        """``bytes_`` bytes as lower-case hex, never all zero."""


class RandomIds(IdFactory):
    """Identifiers from the operating system's randomness."""

    def hex(self, bytes_: int) -> str:
        """Unpredictable hex."""
        while True:
            value = secrets.token_hex(bytes_)
            if value.strip("0"):
                return value
