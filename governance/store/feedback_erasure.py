"""A person leaves what people said about runs.

Theirs are the statements that they made, those that name them in their words, those on a trace that goes with them,
and those that name nobody and belong to them as the one person of a session. Statements of others under the same key
stay, and the runs that lose a statement are assembled again without it. Signals made from feedback that loses a
statement go with it at once; the next assembly makes what is left of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import ColumnElement, Connection, delete, or_, select

from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.feedback import Statement, StatementRef
from governance.records.lineage import Node, NodeKind
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect
from governance.store.chunks import chunks
from governance.store.feedback_evidence import made_from, retract
from governance.store.feedback_joins import owners
from governance.store.feedback_rows import delete_statements
from governance.store.lineage import node
from governance.store.tables_feedback import FeedbackMentionRow, FeedbackRow, ResponseRow
from governance.store.tables_traces import TrajectoryRow


def find(connection: Connection, tenant_id: str, subject: str, traces: Sequence[str]) -> list[StatementRef]:
    """The statements that go with a person whose traces go; call it while the traces are still there."""
    own = _refs(connection, tenant_id, [_is_theirs(subject)])
    return sorted(own | find_joined(connection, tenant_id, subject, traces))


def find_joined(connection: Connection, tenant_id: str, subject: str, traces: Sequence[str]) -> set[StatementRef]:
    """Those of them that neither are the person's by their own word nor name the person."""
    row = FeedbackRow
    responses = select(ResponseRow.response_id).where(ResponseRow.tenant_id == tenant_id)
    about: list[ColumnElement[bool]] = []
    for part in chunks(traces, dialect.CHUNK):
        answers = row.response_id.in_(responses.where(ResponseRow.trace_id.in_(part)))
        about += [row.trace_id.in_(part), row.trace_id.is_(None) & answers]
    found = _refs(connection, tenant_id, [condition & ~_is_theirs(subject) for condition in about])
    return found | set(_of_sessions(connection, tenant_id, subject))


def _is_theirs(subject: str) -> ColumnElement[bool]:
    row, mention = FeedbackRow, FeedbackMentionRow
    same = (mention.tenant_id == row.tenant_id, mention.key == row.key, mention.version == row.version)
    return or_(row.subject == subject, select(mention.version).where(*same, mention.mention == subject).exists())


def _refs(connection: Connection, tenant_id: str, conditions: Iterable[ColumnElement[bool]]) -> set[StatementRef]:
    row = FeedbackRow
    found: set[StatementRef] = set()
    for condition in conditions:
        refs = select(row.tenant_id, row.key, row.version).where(row.tenant_id == tenant_id, condition)
        found.update((tenant, key, version) for tenant, key, version in connection.execute(refs))
    return found


def leave(connection: Connection, tenant_id: str, subject: str, traces: Sequence[str]) -> Iterator[ErasedArtifact]:
    """Delete the person's statements, what was made from them, and the response ids of the traces that go."""
    refs = find(connection, tenant_id, subject, traces)
    delete_statements(connection, refs)
    feedback = sorted({node(NodeKind.FEEDBACK, tenant, key).id for tenant, key, _ in refs})
    yield from (_deleted(NodeKind.SIGNAL, id_) for id_ in retract(connection, made_from(connection, feedback)))
    yield from (_deleted(NodeKind.FEEDBACK, id_) for id_ in feedback)
    for part in chunks(traces, dialect.CHUNK):
        connection.execute(
            delete(ResponseRow).where(ResponseRow.tenant_id == tenant_id, ResponseRow.trace_id.in_(part))
        )


def _of_sessions(connection: Connection, tenant_id: str, subject: str) -> Iterator[StatementRef]:
    """Statements on a session that name nobody and are the person's."""
    run, row = TrajectoryRow, FeedbackRow
    sessions = select(run.session_id).where(run.tenant_id == tenant_id, run.subject == subject)
    statement = select(row.body).where(
        row.tenant_id == tenant_id,
        row.subject == UNKNOWN_SUBJECT,
        row.trace_id.is_(None),
        row.response_id.is_(None),
        row.session_id.in_(sessions),
    )
    found = [Statement.model_validate(body) for body in connection.scalars(statement)]
    whose = owners(connection, found)
    yield from (one.ref for one in found if whose[one.ref] == subject)


def _deleted(kind: NodeKind, id_: str) -> ErasedArtifact:
    return ErasedArtifact(node=Node(kind=kind, id=id_), state=ArtifactState.DELETED)
