"""``store.erasures``: certificates of what erasures did, and notes of those that are under way."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select

from governance.errors import NotFound
from governance.records.erasure import ErasedArtifact, ErasureReport
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import ErasureNoteRow, ErasureRow


class Erasures:
    """Reports and notes by request."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, report: ErasureReport) -> bool:
        """Store a report; idempotent by request: the first one stands. Whether it was this one."""
        row = {
            "request_id": report.request_id,
            "tenant_id": report.tenant_id,
            "subject": report.subject,
            "at": report.at,
            "body": report.plain(),
        }

        def work(connection: Connection) -> bool:
            dialect.lock_names(connection, [f"erasure:{report.request_id}"])
            mine = select(ErasureRow.request_id).where(ErasureRow.request_id == report.request_id)
            if connection.scalar(mine) is not None:
                return False
            dialect.insert(connection, ErasureRow, [row])
            return True

        return self._kit.db.run(work)

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

    def of_person(self, tenant_id: str, subject: str) -> tuple[ErasureReport, ...]:
        """The person's reports, oldest first."""
        row = ErasureRow
        mine = select(row.body).where(row.tenant_id == tenant_id, row.subject == subject)
        with self._kit.db.read() as connection:
            found = connection.scalars(mine.order_by(row.at, row.request_id)).all()
        return tuple(ErasureReport.model_validate(body) for body in found)

    def ids(self) -> set[str]:
        """The requests that have a report."""
        with self._kit.db.read() as connection:
            return set(connection.scalars(select(ErasureRow.request_id)))

    def note(self, request_id: str, place: str, artifacts: Sequence[ErasedArtifact]) -> None:
        """Note what became of what a place held, for a run that takes the request up again."""
        row = ErasureNoteRow
        with self._kit.db.write() as connection:
            dialect.lock_names(connection, [f"erasure:{request_id}"])
            last = connection.scalar(select(func.max(row.number)).where(row.request_id == request_id))
            said = {"place": place, "artifacts": [one.plain() for one in artifacts]}
            dialect.insert(connection, row, [{"request_id": request_id, "number": (last or 0) + 1, **said}])

    def noted(self, request_id: str) -> tuple[tuple[str, tuple[ErasedArtifact, ...]], ...]:
        """(place, artifacts) of every note of the request, in order."""
        row = ErasureNoteRow
        statement = select(row.place, row.artifacts).where(row.request_id == request_id).order_by(row.number)
        with self._kit.db.read() as connection:
            return tuple(
                (place, tuple(ErasedArtifact.parse(one, f"erasure {request_id}") for one in artifacts))
                for place, artifacts in connection.execute(statement)
            )

    def drop_notes(self, request_id: str) -> None:
        """The certificate says it by now."""
        with self._kit.db.write() as connection:
            connection.execute(delete(ErasureNoteRow).where(ErasureNoteRow.request_id == request_id))

    def list(self) -> tuple[ErasureReport, ...]:
        """Every report, oldest first."""
        statement = select(ErasureRow.body).order_by(ErasureRow.at, ErasureRow.request_id)
        with self._kit.db.read() as connection:
            return tuple(ErasureReport.model_validate(body) for body in connection.scalars(statement))
