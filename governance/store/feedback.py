"""``store.feedback``: what people said about runs, by (tenant, id), with its history.

1. Rows are statements and are only added. What a feedback is, ``governance.records.feedback`` makes of the set of
   them, so any order and repetition of deliveries ends in the same. Of a statement without a time of its own the
   earliest receipt counts.
2. A change makes every trace that the feedback is or was about one to be assembled again, in the same transaction. A
   trace that is not there yet may be named: when it comes, it is assembled with what waits for it. Both sides hold the
   trace's lock. So a crash between storing and joining costs nothing, and nothing has to be joined by hand.
3. Words of a statement that names nobody wait sealed for the person of what it is about (``waiting``, ``settle``), and
   expire where that person is not found.
4. Reads take a purpose, and what its person's rights do not allow is counted and not returned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, select, update

from governance.errors import NotFound, PurposeDenied
from governance.records.feedback import Feedback, Statement, StatementRef, histories
from governance.records.ledger import Fate
from governance.records.rights import Purpose, Reason, Verdict
from governance.store import dialect, rights
from governance.store.blocks import TraceKey
from governance.store.feedback_joins import owners, runs_of
from governance.store.feedback_rows import Key, about, delete_statements, fold, is_, load, locks, row_of, touch
from governance.store.kit import Kit
from governance.store.tables_feedback import FeedbackMentionRow, FeedbackRow, FeedbackSealedRow, ResponseRow
from governance.store.verdicts import strictest

MOST_VERSIONS: Final = 1000
"""Of one feedback: what comes beyond is refused, so no sender makes each delivery cost more than the one before."""
TOO_MANY: Final = "too_many_versions"


@dataclass(frozen=True)
class Delivery:
    """A statement on its way into the store."""

    statement: Statement
    mentions: tuple[str, ...] = ()
    sealed: bytes | None = None
    """Words that wait for their person."""


@dataclass(frozen=True)
class Waiting:
    """A statement whose words wait, and whose it is by now."""

    statement: Statement
    sealed: bytes
    subject: str


@dataclass(frozen=True)
class Listing:
    """What a purpose may see, and how many it may not, by reason."""

    rows: tuple[Feedback, ...]
    excluded: dict[str, int]


class FeedbackStore:
    """Feedback by tenant and key."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, deliveries: Sequence[Delivery], *, reassemble: bool = True) -> Sequence[tuple[Fate, str]]:
        """Store each statement and say what became of it, in order: a fate, and the reason of a refusal.

        ``updated`` is a change of what holds or held; a repetition is a ``duplicate``. ``reassemble`` is for feedback
        that did not come from the trace itself.
        """
        return self._kit.db.run(lambda connection: self._put(connection, deliveries, reassemble=reassemble))

    def name_responses(self, traces: Mapping[TraceKey, Collection[str]]) -> None:
        """Make the response ids of traces known. Call it before ``of_traces``, in one transaction.

        Both sides take the locks of the ids, so feedback that is stored meanwhile either sees the trace or is seen.
        """
        rows = [
            {"tenant_id": tenant_id, "trace_id": trace_id, "response_id": response_id}
            for (tenant_id, trace_id), responses in sorted(traces.items())
            for response_id in sorted(responses)
        ]

        def work(connection: Connection) -> None:
            dialect.lock_names(connection, (f"response:{row['tenant_id']}/{row['response_id']}" for row in rows))
            dialect.insert_new(connection, ResponseRow, rows)

        if rows:
            self._kit.db.run(work)

    def of_traces(
        self, traces: Mapping[TraceKey, Collection[str]], purpose: Purpose
    ) -> dict[TraceKey, tuple[Feedback, ...]]:
        """The feedback whose current statement is about each trace; with each come its response ids."""
        by_response: dict[Key, set[TraceKey]] = defaultdict(set)
        for (tenant_id, trace_id), responses in traces.items():
            for response_id in responses:
                by_response[tenant_id, response_id].add((tenant_id, trace_id))
        with self._kit.db.read() as connection:
            keys = about(connection, traces, by_response)
        found: dict[TraceKey, list[Feedback]] = {key: [] for key in traces}
        rows = self._read(purpose, sorted({tenant for tenant, _ in keys}), sorted(keys)).rows if keys else ()
        for one in rows:
            tenant_id, named = one.current.tenant_id, one.current.target
            theirs = by_response.get((tenant_id, named.response_id or ""), set())
            for trace in theirs if named.trace_id is None else {(tenant_id, named.trace_id)}:
                if trace in found:
                    found[trace].append(one)
        return {key: tuple(held) for key, held in found.items()}

    def get(self, tenant_id: str, key: str, purpose: Purpose) -> Feedback:
        """One feedback.

        Raises:
            NotFound: when there is none under that key.
            PurposeDenied: when its person's data may not be used for the purpose.

        """
        listing = self._read(purpose, [tenant_id], [(tenant_id, key)])
        if listing.rows:
            return listing.rows[0]
        if listing.excluded:
            raise PurposeDenied(f"store: feedback {key[:16]}: {purpose.value}: {next(iter(listing.excluded))}")
        raise NotFound(f"store: tenant {tenant_id} has no feedback {key[:16]}")

    def list(self, purpose: Purpose, tenants: Sequence[str], start: datetime, end: datetime) -> Listing:
        """Feedback that was last said in [start, end), by (time, tenant, key)."""
        row = FeedbackRow
        within = (row.tenant_id.in_(tuple(tenants)), row.at >= start, row.at < end)
        with self._kit.db.read() as connection:
            found = connection.execute(select(row.tenant_id, row.key).where(*within).distinct())
            keys = [(tenant, key) for tenant, key in found]
        return self._read(purpose, tenants, keys, (start, end))

    def runs(self, feedback: Iterable[Feedback]) -> dict[Key, tuple[str, ...]]:
        """What each feedback is joined to: ids of trajectories; none where it is not attached yet."""
        with self._kit.db.read() as connection:
            found = runs_of(connection, [one.current for one in feedback])
        return {ref[:2]: ids for ref, ids in found.items()}

    def waiting(self) -> Sequence[Waiting]:
        """The statements whose words wait, with the person whose they are by now, in order."""
        row, held = FeedbackRow, FeedbackSealedRow
        same = (row.tenant_id == held.tenant_id) & (row.key == held.key) & (row.version == held.version)
        live = held.expires_at > self._kit.clock.now()
        statement = select(row.body, held.sealed).join(held, same).where(live)
        with self._kit.db.read() as connection:
            found = [
                (Statement.model_validate(body), sealed)
                for body, sealed in connection.execute(statement.order_by(row.tenant_id, row.key, row.version))
            ]
            people = owners(connection, [one for one, _ in found])
        return [Waiting(one, sealed, people[one.ref]) for one, sealed in found]

    def settle(self, statement: Statement, mentions: Iterable[str]) -> None:
        """The words' person is known: keep what the statement now holds, and assemble what it is about again."""
        self._kit.db.run(lambda connection: self._settle(connection, statement, mentions))

    def refuse(self, statement: Statement) -> None:
        """The words' person may not be stored: the statement goes."""
        self._kit.db.run(lambda connection: delete_statements(connection, [statement.ref]))

    # Writing

    def _put(
        self, connection: Connection, deliveries: Sequence[Delivery], *, reassemble: bool
    ) -> Sequence[tuple[Fate, str]]:
        said = [one.statement for one in deliveries]
        dialect.lock_names(connection, {name for one in said for name in locks(one)})
        gone = rights.suppressed(connection, {(one.tenant_id, one.subject) for one in said}, None)
        known = load(connection, {(one.tenant_id, one.key) for one in said})
        fates: list[tuple[Fate, str]] = []
        changed: dict[StatementRef, Delivery] = {}
        moved: list[Statement] = []
        for item in deliveries:
            one = item.statement
            if (one.tenant_id, one.subject) in gone:
                fates.append((Fate.REJECTED, Reason.SUPPRESSED.value))
                continue
            versions = known[one.tenant_id, one.key]
            if len(versions) >= MOST_VERSIONS and one.version not in versions:
                fates.append((Fate.REJECTED, TOO_MANY))
                continue
            fate, kept, affected = fold(versions, one)
            fates.append((fate, ""))
            moved += affected
            if kept is not None:
                versions[kept.version] = kept
                first = changed.get(kept.ref, item if kept is one else Delivery(kept))
                changed[kept.ref] = Delivery(kept, first.mentions, first.sealed)
        self._write(connection, list(changed.values()))
        if reassemble:
            touch(connection, moved)
        return fates

    def _write(self, connection: Connection, deliveries: Sequence[Delivery]) -> None:
        rows = [row_of(one.statement) | {"expires_at": self._kit.expires(FeedbackRow)} for one in deliveries]
        dialect.upsert(connection, FeedbackRow, rows, ["at", "body"])
        names = ("tenant_id", "key", "version")
        mentions = [
            dict(zip(names, one.statement.ref, strict=True)) | {"mention": mention}
            for one in deliveries
            for mention in sorted(set(one.mentions))
        ]
        dialect.insert_new(connection, FeedbackMentionRow, mentions)
        until = self._kit.expires(FeedbackSealedRow)
        sealed = [
            dict(zip(names, one.statement.ref, strict=True)) | {"sealed": one.sealed, "expires_at": until}
            for one in deliveries
            if one.sealed is not None
        ]
        dialect.insert_new(connection, FeedbackSealedRow, sealed)

    def _settle(self, connection: Connection, statement: Statement, mentions: Iterable[str]) -> None:
        dialect.lock_names(connection, locks(statement))
        key = statement.ref
        known = load(connection, {key[:2]})[key[:2]].get(statement.version)
        waited = connection.execute(delete(FeedbackSealedRow).where(is_(FeedbackSealedRow, key))).rowcount
        if known is None or not waited:
            return  # it was settled, or destroyed, meanwhile
        if rights.suppressed(connection, {(statement.tenant_id, statement.subject)}, None):
            delete_statements(connection, [key])
            return
        words = {name: getattr(statement, name) for name in ("subject", "label", "comment", "content")}
        kept = known.model_copy(update=words)
        values = {"subject": kept.subject, "body": kept.plain()}
        connection.execute(update(FeedbackRow).where(is_(FeedbackRow, key)).values(**values))
        named = [dict(zip(("tenant_id", "key", "version"), key, strict=True)) | {"mention": m} for m in set(mentions)]
        dialect.insert_new(connection, FeedbackMentionRow, named)
        touch(connection, [kept])

    # Reading

    def _read(
        self,
        purpose: Purpose,
        tenants: Sequence[str],
        keys: Sequence[Key],
        last_said: tuple[datetime, datetime] | None = None,
    ) -> Listing:
        """The feedback under the keys, each statement judged by its own person."""
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, tenants, "feedback")
            found = [one for versions in load(connection, set(keys)).values() for one in versions.values()]
            verdicts = self._verdicts(connection, purpose, tenants, found)
        rows, excluded = [], Counter[str]()
        for whole in histories(found):
            if last_said is not None and not last_said[0] <= whole.current.at < last_said[1]:
                continue
            if not verdicts[whole.current.ref].allowed:
                excluded[verdicts[whole.current.ref].reasons[0].value] += 1
                continue
            rows.append(Feedback(current=whole.current, earlier=_allowed(whole.earlier, verdicts)))
        return Listing(tuple(rows), dict(sorted(excluded.items())))

    def _verdicts(
        self, connection: Connection, purpose: Purpose, tenants: Sequence[str], found: Sequence[Statement]
    ) -> dict[StatementRef, Verdict]:
        people = owners(connection, found)
        sharing = purpose is Purpose.TRAIN_WEIGHTS and len(set(tenants)) > 1
        runs = runs_of(connection, found)
        asked = {ref: [(ref[0], subject, run) for run in runs.get(ref) or ("",)] for ref, subject in people.items()}
        rows = [row for of_ref in asked.values() for row in of_ref]
        judged = rights.read_verdicts(connection, self._kit, purpose, rows, sharing=sharing)
        return {ref: strictest(judged[row] for row in of_ref) for ref, of_ref in asked.items()}


def _allowed(statements: Iterable[Statement], verdicts: Mapping[StatementRef, Verdict]) -> tuple[Statement, ...]:
    return tuple(one for one in statements if verdicts[one.ref].allowed)
