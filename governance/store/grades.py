"""``store.grades``: what the verifiers said of a release on a task, and the rollout they judged.

An evaluation that was interrupted goes on with the grades that are here, so a (release, task) is graded once.
"""

from __future__ import annotations

from sqlalchemy import Connection, select

from governance.errors import NotFound, PurposeDenied
from governance.records.rights import Purpose
from governance.records.rollout import Grade, Rollout
from governance.store import dialect, rights, tasks, verdicts
from governance.store.kit import Kit
from governance.store.tables_learning import GradeRow, TaskRow


class Grades:
    """Grades by release and task."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, cycle_id: str, arm: str, task_digest: str, grade: Grade, rollout: Rollout) -> None:
        """Store a grade; idempotent on (release, task): the first one stands.

        Raises:
            NotFound: when the task is not stored, for then nobody knows whose data the rollout holds.

        """

        def work(connection: Connection) -> None:
            statement = select(TaskRow.tenant_id, TaskRow.subject).where(TaskRow.digest == task_digest).limit(1)
            owner = connection.execute(statement).first()
            if owner is None:
                raise NotFound(f"store: no task {task_digest} to grade")
            row = {
                "release_digest": grade.release_digest,
                "task_digest": task_digest,
                "cycle_id": cycle_id,
                "arm": arm,
                "tenant_id": owner.tenant_id,
                "subject": owner.subject,
                "grade": grade.plain(),
                "rollout": rollout.plain(),
                "expires_at": self._kit.expires(GradeRow),
            }
            dialect.insert_new(connection, GradeRow, [row])

        self._kit.db.run(work)

    def get(self, release_digest: str, task_digest: str) -> Grade | None:
        """The grade, or None where it is not graded yet."""
        row = GradeRow
        statement = select(row.grade).where(row.release_digest == release_digest, row.task_digest == task_digest)
        with self._kit.db.read() as connection:
            body = connection.scalar(statement)
        return None if body is None else Grade.model_validate(body)

    def list(self, release_digest: str) -> tuple[Grade, ...]:
        """Every grade of a release, by task."""
        row = GradeRow
        statement = select(row.grade).where(row.release_digest == release_digest).order_by(row.task_digest)
        with self._kit.db.read() as connection:
            return tuple(Grade.model_validate(body) for body in connection.scalars(statement))

    def rollout(self, release_digest: str, task_digest: str, purpose: Purpose) -> Rollout:
        """The rollout that was graded.

        Raises:
            NotFound: when there is none.
            PurposeDenied: when its person's data may not be used for the purpose.

        """
        row = GradeRow
        statement = select(row.tenant_id, row.subject, row.rollout).where(
            row.release_digest == release_digest, row.task_digest == task_digest
        )
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).first()
            if found is None:
                raise NotFound(f"store: no rollout of release {release_digest} on task {task_digest}")
            rows = tasks.rows_of(connection, task_digest, (found.tenant_id, found.subject))
            self._kit.log_comply(connection, purpose, [found.tenant_id], f"rollout:{release_digest}/{task_digest}")
            verdict = verdicts.strictest(rights.read_verdicts(connection, self._kit, purpose, rows).values())
        if not verdict.allowed:
            raise PurposeDenied(f"store: rollout on task {task_digest}: {verdict.reasons[0].value}")
        return Rollout.model_validate(found.rollout)
