"""``store.worlds``: masked snapshots by digest, with an index of whose rows they hold.

A snapshot is named by its digest and never changed in place. When a person leaves, a snapshot without their rows takes
its place under the same source digest; the old digest leads to the new snapshot, so tasks of other people stay
runnable. So it does when the surrogate key was rotated: the snapshot that is masked under the new key takes the source
digest, and tasks keep the old one by its masked digest. A read leaves out the rows of people whose data may not be used
for its purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, select, update

from governance.errors import NotFound, PurposeDenied
from governance.records.rights import Purpose
from governance.records.world import World, WorldRef, WorldSubject
from governance.store import dialect, rights
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.tables_learning import GradeRow, TaskRow
from governance.store.tables_worlds import WorldRow, WorldSubjectRow, WorldSuccessorRow

RowName = tuple[str, str, str]
"""(table, key field, key)."""


class Worlds:
    """Worlds by masked digest and by source digest."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, ref: WorldRef, world: World, subjects: Sequence[WorldSubject]) -> WorldRef:
        """Store a masked snapshot; idempotent by source digest: the first one stored stands and is returned.

        Rows of suppressed people are left out, so the reference that comes back may name another digest.
        """
        return self._kit.db.run(lambda connection: self._put(connection, ref, world, subjects))

    def get(self, masked_digest: str, purpose: Purpose) -> World:
        """The snapshot, or the one that took its place, with the rows that the purpose may use.

        Raises:
            NotFound: when none is held.
            PurposeDenied: when the tenant's contract does not allow the purpose.

        """
        now = self._kit.clock.now()
        with self._kit.reading(purpose) as connection:
            found = connection.execute(_held(masked_digest)).first()
            if found is None:
                raise NotFound(f"store: no world {masked_digest}")
            tenant_id, digest, body = found
            self._kit.log_comply(connection, purpose, [tenant_id], f"world:{masked_digest}")
            verdict = rights.tenant_verdicts(connection, self._kit, purpose, [tenant_id], now)[tenant_id]
            if not verdict.allowed:
                raise PurposeDenied(f"store: world {masked_digest}: {purpose.value}: {verdict.reasons[0].value}")
            index = subjects_of(connection, tenant_id, digest)
            people = rights.of_people((tenant_id, entry.subject) for entry in index)
            judged = rights.read_verdicts(connection, self._kit, purpose, people, as_of=now)
        denied = [entry for entry in index if not judged[tenant_id, entry.subject, ""].allowed]
        return without(World.model_validate(body), denied)

    def by_source(self, tenant_id: str, source_digest: str) -> WorldRef | None:
        """The snapshot that stands for what the company's app reported."""
        row = WorldRow
        statement = select(row.tenant_id, row.source_digest, row.masked_digest, row.at, row.epoch).where(
            row.tenant_id == tenant_id, row.source_digest == source_digest
        )
        with self._kit.db.read() as connection:
            found = connection.execute(statement).mappings().first()
        return None if found is None else WorldRef.model_validate(dict(found))

    def refs(self, tenant_id: str) -> tuple[WorldRef, ...]:
        """A tenant's snapshots, by (at, masked digest)."""
        row = WorldRow
        statement = (
            select(row.tenant_id, row.source_digest, row.masked_digest, row.at, row.epoch)
            .where(row.tenant_id == tenant_id)
            .order_by(row.at, row.masked_digest)
        )
        with self._kit.db.read() as connection:
            return tuple(WorldRef.model_validate(dict(found)) for found in connection.execute(statement).mappings())

    def withdraw(self, tenant_id: str, digests: Iterable[str], tasks: Iterable[str]) -> None:
        """Worlds that may not be used go, with the tasks on them and the grades of those; lineage keeps their names."""
        world, task, grade = WorldRow, TaskRow, GradeRow
        with self._kit.db.write() as connection:
            for part in chunks(sorted(digests), dialect.CHUNK):
                gone = (world.tenant_id == tenant_id, world.masked_digest.in_(part))
                connection.execute(delete(world).where(*gone))
            for part in chunks(sorted(tasks), dialect.CHUNK):
                connection.execute(delete(task).where(task.tenant_id == tenant_id, task.digest.in_(part)))
                connection.execute(delete(grade).where(grade.tenant_id == tenant_id, grade.task_digest.in_(part)))

    def _put(self, connection: Connection, ref: WorldRef, world: World, subjects: Sequence[WorldSubject]) -> WorldRef:
        dialect.lock_names(connection, [f"world:{ref.tenant_id}/{ref.source_digest}"])
        standing = self.by_source(ref.tenant_id, ref.source_digest)
        if standing is not None and standing.epoch in {ref.epoch, ""}:
            return standing
        if standing is not None:  # of a key that was rotated: its tasks keep it, and nothing new finds it
            row = WorldRow
            mine = (row.tenant_id == ref.tenant_id, row.source_digest == ref.source_digest)
            former = f"epoch:{standing.epoch}:{ref.source_digest}"
            connection.execute(update(row).where(*mine).values(source_digest=former))
        gone = rights.suppressed(connection, {(ref.tenant_id, entry.subject) for entry in subjects}, None)
        out = [entry for entry in subjects if (ref.tenant_id, entry.subject) in gone]
        stored, index = (without(world, out), remaining(subjects, out)) if out else (world, subjects)
        masked = stored.digest() if out else ref.masked_digest
        ref = ref.model_copy(update={"masked_digest": masked})
        insert(connection, self._kit, ref, stored, index)
        return ref


