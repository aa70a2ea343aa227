"""Lineage in one recursive query each way, as SQL.

Both go over the edges; where a person or a source stands in a table of its own, its rows there are where the query
starts, so no edge has to repeat what a table says. What was measured (grades, gate reports) ends a path: nothing is
made of a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    String,
    Text,
    and_,
    column,
    literal,
    select,
    type_coerce,
    union,
    values,
)
from sqlalchemy.orm import aliased

from governance.records.descent import Source, SourceKind
from governance.records.lineage import NodeKind
from governance.records.rights import Contract
from governance.store.base import dump_json
from governance.store.tables_datasets import DatasetLineRow
from governance.store.tables_evidence import LineageRow
from governance.store.tables_feedback import FeedbackRow
from governance.store.tables_learning import (
    DatasetRowTable,
    GateReportRow,
    GradeRow,
    PatternSourceRow,
    TaskRow,
)
from governance.store.tables_rights import ContractRow
from governance.store.tables_traces import MentionRow, SignalRow, SpansRow, TrajectoryRow
from governance.store.tables_worlds import WorldRow, WorldSubjectRow, WorldSuccessorRow


def ancestors_of_release(digest: str) -> Select[Any]:
    """(kind, id, manifest line, tenant, subject) of everything that a release was made from."""
    edge, line, run = LineageRow, DatasetLineRow, TrajectoryRow
    start = (edge.derived_kind == NodeKind.RELEASE.value, edge.derived_id == digest)
    reached = select(edge.source_kind.label("kind"), edge.source_id.label("id")).where(*start)
    cte = reached.cte("reached", recursive=True)
    further = and_(edge.derived_kind == cte.c.kind, edge.derived_id == cte.c.id)
    cte = cte.union(select(edge.source_kind, edge.source_id).join(cte, further))
    lines = and_(cte.c.kind == NodeKind.DATASET.value, line.root == cte.c.id)
    runs = and_(cte.c.kind == NodeKind.TRAJECTORY.value, run.id == cte.c.id)
    return (
        select(cte.c.kind, cte.c.id, line.body, run.tenant_id, run.subject)
        .select_from(cte)
        .outerjoin(line, lines)
        .outerjoin(run, runs)
        .order_by(cte.c.kind, cte.c.id, line.position)
    )


def descendants(starts: Sequence[Select[Any]]) -> Select[Any]:
    """(kind, id) of everything made from what ``starts`` give, themselves included."""
    made = _made(starts)
    return select(made.c.kind, made.c.id).order_by(made.c.kind, made.c.id)


def descendants_with_sources(starts: Sequence[Select[Any]]) -> Select[Any]:
    """(kind, id, kind and id of a source, whether that is among them), a line for each source of each of them."""
    made, edge = _made(starts), LineageRow
    source = made.alias("source")
    derived = and_(edge.derived_kind == made.c.kind, edge.derived_id == made.c.id)
    known = and_(source.c.kind == edge.source_kind, source.c.id == edge.source_id)
    return (
        select(made.c.kind, made.c.id, edge.source_kind, edge.source_id, source.c.id.is_not(None))
        .select_from(made)
        .outerjoin(edge, derived)
        .outerjoin(source, known)
    )


def _made(starts: Sequence[Select[Any]]) -> CTE:
    """What was reached from the starts, and what was measured of it."""
    edge = LineageRow
    first = union(*starts).cte("starts")
    reached = select(first.c.kind, first.c.id).cte("reached", recursive=True)
    further = and_(edge.source_kind == reached.c.kind, edge.source_id == reached.c.id)
    reached = reached.union(select(edge.derived_kind, edge.derived_id).join(reached, further))
    scores = (*_grades(reached), _gate_reports(reached))
    return union(select(reached.c.kind, reached.c.id), *scores).cte("made")


def _grades(reached: CTE) -> Iterable[Select[Any]]:
    row = GradeRow
    made = _node(NodeKind.GRADE, row.release_digest + "/" + row.task_digest)
    for kind, measured in ((NodeKind.TASK, row.task_digest), (NodeKind.RELEASE, row.release_digest)):
        yield made.join(reached, and_(reached.c.kind == kind.value, measured == reached.c.id))


def _gate_reports(reached: CTE) -> Select[Any]:
    """Reports of cycles in which a task was graded that was reached."""
    row, grade = GateReportRow, GradeRow
    task = and_(reached.c.kind == NodeKind.TASK.value, grade.task_digest == reached.c.id)
    return _node(NodeKind.GATE_REPORT, row.digest).join(grade, grade.cycle_id == row.cycle_id).join(reached, task)


def starts_of_person(tenant_id: str, subject: str) -> list[Select[Any]]:
    """Where a person's data stands: what is theirs, and what names them."""
    me = literal(f"{tenant_id}/{subject}")
    return [
        select(literal(NodeKind.SUBJECT.value).label("kind"), me.label("id")),
        *(_rows(kind, table, id_, tenant_id, table.subject == subject) for kind, table, id_ in _OWNED),
        _rows(NodeKind.TRAJECTORY, MentionRow, _trace(MentionRow), tenant_id, MentionRow.mention == subject),
    ]


