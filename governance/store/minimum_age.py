"""The minimum age of logs of high-risk systems: what is marked so goes by no sweep before it has that age.

Logs are spans and trajectories, with the words in them. A fact of the kind ``high_risk`` marks a run, a person's runs,
or everything of a tenant, for as long as it stands. A row's age is told by its expiry, which its class's term after
storing gives; what is renewed for another reason only stays longer. The minimum outranks the clocks of purposes and the
class's own term, whether or not that is longer; a legal hold outranks it. A run that is marked stays whole: none of it
goes before the newest of its spans has that age.

Source: EU AI Act (Regulation 2024/1689), Art. 19(1) and 26(6): at least six months.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, exists, not_, or_
from sqlalchemy.orm import aliased

from governance.records.retention import RETENTION
from governance.records.rights import FactKind, RightsFact
from governance.store import holds
from governance.store.kit import Kit
from governance.store.tables_traces import SpansRow, TrajectoryRow

LOGS: Final = (SpansRow, TrajectoryRow)


class MinimumAge:
    """What is marked at one moment."""

    def __init__(self, connection: Connection, kit: Kit, now: datetime) -> None:
        """Reads the marks that stand at ``now``."""
        self._marks: list[RightsFact] = holds.standing(connection, now, FactKind.HIGH_RISK)
        self._minimum, self._now = kit.retention.minimum_age, now

    def reached(self, table: Any, due: ColumnElement[bool]) -> ColumnElement[bool]:
        """Those rows of ``due`` that may go."""
        marked = [and_(*where) for where in holds.covered(table, self._marks)] if table in LOGS and self._marks else []
        if not marked:
            return due
        one = aliased(SpansRow)
        young = one.expires_at > self._now - self._over(SpansRow)
        whole = exists().where(one.tenant_id == table.tenant_id, one.trace_id == table.trace_id, young)
        itself = table.expires_at > self._now - self._over(table)
        return and_(due, not_(and_(or_(*marked), or_(itself, whole))))

    def _over(self, table: Any) -> timedelta:
        """How long after its class's term a row has the minimum age."""
        return self._minimum - RETENTION[table.retention_class]
