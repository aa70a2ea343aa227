"""``store.adapters``: trained weights by the digest of their files. Retired is a state, never a silent deletion."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import select, update

from governance.errors import NotFound
from governance.records.lineage import NodeKind
from governance.records.release import AdapterRef
from governance.store import dialect, lineage
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.tables_releases import AdapterRow

State = Literal["active", "retired"]


class Adapters:
    """Adapters by content digest."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, adapter: AdapterRef, path: str, probe: dict[str, Any]) -> None:
        """Store an adapter; idempotent by digest, which also keeps a retired one retired."""
        digest = adapter.content_digest
        row = {
            "content_digest": digest,
            "dataset_digest": adapter.dataset_digest,
            "path": path,
            "body": adapter.plain(),
            "probe": probe,
            "retired_reason": None,
            "expires_at": self._kit.expires(AdapterRow),
        }
        made_from = edge(node(NodeKind.ADAPTER, digest), node(NodeKind.DATASET, adapter.dataset_digest))
        with self._kit.db.write() as connection:
            dialect.upsert(connection, AdapterRow, [row], ["path", "probe"])
            lineage.add(connection, [made_from])

    def get(self, content_digest: str) -> tuple[AdapterRef, str, dict[str, Any]]:
        """The adapter, where its files lie, and its probe.

        Raises:
            NotFound: when there is none of that digest.

        """
        row = AdapterRow
        with self._kit.db.read() as connection:
            statement = select(row.body, row.path, row.probe).where(row.content_digest == content_digest)
            found = connection.execute(statement).first()
        if found is None:
            raise NotFound(f"store: no adapter {content_digest}")
        return AdapterRef.model_validate(found.body), found.path, found.probe

    def list(self) -> tuple[AdapterRef, ...]:
        """Every adapter, by digest."""
        statement = select(AdapterRow.body).order_by(AdapterRow.content_digest)
        with self._kit.db.read() as connection:
            return tuple(AdapterRef.model_validate(body) for body in connection.scalars(statement))

    def retire(self, content_digest: str, reason: str) -> None:
        """The adapter may not be served or trained on any more; the first reason stands."""
        row = AdapterRow
        statement = (
            update(row)
            .where(row.content_digest == content_digest, row.retired_reason.is_(None))
            .values(retired_reason=reason)
        )
        with self._kit.db.write() as connection:
            connection.execute(statement)

    def state(self, content_digest: str) -> State:
        """Whether it is retired.

        Raises:
            NotFound: when there is none of that digest.

        """
        row = AdapterRow
        statement = select(row.content_digest, row.retired_reason).where(row.content_digest == content_digest)
        with self._kit.db.read() as connection:
            found = connection.execute(statement).first()
        if found is None:
            raise NotFound(f"store: no adapter {content_digest}")
        return "active" if found.retired_reason is None else "retired"
