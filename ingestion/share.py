"""Which segments are whose, when several processes drain one spool."""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple


class Share(NamedTuple):
    """One of several equal shares of all segments, told by their ids."""

    number: int
    """From 0."""
    of: int

    def holds(self, segment_id: str) -> bool:
        """Whether the segment is in this share."""
        return zlib.crc32(segment_id.encode()) % self.of == self.number


WHOLE: Final = Share(0, 1)
