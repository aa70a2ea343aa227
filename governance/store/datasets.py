"""``store.datasets``: what adapters are trained on: manifest, rows, exclusions.

Rights are evaluated again at every read of rows: a row whose verdict denies by now is not returned. A row's content
leaves with its person; the manifest stays and holds digests and counts only. Each dataset is a version with a line for
each row (``governance.store.versions``); what is left of one at a use is a version of its own (``part``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from governance.errors import NotFound
from governance.records.dataset import DatasetManifest, DatasetRow, Exclusion
from governance.records.lineage import NodeKind
from governance.records.manifest import JudgedRows, MadeFor
from governance.records.rights import Purpose
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect, lineage, rights, trajectories, uses, versions
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_learning import DatasetExclusionRow, DatasetRowTable, DatasetTable


class RowSource(NamedTuple):
    """A row without what is in it."""

    digest: str
    tenant_id: str
    subject: str
    trajectory_id: str


class Datasets:
    """Datasets by root."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(
        self,
        manifest: DatasetManifest,
        rows: Sequence[DatasetRow],
        exclusions: Sequence[Exclusion],
        preparation: Mapping[str, Any] | None = None,
    ) -> None:
        """Store a dataset with its manifest; idempotent by root. Rows of suppressed people are not stored.

        ``preparation``: digests and settings that the rows were made with.
        """
        self._kit.db.run(lambda connection: self._put(connection, manifest, rows, exclusions, preparation or {}))

    def judged(self, root: str, purpose: Purpose) -> JudgedRows:
        """Every row of a dataset, judged now: those that may be used, and those that dropped, each with its reason.

        Raises:
            NotFound: when there is no such dataset.

        """
        with self._kit.reading(purpose) as connection:
            return uses.judged(connection, self._kit, root, purpose)

    def part(self, found: JudgedRows, made_for: MadeFor, without: Mapping[str, str] | None = None) -> str:
        """The root of what is left of a dataset: its own where nothing dropped, else a version made of the rest.

        ``without``: further rows that are left out, digest to reason.
        """
        return self._kit.db.run(lambda connection: self._part(connection, found, made_for, without or {}))

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
            select(row.tenant_id, row.subject, row.trajectory_id, row.body)
            .where(row.root == root)
            .order_by(row.position, row.digest)
        )
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).all()
            asked = [(tenant_id, subject, run) for tenant_id, subject, run, _ in found]
            tenants = {tenant_id for tenant_id, _, _ in asked}
            self._kit.log_comply(connection, purpose, tenants, f"dataset:{root}")
            sharing = purpose is Purpose.TRAIN_WEIGHTS and len(tenants) > 1
            judged = rights.read_verdicts(connection, self._kit, purpose, asked, sharing=sharing)
        return tuple(
            DatasetRow.model_validate(body)
            for tenant_id, subject, run, body in found
            if judged[tenant_id, subject, run].allowed
        )

    def find(self, beginning: str) -> DatasetManifest:
        """The one manifest whose root begins so.

        Raises:
            NotFound: when there is none, or more than one.

        """
        row = DatasetTable
        with self._kit.db.read() as connection:
            bodies = connection.scalars(select(row.body).where(row.root.startswith(beginning, autoescape=True))).all()
        if len(bodies) != 1 or not beginning:
            raise NotFound(f"store: {len(bodies)} datasets begin with {beginning!r}")
        return DatasetManifest.model_validate(bodies[0])

    def roots(self) -> tuple[str, ...]:
        """Every dataset, by root."""
        with self._kit.db.read() as connection:
            return tuple(connection.scalars(select(DatasetTable.root).order_by(DatasetTable.root)))

    def sources(self, root: str) -> tuple[RowSource, ...]:
        """The rows that are there now, without what is in them, in the order in which they were stored."""
        row = DatasetRowTable
        columns = (row.digest, row.tenant_id, row.subject, row.trajectory_id)
        statement = select(*columns).where(row.root == root).order_by(row.position, row.digest)
        with self._kit.db.read() as connection:
            return tuple(RowSource(*found) for found in connection.execute(statement))

    def row(self, root: str, digest: str, purpose: Purpose) -> DatasetRow:
        """One row.

        Raises:
            NotFound: when there is none, or no right to it.

        """
        row = DatasetRowTable
        columns = (row.tenant_id, row.subject, row.trajectory_id, row.body)
        statement = select(*columns).where(row.root == root, row.digest == digest)
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).first()
            if found is None:
                raise NotFound(f"store: no row {digest} in dataset {root}")
            tenant_id, subject, run, body = found
            self._kit.log_comply(connection, purpose, [tenant_id], f"dataset_row:{root}/{digest}")
            asked = (tenant_id, subject, run)
            verdict = rights.read_verdicts(connection, self._kit, purpose, [asked])[asked]
        if not verdict.allowed:
            raise NotFound(f"store: no row {digest} in dataset {root} for {purpose.value}")
        return DatasetRow.model_validate(body)

    def exclusions(self, root: str) -> tuple[Exclusion, ...]:
        """What was considered and left out, in the order in which it was stored."""
        with self._kit.db.read() as connection:
            return exclusions_of(connection, root)

    def _put(
        self,
        connection: Connection,
        manifest: DatasetManifest,
        rows: Sequence[DatasetRow],
        exclusions: Sequence[Exclusion],
        preparation: Mapping[str, Any],
    ) -> None:
        gone = rights.suppressed(connection, {(row.tenant_id, row.subject) for row in rows}, None)
        kept = [(row.digest(), row) for row in rows if (row.tenant_id, row.subject) not in gone]
        self._put_rows(connection, manifest, kept)
        self._put_exclusions(connection, manifest.root, exclusions)
        admitted = {digest: row.verdict for digest, row in kept}
        versions.record(
            connection, self._kit, manifest, kept,
            verdicts=admitted, parent=None, made_for=MadeFor.BUILD, preparation=preparation,
        )  # fmt: skip

    def _part(self, connection: Connection, found: JudgedRows, made_for: MadeFor, without: Mapping[str, str]) -> str:
        kept = [(digest, row) for row in found.rows if (digest := row.digest()) not in without]
        reasons = [*without.values(), *(one.reason for one in found.dropped)]
        if not reasons:
            return found.root
        whole = self.manifest(found.root)
        counts = Counter(whole.exclusions) + Counter(reasons)
        manifest = DatasetManifest(
            scope=whole.scope,
            rows=tuple(sorted(digest for digest, _ in kept)),
            exclusions=dict(sorted(counts.items())),
            policy_version=self._kit.policy.version,
        )
        self._put_rows(connection, manifest, kept)
        self._put_exclusions(connection, manifest.root, exclusions_of(connection, found.root))
        versions.record(
            connection, self._kit, manifest, kept,
            verdicts=found.verdicts, parent=found.root, made_for=made_for,
            preparation=versions.preparation_of(connection, found.root),
        )  # fmt: skip
        return manifest.root

    def _put_rows(
        self, connection: Connection, manifest: DatasetManifest, kept: Sequence[tuple[str, DatasetRow]]
    ) -> None:
        root = manifest.root
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


def exclusions_of(connection: Connection, root: str) -> tuple[Exclusion, ...]:
    """What was considered for a dataset and left out, in the order in which it was stored."""
    row = DatasetExclusionRow
    statement = select(row.tenant_id, row.trajectory_id, row.reason).where(row.root == root).order_by(row.position)
    return tuple(Exclusion.model_validate(dict(found)) for found in connection.execute(statement).mappings())
