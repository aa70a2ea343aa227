"""Tidemill's drain as the intake benchmark runs it: the real one, with masking on or off.

Masking off stands for the door without detectors: a masker that finds nothing. It exists here and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.ports.keys import KeyName
from governance.ports.masker import Masked, Masker
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from governance.store import Store
from ingestion.drain import Drain, DrainReport
from ingestion.processes import drain_with
from ingestion.spool import Spool

KEYS: Final = DerivedKeyProvider("intake benchmark")
CLOCK: Final = SystemClock()
ROOM: Final = 64 * 2**30
"""Bytes that the spool may hold: the load comes faster than it is drained."""


class FindsNothing(Masker):
    """The door without detectors."""

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:  # noqa: ARG002  (the port asks so)
        """Each value as it is."""
        return [Masked.proven(value=value) for value in values]

    def mask_fields(
        self,
        tenant_id: str,  # noqa: ARG002
        row: Mapping[str, Any],
        fields: Mapping[str, str],  # noqa: ARG002
    ) -> dict[str, Any]:
        """The row as it is."""
        return dict(row)


def spool_of(folder: Path) -> Spool:
    """The spool of a benchmark's folder."""
    return Spool(folder / "spool", KEYS, CLOCK, RandomIds(), max_bytes=ROOM)


def store_of(folder: Path) -> Store:
    """The store of a benchmark's folder, with a contract that allows everything."""
    store = Store.open(
        f"sqlite:///{folder / 'tidemill.db'}",
        clock=CLOCK,
        block_key=lambda tenant: KEYS.for_tenant(KeyName.BLOCK, tenant),
    )
    early = CLOCK.now() - timedelta(days=1)
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
    store.rights.add_contract(Contract(id="c", tenant_id="acme", terms=terms, valid_from=early, recorded_at=early))
    return store


@contextmanager
def opened(folder: str, *, masking: bool) -> Iterator[Drain]:
    """A drain of the folder."""
    store, spool = store_of(Path(folder)), spool_of(Path(folder))
    masker: Masker = FindsNothing()
    if masking:
        from governance.masking.presidio_masker import PresidioMasker

        masker = PresidioMasker(KEYS)
    yield Drain(spool, Door(store, masker, KEYS, CLOCK), store, clock=CLOCK, hold=timedelta(0))
    store.close()


def drained(folder: Path, workers: int, *, masking: bool) -> tuple[DrainReport, float]:
    """Drain everything; the report and the seconds it took, opening included."""
    started = time.perf_counter()
    spool = spool_of(folder)
    spool.seal()
    waiting = len(list(spool.sealed()))
    report = drain_with(partial(opened, str(folder), masking=masking), workers, waiting)
    return report, time.perf_counter() - started


def settle(folder: Path) -> None:
    """Fold the database's log into the database, so that its bytes are counted once."""
    import sqlite3

    with sqlite3.connect(folder / "tidemill.db") as held:
        held.execute("pragma wal_checkpoint(truncate)")
