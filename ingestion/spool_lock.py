"""The right to write a spool: one process at a time, and the number of the newest segment.

Theory. The lock is the kernel's (``flock``), so it goes with its process however that ends, and a killed writer never
keeps the next one out. The lock file holds the last number given out. A number that cannot be read (the write of it was
cut short) is no reason to stop: the folder's segments say which numbers are taken, and an id holds random bytes, too.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

from ingestion.errors import SpoolError

_LOCK: Final = "writer.lock"
_DIGITS: Final = 32


class WriterLock:
    """The lock of one spool's folder."""

    def __init__(self, folder: Path) -> None:
        """Not held yet."""
        self._folder = folder
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Hold it now; False while another process does."""
        descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def drop(self) -> None:
        """Let another process write. Idempotent."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def next_number(self, moment: int) -> int:
        """A number above every one given out before, and not below ``moment``, durable when this returns.

        Raises:
            SpoolError: without the lock.

        """
        if self._descriptor is None:
            raise SpoolError("only the holder of the lock opens segments")
        number = max(self._last() + 1, moment)
        os.pwrite(self._descriptor, f"{number:0{_DIGITS}d}".encode(), 0)
        os.fsync(self._descriptor)
        return number

    def _last(self) -> int:
        held = os.pread(self._descriptor or 0, _DIGITS, 0)
        if len(held) == _DIGITS and held.isdigit():
            return int(held)
        numbers = [path.name.partition("-")[0] for path in self._folder.iterdir()]
        return max((int(number) for number in numbers if number.isdigit()), default=0)
