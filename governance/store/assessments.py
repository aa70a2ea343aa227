"""``store.assessments``: documents that say why a purpose may be served, until when. Append-only."""

from __future__ import annotations

from sqlalchemy import Connection, select

from governance.errors import RecordError
from governance.records.assessment import Assessment
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_datasets import AssessmentRow


class Assessments:
    """Assessments by tenant."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def add(self, assessment: Assessment) -> None:
        """Record an assessment, or the end of one that it supersedes; idempotent by id.

        Raises:
            RecordError: when it supersedes what is not there or another tenant's.

        """
        self._kit.db.run(lambda connection: _add(connection, assessment))

    def of(self, tenant_id: str) -> tuple[Assessment, ...]:
        """Everything recorded of a tenant, in the order in which it was recorded."""
        row = AssessmentRow
        statement = select(row.body).where(row.tenant_id == tenant_id).order_by(row.recorded_at, row.id)
        with self._kit.db.read() as connection:
            return tuple(Assessment.model_validate(body) for body in connection.scalars(statement))


def _add(connection: Connection, assessment: Assessment) -> None:
    row, before = AssessmentRow, assessment.supersedes
    if before is not None:
        owner = connection.scalar(select(row.tenant_id).where(row.id == before))
        if owner != assessment.tenant_id:
            raise RecordError(
                f"assessment {assessment.id} supersedes {before}, which is none of {assessment.tenant_id}"
            )
    new = {
        "id": assessment.id,
        "tenant_id": assessment.tenant_id,
        "assessment": before or assessment.id,
        "recorded_at": assessment.recorded_at,
        "body": assessment.plain(),
    }
    dialect.insert_new(connection, AssessmentRow, [new])
