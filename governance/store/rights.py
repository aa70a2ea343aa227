"""``store.rights``: contracts, consents, suppressions, and the verdicts that follow from them.

``verdicts`` is the only way from a purpose to rows. SQL gathers for each (tenant, subject) the facts that decide it,
the pure policy judges each distinct signature once, and the verdict is joined back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, select

from governance.policy import rights as policy
from governance.policy.rights import FactSignature
from governance.records.base import digest_json
from governance.records.retention import RetentionClass
from governance.records.rights import ConsentEvent, ConsentStatus, Contract, Purpose, Suppression, Verdict
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.tables_rights import ConsentEventRow, ContractRow, SuppressionRow

Person = tuple[str, str]
"""(tenant_id, subject)."""


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

    def add_consents(self, events: Sequence[ConsentEvent]) -> None:
        """Record many consent events at once."""
        expires_at = self._kit.expires_class(RetentionClass.EVIDENCE)
        rows = [
            event.model_dump()
            | {
                "purpose": event.purpose.value,
                "status": event.status.value,
                "restraint": policy.RESTRAINT[event.status],
                "expires_at": expires_at,
            }
            for event in events
        ]

        def work(connection: Connection) -> None:
            people = {(event.tenant_id, event.subject) for event in events}
            gone = suppressed(connection, people, None)
            kept = [row for row in rows if (row["tenant_id"], row["subject"]) not in gone]
            dialect.insert_new(connection, ConsentEventRow, kept)

        self._kit.db.run(work)

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

    def contract_at(self, tenant_id: str, as_of: datetime) -> Contract | None:
        """The tenant's contract that holds at ``as_of`` as far as was known then."""
        with self._kit.db.read() as connection:
            return contracts(connection, [tenant_id], as_of)[tenant_id]

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
        self, purpose: Purpose, subjects: Iterable[Person], as_of: datetime, *, sharing: bool = False
    ) -> dict[Person, Verdict]:
        """The verdict on each person's records, set-wise. ``sharing``: for an adapter that other tenants use."""
        with self._kit.db.read() as connection:
            return verdicts(connection, purpose, subjects, as_of, sharing=sharing)

    def consent_subjects(self, tenant_id: str) -> list[str]:
        """Everyone of a tenant who ever said something, sorted."""
        statement = select(ConsentEventRow.subject).where(ConsentEventRow.tenant_id == tenant_id).distinct()
        with self._kit.db.read() as connection:
            return sorted(connection.scalars(statement))

    def state(self) -> str:
        """A name for everything that is recorded now: it changes whenever a right is added or a person erased."""
        counted = [
            select(func.count(), func.max(ContractRow.recorded_at)).select_from(ContractRow),
            select(func.count(), func.max(ConsentEventRow.recorded_at)).select_from(ConsentEventRow),
            select(func.count(), func.max(SuppressionRow.since)).select_from(SuppressionRow),
        ]
        with self._kit.db.read() as connection:
            rows = [connection.execute(statement).one() for statement in counted]
        return digest_json([[count, str(newest)] for count, newest in rows])

    def consent_events(self, tenant_id: str, subject: str) -> tuple[ConsentEvent, ...]:
        """What a person said, in the order in which it took effect: the state and the notice at any time."""
        statement = (
            select(ConsentEventRow)
            .where(ConsentEventRow.tenant_id == tenant_id, ConsentEventRow.subject == subject)
            .order_by(ConsentEventRow.valid_from, ConsentEventRow.recorded_at, ConsentEventRow.id)
        )
        with self._kit.db.read() as connection:
            fields = ConsentEvent.model_fields
            return tuple(
                ConsentEvent.model_validate({name: row[name] for name in fields})
                for row in connection.execute(statement).mappings()
            )


def verdicts(
    connection: Connection, purpose: Purpose, people: Iterable[Person], as_of: datetime, *, sharing: bool = False
) -> dict[Person, Verdict]:
    """Facts by SQL, one judgement per distinct signature, joined back."""
    wanted = set(people)
    if not wanted:
        return {}
    by_tenant = contracts(connection, sorted({tenant for tenant, _ in wanted}), as_of)
    gone = suppressed(connection, wanted, as_of)
    status = consents(connection, purpose, wanted, as_of)
    judged: dict[FactSignature, Verdict] = {}
    found: dict[Person, Verdict] = {}
    for person in wanted:
        tenant_id, subject = person
        contract = by_tenant[tenant_id]
        facts = FactSignature(
            subject_known=subject != UNKNOWN_SUBJECT,
            suppressed=person in gone,
            contract=contract is not None,
            basis=policy.term_basis(contract, purpose),
            shared_adapter=contract is not None and contract.shared_adapter,
            sharing=sharing,
            consent=status.get(person),
        )
        if facts not in judged:
            judged[facts] = policy.judge(purpose, facts, as_of)
        found[person] = judged[facts]
    return found