def starts_of_source(source: Source, contracts: Iterable[Contract] = ()) -> list[Select[Any]]:
    """Where a source's data stands; ``contracts`` are those of its ids, where it is a contract."""
    tenant_id, ids = source.tenant_id, sorted(source.ids)
    run, row, world, successor = TrajectoryRow, DatasetRowTable, WorldRow, WorldSuccessorRow
    match source.kind:
        case SourceKind.RUN:
            return [_given(NodeKind.TRAJECTORY, ids)]
        case SourceKind.SUBJECT:
            return [one for id_ in ids for one in starts_of_person(tenant_id, id_)]
        case SourceKind.DATASET:
            held = (DatasetRowTable, DatasetLineRow)
            return [_given(NodeKind.DATASET, ids)] + [
                _rows(NodeKind.TRAJECTORY, one, one.trajectory_id, tenant_id, one.root.in_(ids)) for one in held
            ]
        case SourceKind.IMPORT:
            return [_given(NodeKind.IMPORT, [f"{tenant_id}/{id_}" for id_ in ids])]
        case SourceKind.WORLD:
            later = _rows(NodeKind.WORLD, successor, successor.successor, tenant_id, successor.masked_digest.in_(ids))
            return [_given(NodeKind.WORLD, ids), later]
        case SourceKind.CONTRACT:
            return [one for contract in contracts for one in _under(contract)]
        case SourceKind.TENANT:
            every = literal(1) == 1
            tables = [(kind, table, id_) for kind, table, id_ in _OWNED if table is not WorldSubjectRow]
            return [_rows(kind, table, id_, tenant_id, every) for kind, table, id_ in tables] + [
                _rows(NodeKind.WORLD, world, world.masked_digest, tenant_id, every),
                _rows(NodeKind.DATASET_ROW, row, _row_id(row), tenant_id, every),
                _rows(NodeKind.TRAJECTORY, run, run.id, tenant_id, every),
            ]


def owned(source: Source) -> Select[Any] | None:
    """Which of a source's ids are its tenant's: what its tables hold, or what was made with its runs.

    None where the ids say so themselves, or are only looked for in the tenant's own tables.
    """
    mine, ids = source.tenant_id, sorted(source.ids)
    match source.kind:
        case SourceKind.DATASET:
            held = [(one.root, one.tenant_id) for one in (DatasetRowTable, DatasetLineRow)]
            row_of = (_FIRST.derived_kind, _FIRST.derived_id, _FIRST.source_kind, _FIRST.source_id)
            made = _with_runs(NodeKind.DATASET, row_of, NodeKind.DATASET_ROW, mine, ids)
        case SourceKind.WORLD:
            held = [(one.masked_digest, one.tenant_id) for one in (WorldRow, WorldSuccessorRow)]
            task_on = (_FIRST.source_kind, _FIRST.source_id, _FIRST.derived_kind, _FIRST.derived_id)
            made = _with_runs(NodeKind.WORLD, task_on, NodeKind.TASK, mine, ids)
        case SourceKind.CONTRACT:
            return select(ContractRow.id.label("id")).where(ContractRow.tenant_id == mine, ContractRow.id.in_(ids))
        case _:
            return None
    tables = [select(id_.label("id")).where(tenant == mine, id_.in_(ids)) for id_, tenant in held]
    return union(*tables, made).subquery().select()


