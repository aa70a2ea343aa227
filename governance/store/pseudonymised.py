"""``store.pseudonymised``: declared processing of pseudonymised information, and the history of its uses.

A read that hands out rows whose verdict rests on this basis is written down by the read itself (``note_read``), so no
reader can forget it: in the transaction of the read where that writes, else in one of its own right after it, before
the rows reach the caller. Append-only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from governance.acting import acting
from governance.errors import RecordError
from governance.records.pseudonymised import Declaration, PseudonymisedUse, UseOfRows
from governance.records.rights import Basis, Purpose, Verdict
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.rights_facts import Row
from governance.store.tables_pseudonymised import DeclarationRow, PseudonymisedUseRow


class Pseudonymised:
    """Declarations and uses by tenant."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def declare(self, declaration: Declaration) -> None:
        """Record a declaration, or the end of one that it supersedes; idempotent by id.

        Raises:
            RecordError: when it supersedes what is not there or another tenant's.

        """
        self._kit.db.run(lambda connection: _declare(connection, declaration))

    def declared(self, tenant_id: str) -> tuple[Declaration, ...]:
        """Everything recorded of a tenant, in the order in which it was recorded."""
        row = DeclarationRow
        statement = select(row.body).where(row.tenant_id == tenant_id).order_by(row.recorded_at, row.id)
        with self._kit.db.read() as connection:
            return tuple(Declaration.model_validate(body) for body in connection.scalars(statement))

    def ever(self, tenant_id: str) -> bool:
        """Whether the tenant ever declared such a processing: else no row rests, or rested, on it."""
        with self._kit.db.read() as connection:
            statement = select(DeclarationRow.id).where(DeclarationRow.tenant_id == tenant_id).limit(1)
            return connection.scalar(statement) is not None

    def note(self, tenant_id: str, purpose: Purpose, kind: UseOfRows, rows: int, target: str) -> None:
        """Record a use of rows by who acts now, durably."""
        with self._kit.db.write(durable=True) as connection:
            _note(connection, self._kit, PseudonymisedUse(
                id=self._kit.ids.hex(16), tenant_id=tenant_id, kind=kind, purpose=purpose, rows=rows, target=target,
                at=self._kit.clock.now(), **_who(),
            ))  # fmt: skip

    def uses(self, tenant_id: str) -> tuple[PseudonymisedUse, ...]:
        """The history of a tenant, oldest first."""
        row = PseudonymisedUseRow
        statement = select(row.body).where(row.tenant_id == tenant_id).order_by(row.at, row.id)
        with self._kit.db.read() as connection:
            return tuple(PseudonymisedUse.model_validate(body) for body in connection.scalars(statement))


def note_read(kit: Kit, purpose: Purpose, rows: Iterable[Row], found: Mapping[Row, Verdict]) -> None:
    """Write down that rows of this basis are read now; ``rows`` names each as often as it is read."""
    counts = Counter(row[0] for row in rows if found[row].basis is Basis.PIPA_28_2)
    if not counts:
        return
    who, at = _who(), kit.clock.now()
    uses = [
        PseudonymisedUse(
            id=kit.ids.hex(16), tenant_id=tenant, kind=UseOfRows.READ, purpose=purpose, rows=number, at=at, **who
        )
        for tenant, number in sorted(counts.items())
    ]

    def write(connection: Connection) -> None:
        for use in uses:
            _note(connection, kit, use)

    kit.db.with_read(write)


def _note(connection: Connection, kit: Kit, use: PseudonymisedUse) -> None:
    row = {
        "id": use.id,
        "tenant_id": use.tenant_id,
        "at": use.at,
        "body": use.plain(),
        "expires_at": kit.expires(PseudonymisedUseRow),
    }
    dialect.insert_new(connection, PseudonymisedUseRow, [row])


def _who() -> dict[str, str]:
    who = acting()
    return {"actor": who.principal.name, "role": who.role.value, "act": who.act}


def _declare(connection: Connection, declaration: Declaration) -> None:
    row, before = DeclarationRow, declaration.supersedes
    if before is not None:
        owner = connection.scalar(select(row.tenant_id).where(row.id == before))
        if owner != declaration.tenant_id:
            raise RecordError(
                f"declaration {declaration.id} supersedes {before}, which is none of {declaration.tenant_id}"
            )
    new = {
        "id": declaration.id,
        "tenant_id": declaration.tenant_id,
        "recorded_at": declaration.recorded_at,
        "body": declaration.plain(),
    }
    dialect.insert_new(connection, row, [new])
