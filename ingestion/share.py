"""Which segments are whose, when several processes drain one spool.

Each process begins with its share, so that two seldom want the same segment, and then takes what the others have not
begun: shares are never equal in work. Whoever has a segment claims it. A process comes back to what another one had
claimed from its share, so what a dead one leaves is done in the same run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, NamedTuple

Claim = Callable[..., AbstractContextManager[bool]]
"""``ingestion.segment.claimed`` in one folder."""


class Taken(NamedTuple):
    """A segment that is this process's while it works on it."""

    segment_id: str
    own: bool
    """Of its share; else another process will look at it again if it stays."""


class Share(NamedTuple):
    """One of several equal shares of all segments, told by their ids."""

    number: int
    """From 0."""
    of: int

    def holds(self, segment_id: str) -> bool:
        """Whether the segment is in this share."""
        return zlib.crc32(segment_id.encode()) % self.of == self.number

    def take(self, segment_ids: Sequence[str], claimed: Claim) -> Iterator[Taken]:
        """One segment after the other, each claimed until the next one is asked for."""
        own = [one for one in segment_ids if self.holds(one)]
        others = [one for one in reversed(segment_ids) if not self.holds(one)]  # their processes begin with the oldest
        later: list[str] = []
        for segment_id in own:
            with claimed(segment_id) as mine:
                if mine:
                    yield Taken(segment_id, own=True)
                else:
                    later.append(segment_id)
        for segment_id in others:
            with claimed(segment_id) as mine:
                if mine:
                    yield Taken(segment_id, own=False)
        for segment_id in later:
            with claimed(segment_id, wait=True) as mine:
                if mine:
                    yield Taken(segment_id, own=True)


WHOLE: Final = Share(0, 1)
