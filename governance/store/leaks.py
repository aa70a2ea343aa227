"""``store.leaks``: leak tests, membership tests and anonymity files of adapters, by adapter."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import select

from governance.errors import Conflict
from governance.policy.anonymity import why_personal
from governance.records.base import Record
from governance.records.leak import AnonymityFile, LeakReport, MembershipReport
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_leak import AnonymityFileRow, LeakReportRow, MembershipReportRow

Table = type[LeakReportRow] | type[MembershipReportRow] | type[AnonymityFileRow]
R = TypeVar("R", bound=Record)


class Leaks:
    """Reports are evidence: stored once, never changed."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_report(self, report: LeakReport) -> None:
        """Store a leak test; idempotent by content."""
        named = {"digest": report.digest(), "adapter_digest": report.candidate.adapter, "at": report.at}
        self._put(LeakReportRow, named, report)

    def put_membership(self, report: MembershipReport) -> None:
        """Store a membership test; idempotent by content."""
        named = {"digest": report.digest(), "adapter_digest": report.adapter, "at": report.at}
        self._put(MembershipReportRow, named, report)

    def put_file(self, file: AnonymityFile) -> None:
        """Store an anonymity file; idempotent.

        Raises:
            Conflict: when another file has its id.

        """
        if any(one.id == file.id and one != file for one in self._list(AnonymityFileRow, AnonymityFile, None)):
            raise Conflict(f"anonymity file {file.id}: another one has this id")
        named = {"id": file.id, "adapter_digest": file.adapter, "at": file.valid_from}
        self._put(AnonymityFileRow, named, file)

    def reports(self, adapter: str) -> tuple[LeakReport, ...]:
        """The adapter's leak tests, oldest first."""
        return self._list(LeakReportRow, LeakReport, adapter)

    def memberships(self, adapter: str) -> tuple[MembershipReport, ...]:
        """The adapter's membership tests, oldest first."""
        return self._list(MembershipReportRow, MembershipReport, adapter)

    def files(self, adapter: str | None = None) -> tuple[AnonymityFile, ...]:
        """The adapter's anonymity files, or those of all, oldest first."""
        return self._list(AnonymityFileRow, AnonymityFile, adapter)

    def why_personal(self, adapter: str) -> str | None:
        """Why the adapter counts as holding personal data now; None when a file says that it does not."""
        tests = self.reports(adapter), self.memberships(adapter)
        return why_personal(adapter, self.files(adapter), self._kit.clock.now(), *tests)

    def _put(self, table: Table, named: dict[str, Any], record: Record) -> None:
        row = {**named, "body": record.plain(), "expires_at": self._kit.expires(table)}
        self._kit.db.run(lambda connection: dialect.insert_new(connection, table, [row]))

    def _list(self, table: Table, record: type[R], adapter: str | None) -> tuple[R, ...]:
        statement = select(table.body).order_by(table.at)
        if adapter is not None:
            statement = statement.where(table.adapter_digest == adapter)
        with self._kit.db.read() as connection:
            return tuple(record.model_validate(body) for body in connection.scalars(statement))