def insert(connection: Connection, kit: Kit, ref: WorldRef, world: World, subjects: Iterable[WorldSubject]) -> None:
    """Store a snapshot and its index."""
    row = ref.model_dump() | {"body": world.plain(), "expires_at": kit.expires(WorldRow)}
    dialect.insert_new(connection, WorldRow, [row])
    entries = sorted({(s.subject, s.table, s.key_field, s.key) for s in subjects})
    rows = [
        {
            "tenant_id": ref.tenant_id,
            "masked_digest": ref.masked_digest,
            "subject": subject,
            "table": table,
            "key_field": key_field,
            "row_key": key,
        }
        for subject, table, key_field, key in entries
    ]
    dialect.insert_new(connection, WorldSubjectRow, rows)


def subjects_of(connection: Connection, tenant_id: str, masked_digest: str) -> list[WorldSubject]:
    """Whose rows a snapshot holds."""
    row = WorldSubjectRow
    statement = select(row.subject, row.table, row.key_field, row.row_key).where(
        row.tenant_id == tenant_id, row.masked_digest == masked_digest
    )
    return [
        WorldSubject(subject=subject, table=table, key_field=key_field, key=key)
        for subject, table, key_field, key in connection.execute(statement)
    ]


def without(world: World, entries: Iterable[WorldSubject]) -> World:
    """The snapshot without those rows."""
    gone = {(entry.table, entry.key_field, entry.key) for entry in entries}
    if not gone:
        return world
    fields = {table: {field for name, field, _ in gone if name == table} for table, _, _ in gone}
    tables = {
        name: tuple(
            row for row in rows if not any((name, field, str(row.get(field))) in gone for field in fields.get(name, ()))
        )
        for name, rows in world.tables.items()
    }
    return world.model_copy(update={"tables": tables})


def remaining(subjects: Iterable[WorldSubject], out: Iterable[WorldSubject]) -> list[WorldSubject]:
    """The index entries of rows that stay: a row that left with one person is nobody else's any more."""
    rows = {(entry.table, entry.key_field, entry.key) for entry in out}
    return [entry for entry in subjects if (entry.table, entry.key_field, entry.key) not in rows]


def remove_subject(connection: Connection, kit: Kit, tenant_id: str, subject: str) -> list[tuple[str, str]]:
    """Put a snapshot without the person's rows in the place of each that has some: (old digest, new digest)."""
    row = WorldSubjectRow
    statement = select(row.masked_digest).where(row.tenant_id == tenant_id, row.subject == subject).distinct()
    replaced = []
    for old in sorted(connection.scalars(statement)):
        dialect.lock_names(connection, [f"world-row:{tenant_id}/{old}"])
        replaced.append((old, _replace(connection, kit, tenant_id, old, subject)))
    return replaced


def _replace(connection: Connection, kit: Kit, tenant_id: str, old: str, subject: str) -> str:
    mine = (WorldRow.tenant_id == tenant_id, WorldRow.masked_digest == old)
    held = connection.execute(
        select(WorldRow.source_digest, WorldRow.at, WorldRow.body, WorldRow.epoch).where(*mine)
    ).one()
    index = subjects_of(connection, tenant_id, old)
    out = [entry for entry in index if entry.subject == subject]
    world = without(World.model_validate(held.body), out)
    new = world.digest()
    if new == old:  # the index named rows that the snapshot does not have
        stale = (WorldSubjectRow.tenant_id == tenant_id, WorldSubjectRow.masked_digest == old)
        connection.execute(delete(WorldSubjectRow).where(*stale, WorldSubjectRow.subject == subject))
        return new
    source, at = held.source_digest, held.at
    twin = connection.scalar(
        select(WorldRow.source_digest).where(WorldRow.tenant_id == tenant_id, WorldRow.masked_digest == new)
    )
    if twin is None:
        connection.execute(update(WorldRow).where(*mine).values(source_digest=f"superseded:{old}"))
        ref = WorldRef(tenant_id=tenant_id, source_digest=source, masked_digest=new, at=at, epoch=held.epoch)
        insert(connection, kit, ref, world, remaining(index, out))
    successor = WorldSuccessorRow
    led_here = (successor.tenant_id == tenant_id, successor.successor == old)
    connection.execute(update(successor).where(*led_here).values(successor=new))
    row = {"tenant_id": tenant_id, "masked_digest": old, "successor": new}
    dialect.upsert(connection, successor, [row], ["successor"])
    connection.execute(delete(WorldRow).where(*mine))
    return new


def _held(masked_digest: str) -> Select[Any]:
    """The world of that digest, or of the one that took its place."""
    row, successor = WorldRow, WorldSuccessorRow
    heir = select(successor.successor).where(
        successor.tenant_id == row.tenant_id, successor.masked_digest == masked_digest
    )
    return (
        select(row.tenant_id, row.masked_digest, row.body)
        .where((row.masked_digest == masked_digest) | (row.masked_digest == heir.scalar_subquery()))
        .order_by(row.tenant_id)
        .limit(1)
    )
