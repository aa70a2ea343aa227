"""The store: every repository on one database, transactions across them, and what holds for all tables."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from governance.errors import StoreError
from governance.policy.rights import DEFAULT
from governance.ports.clock import Clock, IdFactory, RandomIds
from governance.ports.erasable import Erasable
from governance.records.retention import RetentionPolicy
from governance.records.rights_policy import RightsPolicy
from governance.rescan.needles import Needles
from governance.store import dialect, holdings, migrate, sayings, schema, sweep
from governance.store.adapters import Adapters
from governance.store.approvals import ApprovalRows
from governance.store.assessments import Assessments
from governance.store.audit import AuditLog
from governance.store.base import TableInfo
from governance.store.checkpoints import Checkpoints
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
from governance.store.leaks import Leaks
from governance.store.ledger import Ledger
from governance.store.lineage import Lineage
from governance.store.manifests import Manifests
from governance.store.masking_lists import MaskingLists
from governance.store.notices import Notices
from governance.store.patterns import Patterns
from governance.store.policies import Policies
from governance.store.principals import Principals
from governance.store.proposals import Proposals
from governance.store.pseudonymised import Pseudonymised
from governance.store.quarantine import Quarantine
from governance.store.releases import Releases
from governance.store.requests import Requests
from governance.store.reviews import Reviews
from governance.store.rights import Rights
from governance.store.row_reviews import RowReviews
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
        self.requests = Requests(kit)
        self.spans = Spans(kit)
        self.trajectories = Trajectories(kit)
        self.signals = Signals(kit)
        self.feedback = FeedbackStore(kit)
        self.worlds = Worlds(kit)
        self.patterns = Patterns(kit)
        self.proposals = Proposals(kit)
        self.tasks = Tasks(kit)
        self.datasets = Datasets(kit)
        self.manifests = Manifests(kit)
        self.assessments = Assessments(kit)
        self.pseudonymised = Pseudonymised(kit)
        self.row_reviews = RowReviews(kit)
        self.adapters = Adapters(kit)
        self.releases = Releases(kit)
        self.deployments = Deployments(kit)
        self.grades = Grades(kit)
        self.gates = Gates(kit)
        self.leaks = Leaks(kit)
        self.ledger = Ledger(kit)
        self.segments = Segments(kit)
        self.policies = Policies(kit)
        self.audit = AuditLog(kit.db)
        self.checkpoints = Checkpoints(kit)
        self.lineage = Lineage(kit)
        self.cycles = Cycles(kit)
        self.steps = Steps(kit)
        self.erasures = Erasures(kit)
        self.quarantine = Quarantine(kit)
        self.masking_lists = MaskingLists(kit)
        self.reviews = Reviews(kit)
        self.principals = Principals(kit)
        self.approvals = ApprovalRows(kit)
        self.notices = Notices(kit)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Clock,
        block_key: Callable[[str], bytes] | None = None,
        ids: IdFactory | None = None,
        policy: RightsPolicy = DEFAULT,
        retention: RetentionPolicy | None = None,
    ) -> Store:
        """Open the database of a URL (a SQLite file or PostgreSQL) and bring its schema up to date.

        ``block_key`` gives the key that names a tenant's blocks. Without one the store draws a key for this process:
        nothing breaks, but a message that another process stores again is kept once more. ``policy`` judges the rights;
        ``retention`` says how long each purpose keeps what it uses.

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
        keyed = block_key or (lambda _tenant: own_key)
        opened = cls(Kit(database, clock, ids or RandomIds(), keyed, policy, retention or RetentionPolicy()))
        opened.policies.come_into_force()
        return opened

    @property
    def policy(self) -> RightsPolicy:
        """By which verdicts are judged."""
        return self._kit.policy

    def close(self) -> None:
        """Close every connection."""
        self._kit.db.close()

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Everything inside is written together or not at all. Re-entrant; belongs to this thread.

        ``durable``: it is on the disk when this ends, for callers that then destroy what it was made from. Otherwise a
        machine that loses its power may lose the last transactions of SQLite; a process that dies loses none.
        """
        with self._kit.db.write(durable=durable):
            yield

    def erasable(self) -> Erasable:
        """What finds a person in every table and removes them."""
        return StoreErasable(self._kit)

    def needles(self, tenant_id: str, subject: str, surrogates: Callable[[str], Iterable[str]]) -> Needles:
        """What a search for the person looks for; ``surrogates`` gives those in a text."""
        with self._kit.db.read() as connection:
            texts = sorted(set(sayings.of_person(connection, tenant_id, subject)))
            found = Needles.of(subject, (one for text in texts for one in surrogates(text)), texts)
            return sayings.not_elsewhere(connection, tenant_id, subject, found)

    def holdings(self, tenant_id: str, subject: str) -> dict[str, list[Any]]:
        """Everything that is held of a person, as plain JSON, by table. A read for ``comply``."""
        return holdings.of_person(self._kit, tenant_id, subject)

    def settle(self) -> None:
        """Leave no bytes of requests that were deleted: what ends an erasure, after its certificate."""
        dialect.settle(self._kit.db.engine, ["rights_requests"])

    def outlasting(self) -> tuple[str, ...]:
        """Copies of what is stored that no erasure reaches: they die by their own time."""
        backups = "backups of the database"
        return (backups,) if dialect.file_of(self._kit.db.engine) else (backups, "archived write-ahead log")

    def tables(self) -> dict[str, TableInfo]:
        """Every table with its retention class, the way to a person in it, and its expiry."""
        return schema.table_info()

    def sweep(self, now: datetime) -> dict[str, int]:
        """Delete what is overdue; table to rows deleted."""
        return sweep.sweep(self._kit, now)

    def overdue(self, now: datetime) -> dict[str, int]:
        """Rows whose time is over and that are still there, for each table that has any."""
        return sweep.overdue(self._kit, now)
