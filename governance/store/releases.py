"""``store.releases``: releases by digest, with parent and reason, and which of them are tainted.

A release is tainted when its adapter or a fact of its context was made from what was since found unlawful or erased.
A tainted release is kept, listed, and never promoted again. A suspended one answers nobody, champion or not.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update

from governance.acting import acting
from governance.errors import NotFound
from governance.records.lineage import NodeKind
from governance.records.release import ReleaseBundle
from governance.store import dialect, lineage
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_releases import ReleaseRow


class Releases:
    """Releases by digest."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, bundle: ReleaseBundle, parent: str | None, reason: str) -> None:
        """Store a release; idempotent by digest: the first parent, reason and maker stand."""
        release = bundle.release
        digest = release.digest()
        adapter = release.adapter.content_digest if release.adapter else None
        row = {
            "digest": digest,
            "parent": parent,
            "made_by": acting().principal.name,
            "reason": reason,
            "adapter_digest": adapter,
            "tainted_reason": None,
            "suspended_reason": None,
            "recorded_at": self._kit.clock.now(),
            "body": bundle.plain(),
            "expires_at": self._kit.expires(ReleaseRow),
        }
        me = node(NodeKind.RELEASE, digest)
        edges = [edge(me, node(NodeKind.FACT, fact.digest())) for fact in bundle.context.facts]
        if adapter is not None:
            edges.append(edge(me, node(NodeKind.ADAPTER, adapter)))
        with self._kit.db.write() as connection:
            dialect.insert_new(connection, ReleaseRow, [row])
            lineage.add(connection, edges)

    def get(self, digest: str) -> ReleaseBundle:
        """The release with the records that it names.

        Raises:
            NotFound: when there is none of that digest.

        """
        with self._kit.db.read() as connection:
            body = connection.scalar(select(ReleaseRow.body).where(ReleaseRow.digest == digest))
        if body is None:
            raise NotFound(f"store: no release {digest}")
        return ReleaseBundle.model_validate(body)

    def maker(self, digest: str) -> str | None:
        """Who acted when a release was made; None where that was not recorded.

        Raises:
            NotFound: when there is none of that digest.

        """
        with self._kit.db.read() as connection:
            found = connection.execute(select(ReleaseRow.made_by).where(ReleaseRow.digest == digest)).first()
        if found is None:
            raise NotFound(f"store: no release {digest}")
        return None if found[0] is None else str(found[0])

    def find(self, beginning: str) -> str:
        """The digest of the one release that begins so.

        Raises:
            NotFound: when there is none, or more than one.

        """
        row = ReleaseRow
        with self._kit.db.read() as connection:
            found = connection.scalars(
                select(row.digest).where(row.digest.startswith(beginning, autoescape=True))
            ).all()
        if len(found) != 1 or not beginning:
            raise NotFound(f"store: {len(found)} releases begin with {beginning!r}; see: tidemill release list")
        return found[0]

    def recorded_at(self, digest: str) -> datetime:
        """When the release was made.

        Raises:
            NotFound: when there is none of that digest.

        """
        with self._kit.db.read() as connection:
            at = connection.scalar(select(ReleaseRow.recorded_at).where(ReleaseRow.digest == digest))
        if at is None:
            raise NotFound(f"store: no release {digest}")
        return at

    def list(self) -> tuple[ReleaseBundle, ...]:
        """Every release, in the order in which they were made."""
        statement = select(ReleaseRow.body).order_by(ReleaseRow.recorded_at, ReleaseRow.digest)
        with self._kit.db.read() as connection:
            return tuple(ReleaseBundle.model_validate(body) for body in connection.scalars(statement))

    def origin(self, digest: str) -> tuple[str | None, str]:
        """The release's parent and the reason it was made.

        Raises:
            NotFound: when there is none of that digest.

        """
        with self._kit.db.read() as connection:
            statement = select(ReleaseRow.parent, ReleaseRow.reason).where(ReleaseRow.digest == digest)
            found = connection.execute(statement).first()
        if found is None:
            raise NotFound(f"store: no release {digest}")
        return found.parent, found.reason

    def taint(self, digest: str, reason: str) -> None:
        """The release may not be promoted any more; the first reason stands."""
        row = ReleaseRow
        statement = update(row).where(row.digest == digest, row.tainted_reason.is_(None)).values(tainted_reason=reason)
        with self._kit.db.write() as connection:
            connection.execute(statement)

    def tainted(self) -> set[str]:
        """Digests of the tainted releases."""
        with self._kit.db.read() as connection:
            return set(connection.scalars(select(ReleaseRow.digest).where(ReleaseRow.tainted_reason.is_not(None))))

    def suspend(self, digest: str, reason: str) -> None:
        """The release answers nobody any more, whether it is champion or not; the first reason stands."""
        row = ReleaseRow
        statement = (
            update(row).where(row.digest == digest, row.suspended_reason.is_(None)).values(suspended_reason=reason)
        )
        with self._kit.db.write() as connection:
            connection.execute(statement)

    def suspended(self, digest: str) -> str | None:
        """Why the release answers nobody; None where it may answer."""
        with self._kit.db.read() as connection:
            found: str | None = connection.scalar(
                select(ReleaseRow.suspended_reason).where(ReleaseRow.digest == digest)
            )
        return found
