"""What every repository works with: the database, the clock, ids, block keys, and the way in for a purpose.

``reading`` opens the transaction of a read. A read for ``comply`` is never denied and always logged, so it is a write:
the audit event and the read are one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from governance.policy.retention import expiry
from governance.ports.clock import Clock, IdFactory
from governance.records.audit import AuditEvent
from governance.records.retention import RetentionClass
from governance.records.rights import Purpose
from governance.store import audit
from governance.store.base import Base
from governance.store.database import Database

COMPLY_ROLE = "compliance"


@dataclass(frozen=True)
class Kit:
    """Shared by the repositories of one store."""

    db: Database
    clock: Clock
    ids: IdFactory
    block_key: Callable[[str], bytes]
    """Tenant to the key that names its blocks."""

    def expires(self, table: type[Base]) -> datetime:
        """When a row of that table, stored now, is overdue."""
        return self.expires_class(table.retention_class)

    def expires_class(self, retention_class: RetentionClass) -> datetime:
        """When a row of that class, stored now, is overdue."""
        return expiry(retention_class, self.clock.now())

    @contextmanager
    def reading(self, purpose: Purpose) -> Iterator[Connection]:
        """The transaction of a read for ``purpose``."""
        with self.db.write() if purpose is Purpose.COMPLY else self.db.read() as connection:
            yield connection

    def log_comply(self, connection: Connection, purpose: Purpose, tenants: Iterable[str], target: str) -> None:
        """Log a read for ``comply`` in each tenant's chain; other purposes are decided by verdicts and leave none."""
        if purpose is not Purpose.COMPLY:
            return
        for tenant_id in sorted(set(tenants)):
            event = AuditEvent(
                id=self.ids.hex(16),
                tenant_id=tenant_id,
                actor="store",
                role=COMPLY_ROLE,
                action="read_for_comply",
                target=target,
                at=self.clock.now(),
            )
            audit.append(connection, event)