def _with_runs(kind: NodeKind, ends: tuple[Any, ...], between: NodeKind, tenant_id: str, ids: Sequence[str]) -> Any:
    """Ids of a kind that an edge joins to something that was made from a run of the tenant."""
    of_kind, of_id, other_kind, other_id = ends
    run = and_(_SECOND.derived_kind == other_kind, _SECOND.derived_id == other_id)
    theirs = and_(
        _SECOND.source_kind == NodeKind.TRAJECTORY.value,
        _SECOND.source_id.startswith(f"{tenant_id}/", autoescape=True),
    )
    wanted = (of_kind == kind.value, of_id.in_(ids), other_kind == between.value)
    return select(of_id.label("id")).join(_SECOND, run).where(*wanted, theirs)


def _under(contract: Contract) -> list[Select[Any]]:
    """Runs of the contract's time, and rows whose right rests on it."""
    run, line = TrajectoryRow, DatasetLineRow
    time = run.started_at >= contract.valid_from
    if contract.valid_to is not None:
        time = and_(time, run.started_at < contract.valid_to)
    body = type_coerce(line.body, Text)
    named = body.contains(f'"contract":{dump_json(contract.id)}', autoescape=True)
    return [
        _rows(NodeKind.TRAJECTORY, run, run.id, contract.tenant_id, time),
        _rows(NodeKind.TRAJECTORY, line, line.trajectory_id, contract.tenant_id, named),
    ]


def _given(kind: NodeKind, ids: Sequence[str]) -> Select[Any]:
    given = values(column("kind", String), column("id", String), name="given").data([(kind.value, id_) for id_ in ids])
    rows = given.cte("given")
    return select(rows.c.kind.label("kind"), rows.c.id.label("id"))


def _rows(kind: NodeKind, table: Any, id_: Any, tenant_id: str, where: ColumnElement[bool]) -> Select[Any]:
    return _node(kind, id_).where(table.tenant_id == tenant_id, where)


def _node(kind: NodeKind, id_: Any) -> Select[Any]:
    return select(literal(kind.value).label("kind"), id_.label("id"))


def _trace(table: Any) -> Any:
    return table.tenant_id + "/" + table.trace_id


def _row_id(table: Any) -> Any:
    return table.root + "/" + table.digest


_FIRST, _SECOND = aliased(LineageRow), aliased(LineageRow)
_OWNED: Final[tuple[tuple[NodeKind, Any, Any], ...]] = (
    (NodeKind.TRAJECTORY, TrajectoryRow, TrajectoryRow.id),
    (NodeKind.TRAJECTORY, SpansRow, _trace(SpansRow)),
    (NodeKind.SIGNAL, SignalRow, SignalRow.id),
    (NodeKind.FEEDBACK, FeedbackRow, FeedbackRow.tenant_id + "/" + FeedbackRow.key),
    (NodeKind.PATTERN, PatternSourceRow, PatternSourceRow.cycle_id + "/" + PatternSourceRow.key),
    (NodeKind.TASK, TaskRow, TaskRow.digest),
    (NodeKind.DATASET_ROW, DatasetRowTable, _row_id(DatasetRowTable)),
    (NodeKind.WORLD, WorldSubjectRow, WorldSubjectRow.masked_digest),
)
"""Tables whose rows name their person, and what each row is in the lineage."""
