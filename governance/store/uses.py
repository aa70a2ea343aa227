"""Rights asked again at a use of a dataset: what is left of it now, what dropped, why, and since when.

Of a row that is gone with its person, or whose time was over, only the digest is known; it counts as
``no_longer_held``. The moment of the first loss is found by judging the dropped rows again at each moment at which
something about their rights changed, so a deadline counts from the loss and not from its discovery.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, or_, select

from governance.errors import NotFound
from governance.records.dataset import DatasetManifest, DatasetRow
from governance.records.manifest import DatasetUse, Dropped, JudgedRows
from governance.records.rights import Purpose
from governance.store.kit import Kit
from governance.store.people import by_tenant
from governance.store.rights_facts import Row
from governance.store.tables_datasets import DatasetUseRow, DatasetVersionRow
from governance.store.tables_learning import DatasetRowTable, DatasetTable
from governance.store.tables_rights import ConsentEventRow, ContractRow, RightsFactRow, SuppressionRow
from governance.store.verdicts import read_verdicts, verdicts

NO_LONGER_HELD: Final = "no_longer_held"
"""Erased with its person, or past its retention."""


def judged(connection: Connection, kit: Kit, root: str, purpose: Purpose) -> JudgedRows:
    """Every row of a dataset, judged now.

    Raises:
        NotFound: when there is no such dataset.

    """
    body, now = connection.scalar(select(DatasetTable.body).where(DatasetTable.root == root)), kit.clock.now()
    if body is None:
        raise NotFound(f"store: no dataset {root}")
    named = DatasetManifest.model_validate(body).rows
    table = DatasetRowTable
    statement = select(table.digest, table.body).where(table.root == root).order_by(table.position, table.digest)
    held = {digest: DatasetRow.model_validate(body) for digest, body in connection.execute(statement)}
    asked = {digest: (row.tenant_id, row.subject, row.trajectory_id) for digest, row in held.items()}
    tenants = {row.tenant_id for row in held.values()}
    kit.log_comply(connection, purpose, tenants, f"dataset:{root}")
    sharing = purpose is Purpose.TRAIN_WEIGHTS and len(tenants) > 1
    found = read_verdicts(connection, kit, purpose, asked.values(), sharing=sharing)
    of = {digest: found[row] for digest, row in asked.items()}
    lost = [digest for digest, verdict in of.items() if not verdict.allowed]
    dropped = [Dropped(row=one, tenant_id=held[one].tenant_id, reason=of[one].reasons[0].value) for one in lost]
    dropped += [Dropped(row=one, tenant_id=None, reason=NO_LONGER_HELD) for one in sorted(set(named) - set(held))]
    rows = [asked[digest] for digest in lost]
    return JudgedRows(
        root=root,
        rows=tuple(row for digest, row in held.items() if of[digest].allowed),
        verdicts=of,
        dropped=tuple(dropped),
        lost_at=_lost_at(connection, kit, purpose, rows, root, sharing=sharing) if rows else None,
        as_of=now,
    )


def _begun(connection: Connection, root: str) -> datetime:
    """When the dataset's rows all had their right."""
    at = connection.scalar(select(DatasetVersionRow.at).where(DatasetVersionRow.root == root))
    return at or datetime(1970, 1, 1, tzinfo=UTC)


def _lost_at(
    connection: Connection, kit: Kit, purpose: Purpose, rows: Sequence[Row], root: str, *, sharing: bool
) -> datetime:
    """When one of the rows was first denied since the dataset was made.

    Where no record says so, the policy changed: then when that was first noted, else now.
    """
    now, after = kit.clock.now(), _begun(connection, root)
    for moment in sorted(one for one in _moments(connection, purpose, rows) if after <= one <= now):
        found = verdicts(connection, kit, purpose, rows, moment, sharing=sharing, past=True)
        if not all(one.allowed for one in found.values()):
            return moment
    table = DatasetUseRow
    for body in connection.scalars(select(table.body).where(table.root == root).order_by(table.as_of)):
        use = DatasetUse.model_validate(body)
        if use.dropped and use.policy_version == kit.policy.version:
            return use.as_of
    return now


def _moments(connection: Connection, purpose: Purpose, rows: Sequence[Row]) -> set[datetime]:
    """When anything about the rights to the rows changed."""
    found: set[datetime | None] = set()
    event, fact, contract, gone = ConsentEventRow, RightsFactRow, ContractRow, SuppressionRow
    for tenant_id, part in by_tenant({(tenant_id, subject) for tenant_id, subject, _ in rows}):
        people: list[str | None] = list(part)
        said = (event.tenant_id == tenant_id, event.purpose == purpose.value, event.subject.in_(people))
        stood = (fact.tenant_id == tenant_id, or_(fact.subject.is_(None), fact.subject.in_(people)))
        for table, where in ((event, said), (fact, stood)):
            for row in connection.execute(select(table.valid_from, table.valid_to, table.recorded_at).where(*where)):
                found.update(row)
        for body in connection.scalars(select(contract.body).where(contract.tenant_id == tenant_id)):
            found.update(_times(body))
        erased = (gone.tenant_id == tenant_id, gone.subject.in_(people))
        found.update(connection.scalars(select(gone.since).where(*erased)))
    return {moment for moment in found if moment is not None}


def _times(contract: dict[str, str | None]) -> list[datetime]:
    times = (contract.get(name) for name in ("valid_from", "valid_to", "recorded_at"))
    return [datetime.fromisoformat(time) for time in times if time]