def read_verdicts(
    connection: Connection, purpose: Purpose, people: Iterable[Person], as_of: datetime, *, sharing: bool = False
) -> dict[Person, Verdict]:
    """The verdicts of a read that hands rows out: as of then, but who is suppressed by now stays out of any past."""
    wanted = set(people)
    found = verdicts(connection, purpose, wanted, as_of, sharing=sharing)
    if purpose is not Purpose.COMPLY:
        gone = FactSignature(True, True, False, None, False, sharing, None)  # noqa: FBT003 - a named tuple
        for person in suppressed(connection, wanted, None):
            found[person] = policy.judge(purpose, gone, as_of)
    return found


def tenant_verdicts(
    connection: Connection, purpose: Purpose, tenants: Iterable[str], as_of: datetime
) -> dict[str, Verdict]:
    """The verdict on what no single person is behind, for each tenant."""
    held = contracts(connection, sorted(set(tenants)), as_of)
    return {tenant_id: policy.judge_tenant(purpose, contract, as_of) for tenant_id, contract in held.items()}


def contracts(connection: Connection, tenants: Sequence[str], as_of: datetime) -> dict[str, Contract | None]:
    """Each tenant's contract that holds at ``as_of``."""
    known: dict[str, list[Contract]] = {tenant_id: [] for tenant_id in tenants}
    for part in chunks(tenants, dialect.CHUNK):
        statement = select(ContractRow.body).where(ContractRow.tenant_id.in_(part), ContractRow.recorded_at <= as_of)
        for body in connection.scalars(statement):
            contract = Contract.model_validate(body)
            known[contract.tenant_id].append(contract)
    return {tenant_id: policy.contract_at(found, as_of) for tenant_id, found in known.items()}


def suppressed(connection: Connection, people: Iterable[Person], as_of: datetime | None) -> set[Person]:
    """Those of ``people`` who are suppressed: since ``as_of`` or earlier, or at all."""
    found: set[Person] = set()
    for tenant_id, part in _by_tenant(people):
        statement = select(SuppressionRow.subject).where(
            SuppressionRow.tenant_id == tenant_id, SuppressionRow.subject.in_(part)
        )
        if as_of is not None:
            statement = statement.where(SuppressionRow.since <= as_of)
        found.update((tenant_id, subject) for subject in connection.scalars(statement))
    return found


def consents(
    connection: Connection, purpose: Purpose, people: Iterable[Person], as_of: datetime
) -> dict[Person, ConsentStatus]:
    """Each person's status for the purpose at ``as_of``; no entry for those who never said anything."""
    row = ConsentEventRow
    found: dict[Person, ConsentStatus] = {}
    for tenant_id, part in _by_tenant(people):
        ranked = (
            select(
                row.subject,
                row.status,
                row.valid_to,
                func.row_number()
                .over(
                    partition_by=row.subject,
                    order_by=(
                        row.valid_from.desc(),
                        row.recorded_at.desc(),
                        row.restraint.desc(),
                        row.valid_to.asc().nulls_last(),
                    ),
                )
                .label("place"),
            )
            .where(
                row.tenant_id == tenant_id,
                row.purpose == purpose.value,
                row.subject.in_(part),
                row.recorded_at <= as_of,
                row.valid_from <= as_of,
            )
            .subquery()
        )
        statement = select(ranked.c.subject, ranked.c.status, ranked.c.valid_to).where(ranked.c.place == 1)
        for subject, status, valid_to in connection.execute(statement):
            found[tenant_id, subject] = policy.effective_status(ConsentStatus(status), valid_to, as_of)
    return found


def _by_tenant(people: Iterable[Person]) -> Iterable[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for tenant_id, subject in people:
        groups[tenant_id].append(subject)
    for tenant_id in sorted(groups):
        for part in chunks(sorted(groups[tenant_id]), dialect.CHUNK):
            yield tenant_id, part


__all__ = ["Person", "Rights", "contracts", "read_verdicts", "suppressed", "tenant_verdicts", "verdicts"]
