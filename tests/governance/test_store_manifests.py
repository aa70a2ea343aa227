"""A dataset version: a line for each row under one Merkle root, before and after people leave."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from governance.errors import NotFound
from governance.records import merkle
from governance.records.dataset import DatasetRow
from governance.records.manifest import DatasetUse, MadeFor, UseKind, UseOutcome
from governance.records.rights import Basis, ConsentStatus, Purpose, Suppression
from governance.store import Store
from governance.store.tables_audit import AuditRow
from governance.store.tables_datasets import DatasetLineRow, DatasetVersionRow
from governance.store.tables_learning import DatasetRowTable
from governance.store.uses import NO_LONGER_HELD
from tests.governance.store_records import T0, T1, consent, consents, contract, manifest, person, row, trajectory
from tests.support.clock import ManualClock

DAY = timedelta(days=1)
ANN, BEN, CAY = (person(number) for number in (0xA, 0xB, 0xC))
TRAIN = Purpose.TRAIN_WEIGHTS


def filled(store: Store, basis: Basis = Basis.CONSENT) -> tuple[str, list[DatasetRow]]:
    """A dataset of three people."""
    store.rights.add_contract(contract(basis=basis))
    store.rights.add_consents([one for who in (ANN, BEN, CAY) for one in consents(who)])
    runs = [trajectory(number, subject=who) for number, who in enumerate((ANN, BEN, CAY))]
    store.trajectories.put_all(runs)
    rows = [row(run, store.rights.verdict(TRAIN, "acme", run.subject, T1)) for run in runs]
    made = manifest(rows)
    store.datasets.put(made, rows, [], {"harness": "h1"})
    return made.root, rows


def test_each_row_has_a_line_with_its_right_and_its_sources(store: Store) -> None:
    root, rows = filled(store)
    lines = store.manifests.lines(root, Purpose.COMPLY)
    assert [lines[place].row for place in range(3)] == [one.digest() for one in rows]
    first = lines[0]
    assert (first.subject, first.trajectory_id, first.contract) == (ANN, rows[0].trajectory_id, "contract-acme")
    assert (first.verdict.allowed, first.verdict.policy_version) == (True, store.policy.version)
    assert first.basis_iri == "https://w3id.org/dpv/legal/eu/gdpr#A6-1-a"
    assert first.purpose_iri == "https://w3id.org/dpv/ai#ModelFineTuning"
    version = store.manifests.version(root)
    assert (version.made_for, version.preparation) == (MadeFor.BUILD, {"harness": "h1"})
    assert store.manifests.problems(root) == []
    assert len({one.salt for one in lines.values()}) == 3


def test_a_line_is_proven_by_its_path(store: Store) -> None:
    root, _ = filled(store)
    version, lines = store.manifests.version(root), store.manifests.lines(root, Purpose.COMPLY)
    for place, line in lines.items():
        path = store.manifests.proof(root, place)
        assert merkle.includes(version.merkle_root, line.leaf, place, 3, path)
        other = line.model_copy(update={"subject": person(9)})
        assert not merkle.includes(version.merkle_root, other.leaf, place, 3, path)
    with pytest.raises(NotFound, match="no line 3"):
        store.manifests.proof(root, 3)


def test_put_again_changes_nothing(store: Store) -> None:
    root, rows = filled(store)
    before = (store.manifests.version(root), store.manifests.lines(root, Purpose.COMPLY))
    store.datasets.put(manifest(rows), rows, [], {"harness": "h2"})
    assert (store.manifests.version(root), store.manifests.lines(root, Purpose.COMPLY)) == before


def test_lines_are_read_for_a_purpose(store: Store, clock: ManualClock) -> None:
    root, _ = filled(store)
    now = clock.now()
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=now))
    assert {one.subject for one in store.manifests.lines(root, TRAIN).values()} == {BEN, CAY}
    assert [one.action for one in store.audit.list("acme")] == ["dataset_version"]
    assert len(store.manifests.lines(root, Purpose.COMPLY)) == 3
    assert [one.target for one in store.audit.list("acme")][-1] == f"manifest:{root}"


def test_a_persons_line_leaves_with_them_and_the_root_still_verifies(store: Store) -> None:
    root, _ = filled(store)
    version = store.manifests.version(root)
    his = store.manifests.lines(root, Purpose.COMPLY)[1]
    store.erasable().erase("acme", ANN)
    assert set(store.manifests.lines(root, Purpose.COMPLY)) == {1, 2}
    assert store.manifests.version(root) == version
    assert store.manifests.problems(root) == []
    assert merkle.includes(version.merkle_root, his.leaf, 1, 3, store.manifests.proof(root, 1))
    assert ANN not in str(version.plain())


@pytest.mark.parametrize(
    "harm", ["line edited", "line dropped", "lines swapped", "row edited", "row dropped", "leaf edited", "root edited"]
)
def test_what_was_edited_swapped_or_dropped_is_found(store: Store, harm: str) -> None:
    root, rows = filled(store)
    line, held, head = DatasetLineRow, DatasetRowTable, DatasetVersionRow
    version = store.manifests.version(root)
    bodies = [one.plain() for one in store.manifests.lines(root, Purpose.COMPLY).values()]
    digest = rows[0].digest()
    swap = [update(line).where(line.position == place).values(body=bodies[1 - place]) for place in (0, 1)]
    harms: dict[str, list[Any]] = {
        "line edited": [update(line).where(line.position == 0).values(body=bodies[0] | {"contract": "other"})],
        "line dropped": [delete(line).where(line.position == 0)],
        "lines swapped": swap,
        "row edited": [update(held).where(held.digest == digest).values(body=rows[1].plain())],
        "row dropped": [delete(held).where(held.digest == digest)],
        "leaf edited": [update(head).values(body=version.plain() | {"leaves": list(reversed(version.leaves))})],
        "root edited": [update(head).values(body=_forged(version.plain()))],
    }
    with store._kit.db.write() as connection:
        for statement in harms[harm]:
            connection.execute(statement)
    assert store.manifests.problems(root)


def _forged(plain: dict[str, Any]) -> dict[str, Any]:
    """A version of the two last lines alone, whole in itself."""
    leaves = plain["leaves"]
    return plain | {"leaves": leaves[1:], "merkle_root": merkle.root(leaves[1:])}


def test_a_version_that_the_audit_does_not_name_is_found(store: Store) -> None:
    root, _ = filled(store)
    with store._kit.db.write() as connection:
        connection.execute(delete(AuditRow))
    assert store.manifests.problems(root) == [
        "no audit names this version",
        "the audit of acme does not name this Merkle root",
    ]


def test_a_row_that_lost_its_right_drops_with_its_reason_and_the_moment(store: Store, clock: ManualClock) -> None:
    root, rows = filled(store)
    assert store.datasets.judged(root, TRAIN).dropped == ()
    clock.advance(DAY)
    left = clock.now()
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=left))
    clock.advance(3 * DAY)
    found = store.datasets.judged(root, TRAIN)
    assert [(one.row, one.reason) for one in found.dropped] == [(rows[0].digest(), "consent_withdrawn")]
    assert (found.lost_at, found.as_of) == (left, clock.now())
    assert [one.subject for one in found.rows] == [BEN, CAY]


def test_what_is_left_is_a_version_of_its_own(store: Store, clock: ManualClock) -> None:
    root, rows = filled(store)
    assert store.datasets.part(store.datasets.judged(root, TRAIN), MadeFor.TRAINING) == root
    clock.advance(DAY)
    store.rights.add_consent(consent(ANN, status=ConsentStatus.OBJECTED, at=clock.now()))
    found = store.datasets.judged(root, TRAIN)
    part = store.datasets.part(found, MadeFor.TRAINING, {rows[2].digest(): "rejected"})
    version = store.manifests.version(part)
    assert (version.parent, version.made_for) == (root, MadeFor.TRAINING)
    assert version.exclusions == {"objected": 1, "rejected": 1}
    assert [one.subject for one in store.datasets.rows(part, TRAIN)] == [BEN]
    line = store.manifests.lines(part, Purpose.COMPLY)[0]
    assert line.verdict.as_of == clock.now()
    assert store.manifests.problems(part) == []
    compared = store.manifests.difference(root, part)
    assert (compared["kept"], len(compared["removed"]), compared["people_removed"]) == (1, 2, 2)


def test_a_dropped_person_does_not_taint_what_was_made_of_the_rest(store: Store, clock: ManualClock) -> None:
    from governance.records.lineage import Node, NodeKind

    root, _ = filled(store)
    clock.advance(DAY)
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    part = store.datasets.part(store.datasets.judged(root, TRAIN), MadeFor.TRAINING)
    made = {one.id for one in store.lineage.descendants(Node(kind=NodeKind.SUBJECT, id=f"acme/{ANN}"))}
    assert root in made
    assert part not in made


def test_a_row_that_is_gone_drops_as_no_longer_held(store: Store) -> None:
    root, _ = filled(store)
    store.erasable().erase("acme", ANN)
    found = store.datasets.judged(root, TRAIN)
    assert [one.reason for one in found.dropped] == [NO_LONGER_HELD]
    assert found.lost_at is None


def use(root: str, target: str, id_: str = "1") -> DatasetUse:
    return DatasetUse(
        id=id_, kind=UseKind.EXPORT, root=root, version=root, scope="shop@acme", target=target, rows=3, dropped={},
        outcome=UseOutcome.WENT_ON, policy_version="1", as_of=T0, actor="r-1",
    )  # fmt: skip


def test_recipients_of_a_persons_rows_are_listed(store: Store) -> None:
    root, _ = filled(store)
    store.manifests.put_use(use(root, "lab-7"))
    store.manifests.put_use(use(root, "somebody else"))
    assert store.manifests.uses([root], UseKind.EXPORT) == (use(root, "lab-7"),)
    (found,) = store.manifests.recipients("acme", ANN)
    assert (found.recipient, found.root, found.rows) == ("lab-7", root, 1)
    assert store.manifests.recipients("acme", person(9)) == ()
    store.erasable().erase("acme", ANN)
    assert store.manifests.recipients("acme", ANN) == ()


def test_a_version_is_found_by_its_beginning(store: Store) -> None:
    root, _ = filled(store)
    assert store.manifests.find(root[:8]).root == root
    assert [one.root for one in store.manifests.list()] == [root]
    for wrong in ("", "%", "zz"):
        with pytest.raises(NotFound):
            store.manifests.find(wrong)


@pytest.mark.parametrize("field", ["exclusions", "preparation", "policy_version", "scope", "at", "actor", "made_for"])
def test_an_edit_of_what_a_version_says_of_itself_is_found(store: Store, clock: ManualClock, field: str) -> None:
    root, _ = filled(store)
    version = store.manifests.version(root)
    forged = {"exclusions": {"no_grant": 1}, "preparation": {"harness": "x"}, "at": T0, "made_for": MadeFor.EXPORT}
    body = version.model_copy(update={field: forged.get(field, "forged")}).plain()
    with store._kit.db.write() as connection:
        connection.execute(update(DatasetVersionRow).where(DatasetVersionRow.root == root).values(body=body))
    assert any("was edited" in one for one in store.manifests.problems(root))


def test_lines_and_rows_that_went_with_nobody_are_found(store: Store, clock: ManualClock) -> None:
    root, _ = filled(store)
    with store._kit.db.write() as connection:
        for table in (DatasetLineRow, DatasetRowTable):
            connection.execute(delete(table).where(table.root == root))
    found = store.manifests.problems(root)
    assert [one for one in found if "is gone, and no erasure" in one] == [
        f"line {place} is gone, and no erasure took it" for place in range(3)
    ]


def test_under_an_erasure_no_other_line_goes_unnoticed(store: Store) -> None:
    root, rows = filled(store)
    store.rights.suppress(Suppression(tenant_id="acme", subject=ANN, since=T0, request_id="r-1"))
    store.erasable().erase("acme", ANN)
    (said,) = [one for one in store.audit.list("acme") if one.action == "dataset_lines_erased"]
    assert (said.target, said.detail["positions"]) == (f"dataset:{root}", [0])
    store.erasable().erase("acme", ANN)
    assert len([one for one in store.audit.list("acme") if one.action == "dataset_lines_erased"]) == 1
    with store._kit.db.write() as connection:
        connection.execute(delete(DatasetLineRow).where(DatasetLineRow.position == 1))
        connection.execute(delete(DatasetRowTable).where(DatasetRowTable.digest == rows[1].digest()))
    assert store.manifests.problems(root) == ["line 1 is gone, and no erasure took it"]
