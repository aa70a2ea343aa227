"""Who was erased and stays out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection, select

from governance.store.people import Person, by_tenant
from governance.store.tables_rights import SuppressionRow


def suppressed(connection: Connection, people: Iterable[Person], as_of: datetime | None) -> set[Person]:
    """Those of ``people`` who are suppressed: since ``as_of`` or earlier, or at all."""
    found: set[Person] = set()
    for tenant_id, part in by_tenant(people):
        statement = select(SuppressionRow.subject).where(
            SuppressionRow.tenant_id == tenant_id, SuppressionRow.subject.in_(part)
        )
        if as_of is not None:
            statement = statement.where(SuppressionRow.since <= as_of)
        found.update((tenant_id, subject) for subject in connection.scalars(statement))
    return found
