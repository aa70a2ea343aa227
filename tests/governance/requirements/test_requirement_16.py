"""Requirement 16: pseudonymised path (Korea): declared purpose, key kept and read separately, use history,
re-identification attempts refused and logged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import combinations, product
from pathlib import Path

import pytest

from governance.acting import Acting, acts_as, complying
from governance.approvals import Approvals
from governance.dataset_export import DatasetExport
from governance.documents.processing_record import processing_record
from governance.errors import ApprovalMissing, NotFound, PurposeDenied, RecordError, ReidentificationRefused, RoleDenied
from governance.keys import FileKeyProvider
from governance.masking.surrogate import Surrogates
from governance.ports.keys import KeyName
from governance.pseudonymised import DeclarationDesk, require_by_hand
from governance.records.approval import ApprovedAct, Decision, FourEyes
from governance.records.assessment import DataCategory
from governance.records.dataset import DatasetRow
from governance.records.principal import THE_SERVICE, Principal, PrincipalKind, Role
from governance.records.pseudonymised import AIM_IRI, Aim, Declaration
from governance.records.rights import BASIS_IRI, Basis, Contract, FactKind, Purpose, PurposeTerm, Reason
from governance.reidentification import KeyDesk
from governance.store import Store
from tests.governance.store_records import T0, manifest, person, rights_fact, row, trajectory
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

TRAIN = Purpose.TRAIN_WEIGHTS
DAY = timedelta(days=1)
KIM, LEE, ANN = person(1), person(2), person(3)
EVERY = FourEyes(required=frozenset({ApprovedAct.PSEUDONYMISATION}))


@contextmanager
def by(name: str, *roles: Role, act: str = "") -> Iterator[None]:
    with acts_as(Acting(Principal(name=name, kind=PrincipalKind.PERSON, roles=roles), roles[0], act)):
        yield


def desk(store: Store, clock: ManualClock, ids: SeededIds, policy: FourEyes | None = None) -> DeclarationDesk:
    return DeclarationDesk(store, Approvals(store, clock, ids, policy or FourEyes()), clock, ids)


def declared(desk: DeclarationDesk, clock: ManualClock, *more: DataCategory, purpose: Purpose = TRAIN) -> Declaration:
    categories = (DataCategory.COMMUNICATION, *more)
    return desk.declare(
        "acme", Aim.SCIENTIFIC_RESEARCH, purpose, categories, document="PLAN-3", until=clock.now() + 30 * DAY
    )


def agreed(store: Store, tenant: str = "acme") -> None:
    """Koreans' data is learned from as pseudonymised information, everybody else's by a legitimate interest."""
    terms = (
        PurposeTerm(purpose=TRAIN, basis=Basis.LEGITIMATE_INTEREST),
        PurposeTerm(purpose=TRAIN, basis=Basis.PIPA_28_2, jurisdiction="KR"),
    )
    store.rights.add_contract(Contract(id=tenant, tenant_id=tenant, terms=terms, valid_from=T0, recorded_at=T0))
    for who, code in ((KIM, "KR"), (LEE, "KR"), (ANN, "DE")):
        store.rights.add_facts([rights_fact(FactKind.JURISDICTION, who, tenant=tenant, value=code)])


def reason(store: Store, clock: ManualClock, who: str = KIM, purpose: Purpose = TRAIN) -> Reason:
    return store.rights.verdict(purpose, "acme", who, clock.now()).reasons[0]


def filled(store: Store, clock: ManualClock) -> tuple[str, list[DatasetRow]]:
    rows = []
    for number, who in ((1, KIM), (2, LEE), (3, ANN)):
        of = trajectory(number, subject=who)
        store.trajectories.put(of)
        rows.append(row(of, store.rights.verdict(TRAIN, "acme", who, clock.now())))
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    return made.root, rows


def test_requirement_16_a_row_of_this_basis_is_used_while_a_declaration_of_the_purpose_stands(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    agreed(store)
    root, _ = filled(store, clock)
    declarations = desk(store, clock, ids)
    assert (reason(store, clock), reason(store, clock, ANN)) == (Reason.NO_DECLARATION, Reason.ALLOWED)
    before = clock.now()
    with by("r-1", Role.REVIEWER):
        declared(declarations, clock, purpose=Purpose.EVALUATE)
        assert reason(store, clock) is Reason.NO_DECLARATION, "another purpose was declared"
        made = declared(declarations, clock)
    verdict = store.rights.verdict(TRAIN, "acme", KIM, clock.now())
    assert (verdict.allowed, verdict.basis) == (True, Basis.PIPA_28_2)
    assert (BASIS_IRI[Basis.PIPA_28_2], AIM_IRI[made.aim]) == (
        "urn:tidemill:term:pipa:A28-2", "urn:tidemill:term:pipa:A28-2-scientific-research",
    )  # fmt: skip
    assert len(store.datasets.rows(root, TRAIN)) == 3
    clock.advance(DAY)
    with by("r-1", Role.REVIEWER):
        declarations.end("acme", made.id, reason="audit 4")
    assert reason(store, clock) is Reason.NO_DECLARATION
    assert [one.subject for one in store.datasets.rows(root, TRAIN)] == [ANN]
    replayed = store.rights.verdict(TRAIN, "acme", KIM, clock.now() - timedelta(hours=1))
    assert replayed.allowed, "what was allowed then can be judged again"
    assert not store.rights.verdict(TRAIN, "acme", KIM, before - DAY).allowed
    states = {one["purpose"]: one["state"] for one in declarations.listed("acme")}
    assert states == {"evaluate": "stands", "train_weights": "ended"}
    with pytest.raises(NotFound):
        declarations.end("acme", made.id, reason="again")
    actions = [(one.actor, one.action) for one in store.audit.list("acme") if one.target == f"declaration:{made.id}"]
    assert actions == [("r-1", "pseudonymised_declared"), ("r-1", "pseudonymised_started")]


def test_requirement_16_a_declaration_ends_by_itself_and_may_begin_later(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    agreed(store)
    declarations, now = desk(store, clock, ids), clock.now()
    told = ("acme", Aim.STATISTICS, TRAIN, [DataCategory.COMMUNICATION])
    declarations.declare(*told, document="PLAN-4", since=now + 2 * DAY, until=now + 4 * DAY)
    found = []
    for _ in range(5):
        found.append((reason(store, clock) is Reason.ALLOWED, declarations.listed("acme")[0]["state"]))
        clock.advance(DAY)
    later, stands, over = (False, "begins later"), (True, "stands"), (False, "expired")
    assert found == [later, later, stands, stands, over]
    with pytest.raises(RecordError, match="from now or later"):
        declarations.declare(*told, document="PLAN-5", since=now, until=now + 90 * DAY)
    with pytest.raises(RecordError, match="ends after it begins"):
        declarations.declare(*told, document="PLAN-5", until=clock.now() - DAY)
    with pytest.raises(RecordError, match="serves no"):
        declarations.declare(*told[:2], Purpose.SERVE, told[3], document="P", until=clock.now() + DAY)


def test_requirement_16_what_is_known_of_a_row_must_be_among_the_declared_categories(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    agreed(store)
    declarations = desk(store, clock, ids)
    first = declared(declarations, clock)
    store.rights.add_facts([rights_fact(FactKind.SPECIAL_CATEGORY, KIM), rights_fact(FactKind.SPECIAL_BASIS, KIM)])
    assert (reason(store, clock), reason(store, clock, LEE)) == (Reason.NO_DECLARATION, Reason.ALLOWED)
    declared(declarations, clock, DataCategory.SPECIAL_CATEGORY)
    assert reason(store, clock) is Reason.ALLOWED
    store.rights.add_facts([rights_fact(FactKind.RESTRICTION, LEE)])
    assert reason(store, clock, LEE) is Reason.RESTRICTED, "a declaration lifts nothing else"
    with pytest.raises(RecordError, match="is declared"):
        require_by_hand(FactKind.PSEUDONYMISED)
    assert first.categories == (DataCategory.COMMUNICATION,)


def test_requirement_16_where_the_policy_asks_for_it_another_person_approves_first(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    agreed(store)
    declarations = desk(store, clock, ids, EVERY)
    approvals = Approvals(store, clock, ids, EVERY)

    def approve(id_: str) -> None:
        approvals.decide("acme", ApprovedAct.PSEUDONYMISATION, id_, Decision.APPROVED, reason="board 3")

    with by("r-1", Role.REVIEWER):
        made = declared(declarations, clock)
        assert declarations.listed("acme")[0]["state"] == "waits to be started"
        with pytest.raises(ApprovalMissing):
            declarations.start("acme", made.id)
        with pytest.raises(RoleDenied, match="another person"):
            approve(made.id)
    assert reason(store, clock) is Reason.NO_DECLARATION
    with by("r-2", Role.REVIEWER):
        approve(made.id)
    with by("r-1", Role.REVIEWER):
        started = declarations.start("acme", made.id)
        assert declarations.start("acme", made.id) == started, "again changes nothing"
    assert reason(store, clock) is Reason.ALLOWED
    (shown,) = declarations.listed("acme")
    assert (shown["author"], shown["approved_by"], shown["state"]) == ("r-1", "r-2", "stands")


def test_requirement_16_each_read_and_export_of_such_rows_stands_in_the_history(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    agreed(store)
    with by("r-1", Role.REVIEWER):
        declared(desk(store, clock, ids), clock)
    root, rows = filled(store, clock)
    assert store.pseudonymised.uses("acme") == ()
    with by("e-1", Role.ENGINEER, act="cycle"):
        assert len(store.datasets.rows(root, TRAIN)) == 3
        clock.advance(timedelta(seconds=1))
        assert store.trajectories.get(trajectory(3, subject=ANN).id, TRAIN).subject == ANN
        store.datasets.row(root, rows[0].digest(), TRAIN)
        with pytest.raises(PurposeDenied):
            store.trajectories.get(trajectory(1, subject=KIM).id, Purpose.EVALUATE)
    uses = store.pseudonymised.uses("acme")
    assert [(one.actor, one.role, one.act, one.kind, one.purpose, one.rows) for one in uses] == [
        ("e-1", "engineer", "cycle", "read", TRAIN, 2), ("e-1", "engineer", "cycle", "read", TRAIN, 1)
    ], "rows of the other basis, and rows that nobody was given, are no part of it"  # fmt: skip
    clock.advance(timedelta(seconds=1))
    with by("r-1", Role.REVIEWER, act="dataset export"), store.transaction():
        store.datasets.rows(root, TRAIN)
    assert store.pseudonymised.uses("acme")[2].rows == 2, "inside a transaction, too"
    with by("r-1", Role.REVIEWER, act="dataset export"):
        DatasetExport(store, clock, ids).run(root, tmp_path / "rows.jsonl", "lab-7")
    (exported,) = [one for one in store.pseudonymised.uses("acme") if one.kind == "export"]
    assert (exported.actor, exported.target, exported.rows, exported.at) == ("r-1", "lab-7", 2, clock.now())
    told = json.dumps([one.plain() for one in store.pseudonymised.uses("acme")])
    assert not any(who in told for who in (KIM, LEE, ANN)), "the history names nobody"
    lines = [
        json.loads(line)["line"] for line in (tmp_path / "rows.jsonl").read_text().splitlines() if '"line"' in line
    ]
    bases = {line["subject"]: line["basis_iri"] for line in lines}
    assert bases == dict.fromkeys((KIM, LEE), BASIS_IRI[Basis.PIPA_28_2]) | {ANN: BASIS_IRI[Basis.LEGITIMATE_INTEREST]}


def test_requirement_16_a_read_whose_history_cannot_be_written_gives_nothing(
    store: Store, clock: ManualClock, ids: SeededIds, monkeypatch: pytest.MonkeyPatch
) -> None:
    agreed(store)
    root, _ = filled(store, clock)
    declared(desk(store, clock, ids), clock)

    def broken(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("governance.store.pseudonymised._note", broken)
    with pytest.raises(OSError, match="no space"):
        store.datasets.rows(root, TRAIN)


def test_requirement_16_the_record_of_processing_names_the_basis_and_what_was_declared(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    def said(name: str) -> object:
        made = processing_record(store, "acme", clock.now())
        (found,) = [one.value for one in made.fields if "train_weights" in one.section and one.name == name]
        return found

    agreed(store)
    assert said("pseudonymised processing (PIPA 28-2)") == []
    made = declared(desk(store, clock, ids), clock)
    assert said("legal basis") == {
        "basis": "legitimate_interest", "iri": BASIS_IRI[Basis.LEGITIMATE_INTEREST],
        "KR": {"basis": "pipa_28_2", "iri": BASIS_IRI[Basis.PIPA_28_2]},
    }  # fmt: skip
    assert said("pseudonymised processing (PIPA 28-2)") == [{
        "document": "PLAN-3", "aim": "scientific_research", "iri": AIM_IRI[Aim.SCIENTIFIC_RESEARCH],
        "until": made.valid_to.isoformat(),
    }]  # fmt: skip


def keys_of(store: Store, clock: ManualClock, ids: SeededIds, folder: Path) -> tuple[KeyDesk, FileKeyProvider]:
    keys = FileKeyProvider(folder)
    return KeyDesk(store, lambda tenant, raw: Surrogates(keys, tenant).subject(raw or ""), clock, ids), keys


def test_requirement_16_the_keys_lie_apart_and_a_use_of_one_is_written_down(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    agreed(store)
    found, _ = keys_of(store, clock, ids, tmp_path / "keys")
    with by("e-1", Role.ENGINEER, act="rights verdict"):
        plain = found.person("acme", "C-1001")
    assert not store.audit.list("acme"), "no processing was declared: nothing is pseudonymised information"
    declared(desk(store, clock, ids), clock)
    with by("r-1", Role.ENGINEER, Role.REVIEWER, act="subject show"):
        assert found.person("acme", "C-1001") == plain
    with complying("request 7"):
        assert found.person("acme", "C-1001") == plain
    uses = [one for one in store.audit.list("acme") if one.action == "key_used"]
    assert [(one.actor, one.role, one.target) for one in uses] == [
        ("r-1", "reviewer", "key:subject"), ("tidemill", "service", "key:subject")
    ]  # fmt: skip
    assert (uses[0].detail["act"], uses[1].detail["duty"]) == ("subject show", "request 7")
    written = json.dumps([one.plain() for one in store.audit.list("acme")])
    assert "C-1001" not in written
    assert plain not in written
    names = {path.name for path in (tmp_path / "keys").iterdir()}
    assert {"subject.key", "surrogate.key"} <= names, "a file for each"


ROLES = (Role.ENGINEER, Role.RELEASE_MANAGER, Role.REVIEWER, Role.ADMIN)
SETS = [roles for size in range(1, 5) for roles in combinations(ROLES, size)]


@pytest.mark.parametrize("ended", [False, True])
def test_requirement_16_an_attempt_at_reidentification_is_refused_and_logged(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path, ended: bool
) -> None:
    made = declared(desk(store, clock, ids), clock)
    if ended:
        desk(store, clock, ids).end("acme", made.id, reason="over")
    found, _ = keys_of(store, clock, ids, tmp_path / "keys")
    before = len(store.audit.list("acme"))
    for key, roles in product((KeyName.SUBJECT, KeyName.SURROGATE), SETS):
        with by("p-1", *roles, act="rights verdict"):
            if set(roles) & {Role.REVIEWER, Role.ADMIN}:
                found.use("acme", key)
            else:
                with pytest.raises(ReidentificationRefused, match=f"{key} key"):
                    found.use("acme", key)
    events = store.audit.list("acme")[before:]
    assert len(events) == 2 * len(SETS)
    for event, (key, roles) in zip(events, product((KeyName.SUBJECT, KeyName.SURROGATE), SETS), strict=True):
        allowed = bool(set(roles) & {Role.REVIEWER, Role.ADMIN})
        assert (event.actor, event.target, event.detail["act"]) == ("p-1", f"key:{key}", "rights verdict")
        assert event.action == ("key_used" if allowed else "reidentification_refused")


def test_requirement_16_the_service_by_itself_identifies_nobody(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    declared(desk(store, clock, ids), clock)
    found, _ = keys_of(store, clock, ids, tmp_path / "keys")
    with acts_as(Acting(THE_SERVICE, Role.SERVICE)), pytest.raises(ReidentificationRefused):
        found.person("acme", "C-1001")


def test_requirement_16_a_declaration_is_of_one_tenant_and_has_categories(
    store: Store, clock: ManualClock, ids: SeededIds
) -> None:
    made = declared(desk(store, clock, ids), clock)
    with pytest.raises(RecordError, match="none of other"):
        store.pseudonymised.declare(made.model_copy(update={"id": "x", "tenant_id": "other", "supersedes": made.id}))
    with pytest.raises(RecordError, match="at least one category"):
        Declaration.parse(made.plain() | {"categories": []}, "declaration")
    store.pseudonymised.declare(made)
    assert [one.id for one in store.pseudonymised.declared("acme")] == [made.id]
