"""``store.cycles``: turns of the loop."""

from __future__ import annotations

from sqlalchemy import select

from governance.errors import NotFound
from governance.records.cycle import Cycle
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import CycleRow


class Cycles:
    """Cycles by id."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, cycle: Cycle) -> None:
        """Store the cycle in place of what was known of it."""
        row = {
            "id": cycle.id,
            "scope": cycle.scope,
            "window_start": cycle.window_start,
            "body": cycle.plain(),
            "expires_at": self._kit.expires(CycleRow),
        }
        update = ["scope", "window_start", "body"]
        self._kit.db.run(lambda connection: dialect.upsert(connection, CycleRow, [row], update))

    def get(self, cycle_id: str) -> Cycle:
        """One cycle.

        Raises:
            NotFound: when there is none of that id.

        """
        with self._kit.db.read() as connection:
            body = connection.scalar(select(CycleRow.body).where(CycleRow.id == cycle_id))
        if body is None:
            raise NotFound(f"store: no cycle {cycle_id}")
        return Cycle.model_validate(body)

    def list(self, scope: str | None = None) -> tuple[Cycle, ...]:
        """The cycles of a scope, or all, by (window start, id)."""
        statement = select(CycleRow.body).order_by(CycleRow.window_start, CycleRow.id)
        if scope is not None:
            statement = statement.where(CycleRow.scope == scope)
        with self._kit.db.read() as connection:
            return tuple(Cycle.model_validate(body) for body in connection.scalars(statement))
