"""Draining with several processes: each takes a share of the segments, with connections and a masker of its own.

Shares need no agreement between processes (``ingestion.share``), and a claim keeps two of them from doing one segment
twice; what makes it safe is that a segment is marked done in the transaction that stores it. A process that dies costs
the run its report, and the next run finds its segments where they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from multiprocessing import get_context
from typing import Final

from ingestion.drain import Drain, DrainReport, Progress
from ingestion.share import Share

Opened = Callable[[], AbstractContextManager[Drain]]
"""Opens a drain; what other processes are given, so it can be pickled."""
SEGMENTS_EACH: Final = 2
"""Segments for which it pays to start a process."""


def drain_with(opened: Opened, workers: int, waiting: int, progress: Progress | None = None) -> DrainReport:
    """Drain with up to ``workers`` processes, this one among them; ``waiting`` is how many segments there are."""
    number = max(1, min(workers, waiting // SEGMENTS_EACH))
    if number == 1:
        return _drain(opened, Share(0, 1), progress)
    with ProcessPoolExecutor(number - 1, mp_context=get_context("spawn")) as pool:
        others = [pool.submit(_drain, opened, Share(place, number)) for place in range(1, number)]
        own = _drain(opened, Share(0, number), progress)
        return together([own, *(other.result() for other in others)])


def _drain(opened: Opened, share: Share, progress: Progress | None = None) -> DrainReport:
    with opened() as drain:
        return drain.run(progress, share)


def together(reports: Iterable[DrainReport]) -> DrainReport:
    """The sum of several reports."""
    total: Counter[str] = Counter()
    fates: Counter[str] = Counter()
    for report in reports:
        total.update({name: value for name, value in report.plain().items() if name != "fates"})
        fates.update(report.fates)
    return DrainReport(**total, fates=dict(sorted(fates.items())))
