"""The store: every repository on one database, transactions across them, and what holds for all tables."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from governance.errors import StoreError
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.ports.erasable import Erasable
from governance.store import migrate, schema, sweep
from governance.store.adapters import Adapters
from governance.store.audit import AuditLog
from governance.store.base import TableInfo
from governance.store.cycles import Cycles
from governance.store.database import Database
from governance.store.datasets import Datasets
from governance.store.deployments import Deployments
from governance.store.erasable import StoreErasable
from governance.store.erasures import Erasures
from governance.store.feedback import FeedbackStore
from governance.store.gates import Gates
from governance.store.grades import Grades
from governance.store.kit import Kit
from governance.store.ledger import Ledger
from governance.store.lineage import Lineage
from governance.store.patterns import Patterns
from governance.store.proposals import Proposals
from governance.store.quarantine import Quarantine
from governance.store.releases import Releases
from governance.store.rights import Rights
from governance.store.segments import Segments
from governance.store.signals import Signals
from governance.store.spans import Spans
from governance.store.steps import Steps
from governance.store.tasks import Tasks
from governance.store.trajectories import Trajectories
from governance.store.worlds import Worlds


class Store:
    """One database. Safe to share between threads; each process opens its own."""

    def __init__(self, kit: Kit) -> None:
        """Use ``open``."""
        self._kit = kit
        self.rights = Rights(kit)
        self.spans = Spans(kit)
        self.trajectories = Trajectories(kit)
        self.signals = Signals(kit)
        self.feedback = FeedbackStore(kit)
        self.worlds = Worlds(kit)
        self.patterns = Patterns(kit)
        self.proposals = Proposals(kit)
        self.tasks = Tasks(kit)
        self.datasets = Datasets(kit)
        self.adapters = Adapters(kit)
        self.releases = Releases(kit)
        self.deployments = Deployments(kit)
        self.grades = Grades(kit)
        self.gates = Gates(kit)
        self.ledger = Ledger(kit)
        self.segments = Segments(kit)
        self.audit = AuditLog(kit.db)
        self.lineage = Lineage(kit)
        self.cycles = Cycles(kit)
        self.steps = Steps(kit)
        self.erasures = Erasures(kit)
        self.quarantine = Quarantine(kit)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Clock,
        block_key: Callable[[str], bytes] | None = None,
        ids: IdFactory | None = None,
    ) -> Store:
        """Open the database of a URL (a SQLite file or PostgreSQL) and bring its schema up to date.

        ``block_key`` gives the key that names a tenant's blocks. Without one the store draws a key for this process:
        nothing breaks, but a message that another process stores again is kept once more.

        Raises:
            MigrationNeeded: when the schema is newer than this code.
            StoreError: when the URL is none, the server does not answer, or the file is no database.

        """
        try:
            database = Database(url)
            migrate.upgrade(database.engine)
        except SQLAlchemyError as error:
            cause = str(getattr(error, "orig", None) or error).splitlines()[0]
            raise StoreError(f"the database cannot be opened ({type(error).__name__}): {cause}") from error
        own_key = secrets.token_bytes(32)
        return cls(Kit(database, clock, ids or RandomIds(), block_key or (lambda _tenant: own_key)))

    def close(self) -> None:
        """Close every connection."""
        self._kit.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is written together or not at all. Re-entrant; belongs to this thread."""
        with self._kit.db.write():
            yield

    def erasable(self) -> Erasable:
        """What finds a person in every table and removes them."""
        return StoreErasable(self._kit)

    def tables(self) -> dict[str, TableInfo]:
        """Every table with its retention class, the way to a person in it, and its expiry."""
        return schema.table_info()

    def sweep(self, now: datetime) -> dict[str, int]:
        """Delete what is overdue; table to rows deleted."""
        return sweep.sweep(self._kit, now)

    def overdue(self, now: datetime) -> dict[str, int]:
        """Rows whose time is over and that are still there, for each table that has any."""
        return sweep.overdue(self._kit, now)
