"""``store.tasks``: things to get done, by cycle and purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from governance.errors import NotFound, PurposeDenied
from governance.records.admissible import AdmissibleTasks
from governance.records.dataset import Exclusion
from governance.records.lineage import LineageEdge, NodeKind
from governance.records.rights import Purpose
from governance.records.task import Split, Task
from governance.store import dialect, lineage, rights, verdicts
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.people import Person
from governance.store.tables_learning import TaskRow


class Tasks:
    """Tasks by cycle."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_all(self, cycle_id: str, tasks: Sequence[Task]) -> None:
        """Store the cycle's tasks; idempotent by content. Those of suppressed people are not stored."""
        self._kit.db.run(lambda connection: self._put(connection, cycle_id, tasks))

    def list(self, cycle_id: str, purpose: Purpose, split: Split | None = None) -> AdmissibleTasks:
        """The cycle's tasks that the purpose may use, by (at, digest), and those that it may not."""
        row = TaskRow
        statement = select(row.tenant_id, row.subject, row.body).where(row.cycle_id == cycle_id)
        if split is not None:
            statement = statement.where(row.split == split.value)
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement.order_by(row.at, row.digest)).all()
            people = {(tenant_id, subject) for tenant_id, subject, _ in found}
            tenants = {tenant_id for tenant_id, _ in people}
            self._kit.log_comply(connection, purpose, tenants, f"tasks:{cycle_id}")
            sharing = purpose is Purpose.TRAIN_WEIGHTS and len(tenants) > 1
            rows = {row for tenant_id, subject, body in found for row in _rows(tenant_id, subject, body)}
            judged = rights.read_verdicts(connection, self._kit, purpose, rows, sharing=sharing)
        tasks, excluded = [], []
        for tenant_id, subject, body in found:
            verdict = verdicts.strictest(judged[row] for row in _rows(tenant_id, subject, body))
            if verdict.allowed:
                tasks.append(Task.model_validate(body))
            else:
                source = next(iter(body["sources"]), "")
                reason = verdict.reasons[0].value
                excluded.append(Exclusion(tenant_id=tenant_id, trajectory_id=source, reason=reason))
        return AdmissibleTasks(tuple(tasks), tuple(excluded))

    def get(self, digest: str, purpose: Purpose) -> Task:
        """One task.

        Raises:
            NotFound: when there is none of that digest.
            PurposeDenied: when its person's data may not be used for the purpose.

        """
        row = TaskRow
        statement = select(row.tenant_id, row.subject, row.body).where(row.digest == digest).limit(1)
        with self._kit.reading(purpose) as connection:
            found = connection.execute(statement).first()
            if found is None:
                raise NotFound(f"store: no task {digest}")
            rows = _rows(found.tenant_id, found.subject, found.body)
            self._kit.log_comply(connection, purpose, [found.tenant_id], f"task:{digest}")
            verdict = verdicts.strictest(rights.read_verdicts(connection, self._kit, purpose, rows).values())
        if not verdict.allowed:
            raise PurposeDenied(f"store: task {digest}: {purpose.value}: {verdict.reasons[0].value}")
        return Task.model_validate(found.body)

    def _put(self, connection: Connection, cycle_id: str, tasks: Sequence[Task]) -> None:
        gone = rights.suppressed(connection, {(task.tenant_id, task.subject) for task in tasks}, None)
        expires_at = self._kit.expires(TaskRow)
        rows: list[dict[str, object]] = []
        edges: list[LineageEdge] = []
        for task in tasks:
            if (task.tenant_id, task.subject) in gone:
                continue
            digest = task.digest()
            rows.append(
                {
                    "cycle_id": cycle_id,
                    "digest": digest,
                    "tenant_id": task.tenant_id,
                    "subject": task.subject,
                    "split": task.split.value,
                    "at": task.at,
                    "body": task.plain(),
                    "expires_at": expires_at,
                }
            )
            me = node(NodeKind.TASK, digest)
            edges.extend(edge(me, node(NodeKind.TRAJECTORY, source)) for source in task.sources)
            edges.append(edge(me, node(NodeKind.WORLD, task.world_digest)))
        dialect.insert_new(connection, TaskRow, rows)
        lineage.add(connection, edges)


def _rows(tenant_id: str, subject: str, body: dict[str, Any]) -> list[rights.Row]:
    """The runs that a task was made from, as rows that rights are about."""
    return [(tenant_id, subject, run) for run in body["sources"] or [""]]


def rows_of(connection: Connection, digest: str, person: Person) -> list[rights.Row]:
    """What rights are asked about for a task that may be gone: its runs, else its person."""
    body = connection.scalar(select(TaskRow.body).where(TaskRow.digest == digest).limit(1))
    return _rows(*person, body or {"sources": []})
