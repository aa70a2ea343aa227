"""Verdicts from the store: SQL gathers the facts that decide, the pure policy judges each distinct signature once.

``governance.store.rights`` hands these out; the repositories ask here before they hand out a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, func, or_, select

from governance.policy import facts
from governance.policy.facts import FactSignature, signature
from governance.policy.rights import judge, judge_tenant
from governance.records.rights import ConsentStatus, Contract, FactKind, Purpose, Reason, Verdict
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import dialect, rights_facts
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.people import Person, by_tenant
from governance.store.pseudonymised import note_read
from governance.store.rights_facts import Fact, Row
from governance.store.suppressions import suppressed
from governance.store.tables_rights import ConsentEventRow, ContractRow

STAYS_OUT: Final = frozenset({Reason.SUPPRESSED, Reason.RESTRICTED, Reason.HELD, Reason.UNLAWFUL_SOURCE})
"""What a read of the past does not hand out either, once it is known."""
_Facts = tuple[str, bool, bool, ConsentStatus | None, frozenset[Fact]]
"""Tenant, whether the person is known and suppressed, what they said, what stands."""


class Bench:
    """Judges rows for one purpose at one moment, from facts that were gathered set-wise.

    What was gathered about two rows alike is looked up, and each distinct signature is judged once. A person's rows
    share a verdict, but for runs that facts of their own are about.
    """

    def __init__(
        self,
        connection: Connection,
        kit: Kit,
        purpose: Purpose,
        people: Iterable[Person],
        as_of: datetime,
        *,
        sharing: bool = False,
        without: frozenset[FactKind] = frozenset(),
        past: bool = False,
    ) -> None:
        """Gathers the facts about ``people``.

        ``sharing``: for an adapter that other tenants use; ``without``: as if no fact of those kinds stood; ``past``:
        as far as was known at ``as_of``, however near that is.
        """
        everything = not past and kit.is_present(as_of)
        self._people = everybody = set(people)
        self._purpose, self._as_of, self._policy = purpose, as_of, kit.policy
        self._sharing = sharing
        self._contracts = contracts(
            connection, sorted({tenant for tenant, _ in everybody}), as_of, everything=everything
        )
        self._gone = suppressed(connection, everybody, None if everything else as_of)
        self._status = consents(connection, purpose, everybody, as_of, everything=everything)
        self._standing = rights_facts.standing(connection, purpose, everybody, as_of, without, everything=everything)
        self._judged: dict[FactSignature, Verdict] = {}
        self._known: dict[_Facts, Verdict] = {}

    def of(self, row: Row) -> Verdict:
        """The verdict on a row of one of the people."""
        tenant_id, subject, _ = row
        person = tenant_id, subject
        gathered = (
            tenant_id,
            subject != UNKNOWN_SUBJECT,
            person in self._gone,
            self._status.get(person),
            self._standing.of(row),
        )
        verdict = self._known.get(gathered)
        if verdict is None:
            verdict = self._known[gathered] = self._judge(gathered)
        return verdict

    def of_runs(self, runs: Sequence[Row]) -> dict[str, Verdict]:
        """Trajectory id to verdict, for rows that are each of a run."""
        people = {person: self.of((*person, "")) for person in self._people}
        found = {run: people[tenant_id, subject] for tenant_id, subject, run in runs}
        if self._standing.runs:
            found |= {row[2]: self.of(row) for row in runs if (row[0], row[2]) in self._standing.runs}
        return found

    def _judge(self, gathered: _Facts) -> Verdict:
        tenant_id, known, suppressed, consent, standing = gathered
        signed = signature(
            self._contracts[tenant_id],
            self._purpose,
            known=known,
            suppressed=suppressed,
            sharing=self._sharing,
            consent=consent,
            standing=standing,
        )
        if signed not in self._judged:
            self._judged[signed] = judge(self._purpose, signed, self._as_of, self._policy)
        return self._judged[signed]


def verdicts(
    connection: Connection,
    kit: Kit,
    purpose: Purpose,
    rows: Iterable[Row],
    as_of: datetime,
    *,
    sharing: bool = False,
    without: frozenset[FactKind] = frozenset(),
    past: bool = False,
) -> dict[Row, Verdict]:
    """The verdict on each row; see ``Bench``."""
    wanted = set(rows)
    people = {(tenant_id, subject) for tenant_id, subject, _ in wanted}
    bench = Bench(connection, kit, purpose, people, as_of, sharing=sharing, without=without, past=past)
    return {row: bench.of(row) for row in wanted}


def read_verdicts(
    connection: Connection,
    kit: Kit,
    purpose: Purpose,
    rows: Iterable[Row],
    *,
    as_of: datetime | None = None,
    sharing: bool = False,
) -> dict[Row, Verdict]:
    """The verdicts of a read that hands rows out: as of then, but what must stay out by now stays out of any past.

    ``rows`` names each as often as it is read: reads of pseudonymised information are counted.
    """
    read = list(rows)
    wanted, now = set(read), kit.clock.now()
    found = verdicts(connection, kit, purpose, wanted, as_of or now, sharing=sharing)
    present = found if as_of is None else verdicts(connection, kit, purpose, wanted, now, sharing=sharing)
    found |= {row: one for row, one in present.items() if one.reasons[0] in STAYS_OUT}
    if purpose is not Purpose.COMPLY:
        gone = FactSignature(True, True, False, None, False, sharing, None)  # noqa: FBT003 - a named tuple
        left = suppressed(connection, {(tenant_id, subject) for tenant_id, subject, _ in wanted}, None)
        out = judge(purpose, gone, as_of or now, kit.policy)
        found |= {row: out for row in wanted if (row[0], row[1]) in left}
    note_read(kit, purpose, read, found)
    return found


def strictest(found: Iterable[Verdict]) -> Verdict:
    """The first that denies, if one does."""
    return min(found, key=lambda one: one.allowed)


def of_people(people: Iterable[Person]) -> set[Row]:
    """What is of people as a whole, whatever run it is from."""
    return {(tenant_id, subject, "") for tenant_id, subject in people}


def tenant_verdicts(
    connection: Connection, kit: Kit, purpose: Purpose, tenants: Iterable[str], as_of: datetime
) -> dict[str, Verdict]:
    """The verdict on what no single person is behind, for each tenant."""
    everything, nobody = kit.is_present(as_of), {(tenant_id, "") for tenant_id in tenants}
    held = contracts(connection, sorted({tenant_id for tenant_id, _ in nobody}), as_of, everything=everything)
    standing = rights_facts.standing(connection, purpose, nobody, as_of, everything=everything)
    return {
        tenant_id: judge_tenant(purpose, contract, as_of, kit.policy, standing.of((tenant_id, "", "")))
        for tenant_id, contract in held.items()
    }


def contracts(
    connection: Connection, tenants: Sequence[str], as_of: datetime, *, everything: bool = False
) -> dict[str, Contract | None]:
    """Each tenant's contract that holds at ``as_of``."""
    known: dict[str, list[Contract]] = {tenant_id: [] for tenant_id in tenants}
    for part in chunks(tenants, dialect.CHUNK):
        by_then = rights_facts.known(ContractRow.recorded_at, as_of, everything)
        statement = select(ContractRow.body).where(ContractRow.tenant_id.in_(part), by_then)
        for body in connection.scalars(statement):
            contract = Contract.model_validate(body)
            known[contract.tenant_id].append(contract)
    return {tenant_id: facts.contract_at(found, as_of, everything=everything) for tenant_id, found in known.items()}


def consents(
    connection: Connection, purpose: Purpose, people: Iterable[Person], as_of: datetime, *, everything: bool = False
) -> dict[Person, ConsentStatus]:
    """Each person's status for the purpose at ``as_of``; no entry for those who never said anything."""
    row = ConsentEventRow
    found: dict[Person, ConsentStatus] = {}
    for tenant_id, part in by_tenant(people):
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
                        row.status.desc(),
                    ),
                )
                .label("place"),
            )
            .where(
                row.tenant_id == tenant_id,
                row.purpose == purpose.value,
                row.subject.in_(part),
                rights_facts.known(row.recorded_at, as_of, everything),
                or_(row.restraint > 0, row.valid_from <= as_of, row.valid_from <= row.recorded_at),
            )
            .subquery()
        )
        statement = select(ranked.c.subject, ranked.c.status, ranked.c.valid_to).where(ranked.c.place == 1)
        for subject, status, valid_to in connection.execute(statement):
            found[tenant_id, subject] = facts.effective_status(ConsentStatus(status), valid_to, as_of)
    return found
