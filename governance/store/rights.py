"""``store.rights``: contracts, consents, suppressions, and the verdicts that follow from them.

A verdict is the only way from a purpose to rows (``governance.store.verdicts``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import RowMapping, func, select

from governance.errors import PurposeDenied
from governance.records.base import digest_json
from governance.records.rights import (
    ConsentEvent,
    Contract,
    FactKind,
    Purpose,
    Replay,
    RightsFact,
    Suppression,
    Verdict,
)
from governance.store import consent_rows, dialect, findings, holds, replays, rights_facts
from governance.store.kit import Kit
from governance.store.people import Person
from governance.store.rights_facts import Row
from governance.store.suppressions import suppressed
from governance.store.tables_rights import ConsentEventRow, ContractRow, RightsFactRow, SuppressionRow
from governance.store.verdicts import (
    contracts,
    of_people,
    read_verdicts,
    tenant_verdicts,
    verdicts,
)  # fmt: skip


class Rights:
    """Records of rights are append-only: adding one twice adds it once, and none is ever changed."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def add_contract(self, contract: Contract) -> None:
        """Record a contract; idempotent by id."""
        row = {
            "id": contract.id,
            "tenant_id": contract.tenant_id,
            "recorded_at": contract.recorded_at,
            "body": contract.plain(),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, ContractRow, [row]))

    def add_consent(self, event: ConsentEvent) -> None:
        """Record what a person said; idempotent by id. What a suppressed person says later is not recorded."""
        self.add_consents([event])

    def add_consents(self, events: Sequence[ConsentEvent], *, dated_elsewhere: bool = False) -> None:
        """Record many consent events at once.

        ``dated_elsewhere``: another clock gave the times at which it was said (``governance.store.consent_rows``).
        """
        self._kit.db.run(lambda connection: consent_rows.add(connection, self._kit, events, dated_elsewhere))

    def consents_to_join(
        self, tenant_id: str, subjects: Collection[str], ids: Collection[str]
    ) -> tuple[ConsentEvent, ...]:
        """What is recorded of the people or under the ids; nobody else joins any before the running transaction ends.

        For whoever records what a platform says, inside the transaction that does; no use of anything follows from it.
        """
        row = ConsentEventRow
        with self._kit.db.write() as connection:
            dialect.lock_names(connection, [f"consents:{tenant_id}"])
            mine = (row.subject.in_(subjects), row.id.in_(ids))
            found = [
                select(row.__table__).where(row.tenant_id == tenant_id, mine[0]),
                select(row.__table__).where(mine[1]),
            ]
            rows = {one["id"]: one for statement in found for one in connection.execute(statement).mappings()}
        return tuple(_event(one) for one in rows.values())

    def suppress(self, suppression: Suppression) -> None:
        """Keep a person out from now on; the earliest suppression stands."""
        row = suppression.model_dump()
        self._kit.db.run(lambda connection: dialect.insert_new(connection, SuppressionRow, [row]))

    def is_suppressed(self, tenant_id: str, subject: str) -> bool:
        """Whether the person was erased."""
        with self._kit.db.read() as connection:
            return bool(suppressed(connection, {(tenant_id, subject)}, None))

    def suppressed(self, tenant_id: str, subjects: Iterable[str]) -> set[str]:
        """Those of the people who were erased."""
        with self._kit.db.read() as connection:
            found = suppressed(connection, {(tenant_id, subject) for subject in subjects}, None)
        return {subject for _, subject in found}

    def all_suppressed(self) -> set[Person]:
        """Everybody who was erased."""
        with self._kit.db.read() as connection:
            found = connection.execute(select(SuppressionRow.tenant_id, SuppressionRow.subject))
            return {(tenant_id, subject) for tenant_id, subject in found}

    def contract_at(self, tenant_id: str, as_of: datetime) -> Contract | None:
        """The tenant's contract that holds at ``as_of`` as far as was known then."""
        with self._kit.db.read() as connection:
            everything = self._kit.is_present(as_of)
            return contracts(connection, [tenant_id], as_of, everything=everything)[tenant_id]

    def tenants(self) -> list[str]:
        """Every tenant that ever had a contract."""
        with self._kit.db.read() as connection:
            return list(connection.scalars(select(ContractRow.tenant_id).distinct().order_by(ContractRow.tenant_id)))

    def verdict(
        self, purpose: Purpose, tenant_id: str, subject: str, as_of: datetime, *, sharing: bool = False
    ) -> Verdict:
        """The verdict on one person's records."""
        return self.verdicts(purpose, [(tenant_id, subject)], as_of, sharing=sharing)[tenant_id, subject]

    def verdicts(
        self,
        purpose: Purpose,
        subjects: Iterable[Person],
        as_of: datetime,
        *,
        sharing: bool = False,
        without: frozenset[FactKind] = frozenset(),
    ) -> dict[Person, Verdict]:
        """The verdict on each person's records, set-wise.

        ``sharing``: for an adapter that other tenants use; ``without``: as if no fact of those kinds stood.
        """
        rows = of_people(subjects)
        with self._kit.db.read() as connection:
            found = verdicts(connection, self._kit, purpose, rows, as_of, sharing=sharing, without=without)
        return {(tenant_id, subject): verdict for (tenant_id, subject, _), verdict in found.items()}

    def row_verdicts(
        self, purpose: Purpose, rows: Iterable[Row], as_of: datetime, *, sharing: bool = False
    ) -> dict[Row, Verdict]:
        """The verdict on each row, which may be of one run."""
        with self._kit.db.read() as connection:
            return verdicts(connection, self._kit, purpose, rows, as_of, sharing=sharing)

    def replay(self, purpose: Purpose, row: Row, as_of: datetime, policy_version: str | None = None) -> Replay:
        """A past verdict on a row, judged again under the policy of then; see ``governance.store.replays``.

        Raises:
            NotFound: when no policy of ``policy_version`` was ever in force here.

        """
        with self._kit.db.read() as connection:
            return replays.replay(connection, self._kit, purpose, row, as_of, version=policy_version)

    def add_facts(self, facts: Sequence[RightsFact]) -> None:
        """Record facts that decide verdicts; idempotent by id. None is ever changed: a newer one supersedes it.

        Raises:
            RecordError: when one supersedes what is not there, is about something else, or about an erased person.

        """
        self._kit.db.run(lambda connection: rights_facts.add(connection, facts))

    def facts(self, tenant_id: str, subject: str | None = None) -> tuple[RightsFact, ...]:
        """Everything recorded of a tenant, or of one person of it, in the order in which it was recorded."""
        with self._kit.db.read() as connection:
            return rights_facts.listed(connection, tenant_id, subject)

    def holds_over_erasure(self, tenant_id: str, subject: str, now: datetime) -> tuple[RightsFact, ...]:
        """The legal holds at ``now`` that cover the person, or anything of anybody that would go with them."""
        with self._kit.db.read() as connection:
            found = findings.find(connection, tenant_id, subject)
            runs = [f"{tenant_id}/{trace_id}" for trace_id in found.traces]
            people = findings.people_of(connection, tenant_id, found.traces)
            return tuple(holds.over(connection, tenant_id, people | {subject}, runs, now))

    def holds(
        self, tenant_id: str, subjects: Iterable[str], now: datetime, runs: Iterable[str] = ()
    ) -> tuple[RightsFact, ...]:
        """The legal holds at ``now`` that cover any of the people or of the runs."""
        with self._kit.db.read() as connection:
            return tuple(holds.over(connection, tenant_id, subjects, runs, now))

    def held(self, tenant_id: str, subjects: Iterable[str], now: datetime) -> set[str]:
        """Those of the people whom a legal hold covers at ``now``, each by name or with everybody of the tenant."""
        people = set(subjects)
        named = {one.subject for one in self.holds(tenant_id, people, now)}
        return people if None in named else people & named

    def consent_subjects(self, tenant_id: str, purpose: Purpose) -> list[str]:
        """Everyone of a tenant who ever said something, sorted.

        Raises:
            PurposeDenied: for a purpose but ``comply``.

        """
        _only_comply(purpose, "who said something")
        statement = select(ConsentEventRow.subject).where(ConsentEventRow.tenant_id == tenant_id).distinct()
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], "consent_subjects")
            return sorted(connection.scalars(statement))

    def state(self) -> str:
        """A name for everything that is recorded now: it changes whenever a right is added or a person erased."""
        counted = [
            select(func.count(), func.max(ContractRow.recorded_at)).select_from(ContractRow),
            select(func.count(), func.max(ConsentEventRow.recorded_at)).select_from(ConsentEventRow),
            select(func.count(), func.max(SuppressionRow.since)).select_from(SuppressionRow),
            select(func.count(), func.max(RightsFactRow.recorded_at)).select_from(RightsFactRow),
        ]
        with self._kit.db.read() as connection:
            rows = [connection.execute(statement).one() for statement in counted]
        return digest_json([[count, str(newest)] for count, newest in rows])

    def consent_events(self, tenant_id: str, subject: str, purpose: Purpose) -> tuple[ConsentEvent, ...]:
        """What a person said, in the order in which it took effect: the state and the notice at any time.

        Raises:
            PurposeDenied: for a purpose but ``comply``: what a person said is no data to work with.

        """
        _only_comply(purpose, "what a person said")
        statement = (
            select(ConsentEventRow)
            .where(ConsentEventRow.tenant_id == tenant_id, ConsentEventRow.subject == subject)
            .order_by(ConsentEventRow.valid_from, ConsentEventRow.recorded_at, ConsentEventRow.id)
        )
        with self._kit.reading(purpose) as connection:
            self._kit.log_comply(connection, purpose, [tenant_id], "consent_events")
            return tuple(_event(row) for row in connection.execute(statement).mappings())


def _only_comply(purpose: Purpose, what: str) -> None:
    if purpose is not Purpose.COMPLY:
        raise PurposeDenied(f"rights: {what} is read for {Purpose.COMPLY} alone, not for {purpose}")


def _event(row: RowMapping) -> ConsentEvent:
    return ConsentEvent.model_validate({name: row[name] for name in ConsentEvent.model_fields})


__all__ = [
    "Person", "Rights", "Row", "contracts", "of_people", "read_verdicts", "suppressed", "tenant_verdicts", "verdicts",
]  # fmt: skip
