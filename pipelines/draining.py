"""The drain of a data home, in as many processes as its settings give it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pipelines.ground import Ground
from pipelines.settings import Settings

if TYPE_CHECKING:
    from ingestion.drain import Drain, DrainReport, Progress


def drain(ground: Ground, progress: Progress | None = None) -> DrainReport:
    """Drain the spool of a data home."""
    workers = ground.settings.drain_workers
    if workers == 1:
        return ground.drain().run(progress)
    from ingestion.processes import drain_with

    ground.spool.seal()
    waiting = len(list(ground.spool.sealed()))
    return drain_with(partial(opened, ground.settings), workers, waiting, progress)


@contextmanager
def opened(settings: Settings) -> Iterator[Drain]:
    """A drain with a ground of its own."""
    with Ground(settings) as ground:
        yield ground.drain()
