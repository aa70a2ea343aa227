"""``store.datasets``: what adapters are trained on: manifest, rows, exclusions.

Rights are evaluated again at every read of rows: a row whose verdict denies by now is not returned. A row's content
leaves with its person; the manifest stays and holds digests and counts only.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from governance.errors import NotFound
from governance.records.dataset import DatasetManifest, DatasetRow, Exclusion
from governance.records.lineage import NodeKind
from governance.records.rights import Purpose
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect, lineage, rights, trajectories
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_learning import DatasetExclusionRow, DatasetRowTable, DatasetTable


class Datasets:
    """Datasets by root."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, manifest: DatasetManifest, rows: Sequence[DatasetRow], exclusions: Sequence[Exclusion]) -> None:
        """Store a dataset; idempotent by root. Rows of suppressed people are not stored."""
        self._kit.db.run(lambda connection: self._put(connection, manifest, rows, exclusions))

    def manifest(self, root: str) -> DatasetManifest:
        """The manifest.

        Raises:
            NotFound: when there is none of that root.

        """
        with self._kit.db.read() as connection:
            body = connection.scalar(select(DatasetTable.body).where(DatasetTable.root == root))
        if body is None:
            raise NotFound(f"store: no dataset {root}")
        return DatasetManifest.model_validate(body)

    def rows(self, root: str, purpose: Purpose) -> tuple[DatasetRow, ...]:
        """The rows that the purpose may use now, in the order in which they were stored."""
        row = DatasetRowTable
        statement = (
            select(row.tenant_id, row.subject, row.body).where(row.root == root).order_by(row.position, row.digest)
        )
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).all()
            people = {(tenant_id, subject) for tenant_id, subject, _ in found}
            tenants = {tenant_id for tenant_id, _ in people}
            self._kit.log_comply(connection, purpose, tenants, f"dataset:{root}")
            sharing = purpose is Purpose.TRAIN_WEIGHTS and len(tenants) > 1
            judged = rights.read_verdicts(connection, purpose, people, self._kit.clock.now(), sharing=sharing)
        return tuple(
            DatasetRow.model_validate(body) for tenant_id, subject, body in found if judged[tenant_id, subject].allowed
        )

    def exclusions(self, root: str) -> tuple[Exclusion, ...]:
        """What was considered and left out, in the order in which it was stored."""
        row = DatasetExclusionRow
        statement = select(row.tenant_id, row.trajectory_id, row.reason).where(row.root == root).order_by(row.position)
        with self._kit.db.read() as connection:
            return tuple(Exclusion.model_validate(dict(found)) for found in connection.execute(statement).mappings())

    def _put(
        self,
        connection: Connection,
        manifest: DatasetManifest,
        rows: Sequence[DatasetRow],
        exclusions: Sequence[Exclusion],
    ) -> None:
        root = manifest.root
        gone = rights.suppressed(connection, {(row.tenant_id, row.subject) for row in rows}, None)
        kept = [(row.digest(), row) for row in rows if (row.tenant_id, row.subject) not in gone]
        head = {
            "root": root,
            "scope": manifest.scope,
            "body": manifest.plain(),
            "expires_at": self._kit.expires(DatasetTable),
        }
        dialect.insert_new(connection, DatasetTable, [head])
        expires_at = self._kit.expires(DatasetRowTable)
        dialect.insert_new(
            connection,
            DatasetRowTable,
            [
                {
                    "root": root,
                    "digest": digest,
                    "position": position,
                    "tenant_id": row.tenant_id,
                    "subject": row.subject,
                    "trajectory_id": row.trajectory_id,
                    "body": row.plain(),
                    "expires_at": expires_at,
                }
                for position, (digest, row) in enumerate(kept)
            ],
        )
        self._put_exclusions(connection, root, exclusions)
        whole = node(NodeKind.DATASET, root)
        parts = [(node(NodeKind.DATASET_ROW, root, digest), row) for digest, row in kept]
        edges = [edge(whole, part) for part, _ in parts]
        edges += [edge(part, node(NodeKind.TRAJECTORY, row.trajectory_id)) for part, row in parts]
        edges += [edge(part, node(NodeKind.SUBJECT, row.tenant_id, row.subject)) for part, row in parts]
        edges.append(edge(node(NodeKind.DATASET, manifest.digest()), whole))  # an adapter may name either digest
        lineage.add(connection, edges)

    def _put_exclusions(self, connection: Connection, root: str, exclusions: Sequence[Exclusion]) -> None:
        owners = trajectories.subjects_of(connection, (item.trajectory_id for item in exclusions))
        expires_at = self._kit.expires(DatasetExclusionRow)
        rows = [
            item.model_dump()
            | {
                "root": root,
                "position": position,
                "subject": owners.get(item.trajectory_id, (item.tenant_id, UNKNOWN_SUBJECT))[1],
                "expires_at": expires_at,
            }
            for position, item in enumerate(exclusions)
        ]
        dialect.insert_new(connection, DatasetExclusionRow, rows)
