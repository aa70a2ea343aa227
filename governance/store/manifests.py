"""``store.manifests``: dataset versions, their lines and proofs, and their uses.

Lines name people, so they are read for a purpose: for ``comply`` all, logged; for another those of people whom it may
use now. A version's leaves, counts and uses name nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select

from governance.errors import NotFound
from governance.records import merkle
from governance.records.manifest import DatasetUse, DatasetVersion, ManifestLine, Recipient, UseKind
from governance.records.rights import Purpose
from governance.store import dataset_ends, dialect, findings, version_checks, versions
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.tables_datasets import DatasetLineRow, DatasetUseRow, DatasetVersionRow
from governance.store.verdicts import read_verdicts


class Manifests:
    """Dataset versions by root."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def version(self, root: str) -> DatasetVersion:
        """The version of that root.

        Raises:
            NotFound: when there is none.

        """
        with self._kit.db.read() as connection:
            return versions.version_of(connection, root)

    def find(self, beginning: str) -> DatasetVersion:
        """The one version whose root begins so.

        Raises:
            NotFound: when there is none, or more than one.

        """
        row = DatasetVersionRow
        with self._kit.db.read() as connection:
            bodies = connection.scalars(select(row.body).where(row.root.startswith(beginning, autoescape=True))).all()
        if len(bodies) != 1 or not beginning:
            raise NotFound(
                f"store: {len(bodies)} dataset versions begin with {beginning!r}; see: tidemill dataset list"
            )
        return DatasetVersion.model_validate(bodies[0])

    def lines(self, root: str, purpose: Purpose) -> dict[int, ManifestLine]:
        """Position to line, of the lines that the purpose may read now."""
        with self._kit.reading(purpose) as connection:
            lines = versions.lines_of(connection, root)
            self._kit.log_comply(connection, purpose, {one.tenant_id for one in lines.values()}, f"manifest:{root}")
            asked = {place: (one.tenant_id, one.subject, one.trajectory_id) for place, one in lines.items()}
            judged = read_verdicts(connection, self._kit, purpose, asked.values())
        return {place: line for place, line in lines.items() if judged[asked[place]].allowed}

    def problems(self, root: str) -> list[str]:
        """What in a version is not as it was written; empty when it is whole.

        Raises:
            NotFound: when there is none.

        """
        with self._kit.db.read() as connection:
            return version_checks.problems(connection, self._kit, root)

    def proof(self, root: str, position: int) -> tuple[str, ...]:
        """The path from a line's leaf to the Merkle root.

        Raises:
            NotFound: when the version has no such line.

        """
        leaves = self.version(root).leaves
        if not 0 <= position < len(leaves):
            raise NotFound(f"store: dataset version {root} has no line {position}")
        return merkle.path(leaves, position)

    def difference(self, before: str, after: str) -> dict[str, Any]:
        """What a version holds that another did not."""
        return version_checks.difference(self.lines(before, Purpose.COMPLY), self.lines(after, Purpose.COMPLY))

    def ends(self, root: str, now: datetime) -> dict[str, datetime | None]:
        """Table to the earliest end after ``now`` of what a version rests on."""
        with self._kit.db.read() as connection:
            return dataset_ends.ends(connection, root, now)

    def span(self, root: str) -> tuple[datetime, datetime] | None:
        """When the first and the last of a version's runs that are still held began."""
        with self._kit.db.read() as connection:
            return dataset_ends.span(connection, root)

    def put_use(self, use: DatasetUse) -> None:
        """Record a use, durably; idempotent by id: the first stands."""
        row = {
            "id": use.id, "kind": use.kind.value, "root": use.root, "version": use.version, "target": use.target,
            "as_of": use.as_of, "body": use.plain(), "expires_at": self._kit.expires(DatasetUseRow),
        }  # fmt: skip
        with self._kit.db.write(durable=True) as connection:
            dialect.insert_new(connection, DatasetUseRow, [row])

    def use(self, id_: str) -> DatasetUse | None:
        """The use of that id."""
        with self._kit.db.read() as connection:
            body = connection.scalar(select(DatasetUseRow.body).where(DatasetUseRow.id == id_))
        return None if body is None else DatasetUse.model_validate(body)

    def uses(self, roots: Iterable[str] | None = None, kind: UseKind | None = None) -> tuple[DatasetUse, ...]:
        """The uses of some versions, or of all, oldest first."""
        row = DatasetUseRow
        statement = select(row.body).order_by(row.as_of, row.id)
        if roots is not None:
            wanted = sorted(set(roots))
            statement = statement.where(row.root.in_(wanted) | row.version.in_(wanted))
        if kind is not None:
            statement = statement.where(row.kind == kind.value)
        with self._kit.db.read() as connection:
            return tuple(DatasetUse.model_validate(body) for body in connection.scalars(statement))

    def recipients(self, tenant_id: str, subject: str) -> tuple[Recipient, ...]:
        """To whom rows of a person's runs were exported, and when; asked before an erasure takes the lines away.

        A run is theirs by what goes with them: their own, and those that name them.
        """
        line, use = DatasetLineRow, DatasetUseRow
        with self._kit.db.read() as connection:
            runs = findings.find(connection, tenant_id, subject).trajectories
        theirs = or_(line.subject == subject, *(line.trajectory_id.in_(part) for part in chunks(runs, dialect.CHUNK)))
        mine = (line.tenant_id == tenant_id, theirs, use.kind == UseKind.EXPORT.value)
        statement = (
            select(use.target, use.version, use.as_of, func.count())
            .join(line, line.root == use.version)
            .where(*mine)
            .group_by(use.id, use.target, use.version, use.as_of)
            .order_by(use.as_of, use.target, use.version)
        )
        with self._kit.reading(Purpose.COMPLY) as connection:
            self._kit.log_comply(connection, Purpose.COMPLY, [tenant_id], "recipients")
            found = connection.execute(statement).all()
        return tuple(Recipient(recipient=to, root=root, rows=rows, at=at) for to, root, at, rows in found)

    def list(self) -> tuple[DatasetVersion, ...]:
        """Every version, oldest first."""
        row = DatasetVersionRow
        with self._kit.db.read() as connection:
            bodies = connection.scalars(select(row.body).order_by(row.at, row.root))
            return tuple(DatasetVersion.model_validate(body) for body in bodies)
