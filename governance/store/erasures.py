"""``store.erasures``: certificates of what erasures did."""

from __future__ import annotations

from sqlalchemy import select

from governance.errors import NotFound
from governance.records.erasure import ErasureReport
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import ErasureRow


class Erasures:
    """Reports by request."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, report: ErasureReport) -> None:
        """Store a report; idempotent by request: the first one stands."""
        row = {
            "request_id": report.request_id,
            "tenant_id": report.tenant_id,
            "subject": report.subject,
            "at": report.at,
            "body": report.plain(),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, ErasureRow, [row]))

    def get(self, request_id: str) -> ErasureReport:
        """One report.

        Raises:
            NotFound: when there is none of that request.

        """
        with self._kit.db.read() as connection:
            body = connection.scalar(select(ErasureRow.body).where(ErasureRow.request_id == request_id))
        if body is None:
            raise NotFound(f"store: no erasure report of request {request_id}")
        return ErasureReport.model_validate(body)

    def list(self) -> tuple[ErasureReport, ...]:
        """Every report, oldest first."""
        statement = select(ErasureRow.body).order_by(ErasureRow.at, ErasureRow.request_id)
        with self._kit.db.read() as connection:
            return tuple(ErasureReport.model_validate(body) for body in connection.scalars(statement))
