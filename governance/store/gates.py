"""``store.gates``: gate reports by scope."""

from __future__ import annotations

from sqlalchemy import Connection, select

from governance.records.gate import GateReport
from governance.records.lineage import NodeKind
from governance.store import dialect, lineage
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_learning import GateReportRow


class Gates:
    """Gate reports are evidence: stored once, never changed."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, cycle_id: str, report: GateReport) -> None:
        """Store a report; idempotent by content."""
        digest = report.digest()
        row = {
            "digest": digest,
            "cycle_id": cycle_id,
            "scope": report.scope,
            "at": report.at,
            "body": report.plain(),
            "expires_at": self._kit.expires(GateReportRow),
        }
        measured = edge(node(NodeKind.GATE_REPORT, digest), node(NodeKind.RELEASE, report.candidate))

        def work(connection: Connection) -> None:
            dialect.insert_new(connection, GateReportRow, [row])
            lineage.add(connection, [measured])

        self._kit.db.run(work)

    def list(self, scope: str) -> tuple[GateReport, ...]:
        """The scope's reports, oldest first."""
        row = GateReportRow
        statement = select(row.body).where(row.scope == scope).order_by(row.at, row.digest)
        with self._kit.db.read() as connection:
            return tuple(GateReport.model_validate(body) for body in connection.scalars(statement))
