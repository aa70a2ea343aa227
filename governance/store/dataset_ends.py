"""When what a dataset version rests on ends, and when its runs were: minima and maxima over the tables, set-wise."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, and_, func, select

from governance.policy.facts import ALLOWING
from governance.records.rights import Purpose
from governance.store.tables_datasets import DatasetLineRow
from governance.store.tables_learning import DatasetRowTable
from governance.store.tables_rights import ConsentEventRow
from governance.store.tables_traces import TrajectoryRow


def ends(connection: Connection, root: str, now: datetime) -> dict[str, datetime | None]:
    """The earliest end after ``now`` of the rows, of the runs and of consents to train."""
    line, row, run, said = DatasetLineRow, DatasetRowTable, TrajectoryRow, ConsentEventRow
    theirs = and_(said.tenant_id == line.tenant_id, said.subject == line.subject)
    consents = (
        select(func.min(said.valid_to))
        .join(line, theirs)
        .where(
            line.root == root,
            said.purpose == Purpose.TRAIN_WEIGHTS.value,
            said.status.in_([status.value for status in ALLOWING]),
            said.valid_to > now,
        )
    )
    runs = select(func.min(run.expires_at)).join(line, run.id == line.trajectory_id).where(line.root == root)
    return {
        "dataset_rows": connection.scalar(select(func.min(row.expires_at)).where(row.root == root)),
        "trajectories": connection.scalar(runs),
        "consent_events": connection.scalar(consents),
    }


def span(connection: Connection, root: str) -> tuple[datetime, datetime] | None:
    """When the first and the last of a version's runs that are still held began; None where none is."""
    line, run = DatasetLineRow, TrajectoryRow
    statement = (
        select(func.min(run.started_at), func.max(run.started_at))
        .join(line, run.id == line.trajectory_id)
        .where(line.root == root)
    )
    first, last = connection.execute(statement).one()
    return None if first is None else (first, last)
