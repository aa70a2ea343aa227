"""``store.approvals``: decisions of people on acts. Append-only."""

from __future__ import annotations

from sqlalchemy import select

from governance.records.approval import Approval, ApprovedAct
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_principals import ApprovalRow

_FIELDS = tuple(Approval.model_fields)


class ApprovalRows:
    """Who decides is ``governance.approvals``' to check."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, approval: Approval) -> None:
        """Record a decision; idempotent by id."""
        row = approval.plain() | {
            "at": approval.at,
            "until": approval.until,
            "expires_at": max(self._kit.expires(ApprovalRow), approval.until),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, ApprovalRow, [row]))

    def of(self, tenant_id: str, act: ApprovedAct, target: str) -> tuple[Approval, ...]:
        """The decisions on one thing, oldest first."""
        row = ApprovalRow
        return self._read(row.tenant_id == tenant_id, row.act == act.value, row.target == target)

    def list(self, tenant_id: str | None = None) -> tuple[Approval, ...]:
        """Every decision of a tenant, or of all, oldest first."""
        return self._read(*([] if tenant_id is None else [ApprovalRow.tenant_id == tenant_id]))

    def _read(self, *where: object) -> tuple[Approval, ...]:
        row = ApprovalRow
        statement = select(row.__table__).where(*where).order_by(row.at, row.id)  # type: ignore[arg-type]
        with self._kit.db.read() as connection:
            found = connection.execute(statement).mappings()
            return tuple(Approval.model_validate({name: one[name] for name in _FIELDS}) for one in found)
