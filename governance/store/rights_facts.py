"""Facts that decide verdicts, by run, by person and for a whole tenant. Append-only, like every record of rights."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, or_, select, true

from governance.errors import RecordError
from governance.policy.facts import facts_at
from governance.records.rights import FactKind, Purpose, RightsFact
from governance.records.rights_request import RequestKind
from governance.store import dialect, suppressions
from governance.store.people import Person, by_tenant
from governance.store.tables_evidence import ErasureRow
from governance.store.tables_rights import RightsFactRow, RightsRequestRow

Row = tuple[str, str, str]
"""(tenant_id, subject, trajectory id): what a verdict is about; the id is empty where it is no single run."""
Fact = tuple[FactKind, str]
"""(kind, value)."""


_NOTHING: Final[frozenset[Fact]] = frozenset()


class Standing:
    """The facts that stand at a moment."""

    def __init__(self, facts: Iterable[RightsFact]) -> None:
        """Indexed by what they are about."""
        self._found: dict[Row, set[Fact]] = defaultdict(set)
        self.runs: set[tuple[str, str]] = set()
        """(tenant_id, trajectory id) of the runs that facts of their own are about."""
        for fact in facts:
            if fact.trajectory_id:
                self.runs.add((fact.tenant_id, fact.trajectory_id))
            self._found[fact.tenant_id, fact.subject or "", fact.trajectory_id or ""].add((fact.kind, fact.value))

    def of(self, row: Row) -> frozenset[Fact]:
        """What stands for a row: its run's facts, its person's, and its tenant's."""
        if not self._found:
            return _NOTHING
        tenant_id, subject, run = row
        keys = ((tenant_id, "", ""), (tenant_id, subject, ""), (tenant_id, "", run), (tenant_id, subject, run))
        found = [facts for key in keys[: 4 if run else 2] if (facts := self._found.get(key))]
        return frozenset().union(*found) if found else _NOTHING


def standing(
    connection: Connection,
    purpose: Purpose,
    people: Iterable[Person],
    as_of: datetime,
    without: frozenset[FactKind] = frozenset(),
    *,
    everything: bool = False,
) -> Standing:
    """What stands at ``as_of`` for the people, their runs and their tenants, but for facts of the kinds ``without``."""
    row = RightsFactRow
    asked = (known(row.recorded_at, as_of, everything), or_(row.purpose.is_(None), row.purpose == purpose.value))
    found: list[RightsFact] = []
    whole: set[str] = set()
    for tenant_id, part in by_tenant(people):
        about: list[str | None] = list(part)
        where = row.subject.in_(about) if tenant_id in whole else or_(row.subject.is_(None), row.subject.in_(about))
        whole.add(tenant_id)
        statement = select(row.__table__).where(row.tenant_id == tenant_id, where, *asked)
        found += read(connection, statement)
    return Standing(one for one in facts_at(found, as_of, everything=everything) if one.kind not in without)


def known(recorded_at: Any, as_of: datetime, everything: bool) -> ColumnElement[bool]:  # noqa: FBT001 - as the policy's
    """Whether a record counts: one that was recorded by then; any for a question about the present."""
    return true() if everything else recorded_at <= as_of


def add(connection: Connection, facts: Sequence[RightsFact]) -> None:
    """Record facts, in order; idempotent by id. Of an erased person none is recorded but a hold before the certificate.

    A hold that comes while an erasure is broken off stops it.

    Raises:
        RecordError: when an id stands for another fact, or one supersedes what is not there, later or about something
            else, or one is about an erased person.

    """
    gone = suppressions.suppressed(connection, {(one.tenant_id, one.subject) for one in facts if one.subject}, None)
    for fact in facts:
        if (fact.tenant_id, fact.subject) in gone:
            _check_erased(connection, fact)
        known = _by_id(connection, fact.id)
        if known is not None and known != fact:
            raise RecordError(f"rights: the id {fact.id} stands for another fact")
        if known is None:
            _check(connection, fact)
            dialect.insert_new(connection, RightsFactRow, [fact.plain() | _times(fact)])


def listed(connection: Connection, tenant_id: str, subject: str | None) -> tuple[RightsFact, ...]:
    """Everything recorded of a tenant, or of one person of it, in the order in which it was recorded."""
    row = RightsFactRow
    statement = select(row.__table__).where(row.tenant_id == tenant_id).order_by(row.recorded_at, row.id)
    if subject is not None:
        statement = statement.where(row.subject == subject)
    return tuple(read(connection, statement))


def _check(connection: Connection, fact: RightsFact) -> None:
    if fact.supersedes is None:
        return
    before = _by_id(connection, fact.supersedes)
    same = ("tenant_id", "kind", "subject", "trajectory_id", "purpose")
    if before is None or any(getattr(before, name) != getattr(fact, name) for name in same):
        raise RecordError(f"rights: {fact.id} supersedes {fact.supersedes}, which is not there or about something else")
    if fact.recorded_at < before.recorded_at:
        raise RecordError(f"rights: {fact.id} supersedes {fact.supersedes}, which was recorded later")


def _check_erased(connection: Connection, fact: RightsFact) -> None:
    made, asked = ErasureRow, RightsRequestRow
    certified = select(made.request_id).where(made.tenant_id == fact.tenant_id, made.subject == fact.subject)
    mine = (asked.tenant_id == fact.tenant_id, asked.subject == fact.subject, asked.closed_at.is_(None))
    again = select(asked.id).where(*mine, asked.kind == RequestKind.ERASURE.value)
    done = connection.scalar(certified.limit(1)) is not None and connection.scalar(again.limit(1)) is None
    if done or fact.kind is not FactKind.HOLD:
        state = "was erased" if done else "is being erased"
        raise RecordError(
            f"rights: the person {state}: no {fact.kind} is recorded of them, and nothing of them is used; a hold may "
            "stand only before the certificate"
        )


def _by_id(connection: Connection, fact_id: str) -> RightsFact | None:
    row = RightsFactRow
    return next(iter(read(connection, select(row.__table__).where(row.id == fact_id))), None)


def _times(fact: RightsFact) -> dict[str, datetime | None]:
    return {"valid_from": fact.valid_from, "valid_to": fact.valid_to, "recorded_at": fact.recorded_at}


def read(connection: Connection, statement: Select[*tuple[Any, ...]]) -> list[RightsFact]:
    """The facts of a statement over the whole table."""
    names = tuple(RightsFact.model_fields)
    rows = connection.execute(statement).mappings()
    return [RightsFact.model_validate({name: found[name] for name in names}) for found in rows]
