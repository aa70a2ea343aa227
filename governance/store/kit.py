"""What every repository works with: the database, the clock, ids, block keys, and the way in for a purpose.

``reading`` opens the transaction of a read. A read for ``comply`` is denied by no verdict, but it is bound to a role
(``governance.acting``) and always logged, so it is a write: the audit event and the read are one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from governance.acting import audited, require_comply
from governance.policy.retention import expiry
from governance.policy.rights import DEFAULT
from governance.ports.clock import Clock, IdFactory
from governance.records.retention import RetentionClass, RetentionPolicy
from governance.records.rights import Purpose
from governance.records.rights_policy import RightsPolicy
from governance.store import audit
from governance.store.base import Base
from governance.store.database import Database

PRESENT: Final = timedelta(minutes=1)
"""A moment that an act read off the clock this long ago is its now."""


@dataclass(frozen=True)
class Kit:
    """Shared by the repositories of one store."""

    db: Database
    clock: Clock
    ids: IdFactory
    block_key: Callable[[str], bytes]
    """Tenant to the key that names its blocks."""
    policy: RightsPolicy = DEFAULT
    """By which verdicts are judged."""
    retention: RetentionPolicy = field(default_factory=RetentionPolicy)
    """How long each purpose keeps what it uses."""

    def expires(self, table: type[Base]) -> datetime:
        """When a row of that table, stored now, is overdue."""
        return self.expires_class(table.retention_class)

    def expires_class(self, retention_class: RetentionClass) -> datetime:
        """When a row of that class, stored now, is overdue."""
        return expiry(retention_class, self.clock.now())

    def is_present(self, as_of: datetime) -> bool:
        """Whether a question as of then is one about now, which everything that is recorded answers."""
        return as_of > self.clock.now() - PRESENT

    @contextmanager
    def reading(self, purpose: Purpose) -> Iterator[Connection]:
        """The transaction of a read for ``purpose``.

        Raises:
            RoleDenied: for ``comply``, to who may not read for it.

        """
        if purpose is Purpose.COMPLY:
            require_comply("store")
        with self.db.write() if purpose is Purpose.COMPLY else self.db.read() as connection:
            yield connection

    def log_comply(self, connection: Connection, purpose: Purpose, tenants: Iterable[str], target: str) -> None:
        """Log a read for ``comply`` in each tenant's chain; other purposes are decided by verdicts and leave none."""
        if purpose is not Purpose.COMPLY:
            return
        for tenant_id in sorted(set(tenants)):
            event = audited(self.ids, self.clock.now(), tenant_id, "read_for_comply", target)
            audit.append(connection, event)
