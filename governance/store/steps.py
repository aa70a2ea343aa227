"""``store.steps``: recorded results of a cycle's steps. Same inputs, same output: the first result stands."""

from __future__ import annotations

from sqlalchemy import select

from governance.records.cycle import StepResult
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import StepRow


class Steps:
    """Step results by cycle, step and input."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def get(self, cycle_id: str, step: str, input_digest: str) -> StepResult | None:
        """The result of the step on that input, or None."""
        row = StepRow
        statement = select(row.body).where(row.cycle_id == cycle_id, row.step == step, row.input_digest == input_digest)
        with self._kit.db.read() as connection:
            body = connection.scalar(statement)
        return None if body is None else StepResult.model_validate(body)

    def put(self, result: StepResult) -> None:
        """Record a result; idempotent by (cycle, step, input)."""
        row = {
            "cycle_id": result.cycle_id,
            "step": result.step,
            "input_digest": result.input_digest,
            "at": result.at,
            "body": result.plain(),
            "expires_at": self._kit.expires(StepRow),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, StepRow, [row]))

    def list(self, cycle_id: str) -> tuple[StepResult, ...]:
        """The cycle's results, by (at, step)."""
        row = StepRow
        statement = select(row.body).where(row.cycle_id == cycle_id).order_by(row.at, row.step, row.input_digest)
        with self._kit.db.read() as connection:
            return tuple(StepResult.model_validate(body) for body in connection.scalars(statement))
