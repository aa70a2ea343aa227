"""An export is whole or not there, says what dropped and why, and never goes to somebody who is not on record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from governance import dataset_export
from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.dataset_export import DatasetExport
from governance.dataset_file import check
from governance.errors import ApprovalMissing, RecordError, RightsError
from governance.records.approval import ApprovedAct, Decision, FourEyes
from governance.records.base import canonical_json, digest_bytes
from governance.records.manifest import UseKind, UseOutcome
from governance.records.principal import Principal, PrincipalKind, Role
from governance.records.rights import ConsentStatus
from governance.store import Store
from tests.governance.store_records import consent, person, span
from tests.governance.test_store_manifests import ANN, BEN, CAY, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

LAB = "lab-7"


class Killed(BaseException):
    """The process died here."""


@pytest.fixture
def export(store: Store, clock: ManualClock, ids: SeededIds) -> DatasetExport:
    return DatasetExport(store, clock, ids)


def lines(path: Path, kind: str) -> list[dict[str, Any]]:
    return [one for one in map(json.loads, path.read_text().splitlines()) if one["kind"] == kind]


def test_a_file_holds_each_row_with_its_line_and_verifies_alone(
    store: Store, export: DatasetExport, tmp_path: Path
) -> None:
    root, rows = filled(store)
    file = tmp_path / "out.jsonl"
    use = export.run(root, file, LAB)
    assert (use.version, use.rows, use.outcome) == (root, 3, UseOutcome.WENT_ON)
    assert [one["line"]["row"] for one in lines(file, "row")] == [row.digest() for row in rows]
    assert lines(file, "dataset")[0]["merkle_root"] == store.manifests.version(root).merkle_root
    assert check(file) == []
    assert file.stat().st_mode & 0o777 == 0o600
    assert [event.action for event in store.audit.list("acme")][-1] == "dataset_exported"


def test_a_row_whose_right_ended_drops_and_is_named_with_its_reason(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path
) -> None:
    root, rows = filled(store)
    file = tmp_path / "out.jsonl"
    export.run(root, file, LAB)
    clock.advance(timedelta(days=1))
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    use = export.run(root, file, LAB)
    assert (use.rows, use.dropped, use.outcome) == (2, {"consent_withdrawn": 1}, UseOutcome.DROPPED)
    assert lines(file, "dropped") == [
        {"kind": "dropped", "row": rows[0].digest(), "reason": "consent_withdrawn"}
    ]  # fmt: skip
    assert ANN not in file.read_text()
    assert store.manifests.version(use.version).parent == root
    assert check(file) == []
    assert [one.rows for one in store.manifests.uses([root], UseKind.EXPORT)] == [3, 2]
    assert [one.recipient for one in store.manifests.recipients("acme", BEN)] == [LAB, LAB]
    assert [one.rows for one in store.manifests.recipients("acme", ANN)] == [1]


def test_the_same_export_again_is_the_same_file_and_one_record(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path
) -> None:
    root, _ = filled(store)
    file = tmp_path / "out.jsonl"
    export.run(root, file, LAB)
    before = file.read_bytes()
    clock.advance(timedelta(hours=1))
    export.run(root, file, LAB)
    assert file.read_bytes() == before
    assert len(store.manifests.uses([root])) == 1


STEPS: dict[str, tuple[Any, str]] = {
    "syncing the file": (os, "fsync"),
    "recording": (DatasetExport, "_record"),
    "renaming": (Path, "replace"),
    "syncing the folder": (dataset_export, "_sync_folder"),
}


@pytest.mark.parametrize("step", ["the version", *STEPS, "after recording"])
def test_a_crash_at_any_step_leaves_no_half_file_and_is_gone_on_with(
    store: Store, export: DatasetExport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    root, _ = filled(store)
    file = tmp_path / "out.jsonl"

    def dies(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        if step == "the version":
            patched.setattr(store.datasets, "part", dies)
        elif step == "after recording":
            patched.setattr(DatasetExport, "_record", _then(DatasetExport._record, dies))
        else:
            patched.setattr(*STEPS[step], dies)
        with pytest.raises(Killed):
            export.run(root, file, LAB)
    recorded = len(store.manifests.uses([root], UseKind.EXPORT))
    assert not file.exists() or (check(file) == [] and recorded == 1)
    assert recorded == (step in {"renaming", "after recording", "syncing the folder"})
    export.run(root, file, LAB)
    assert check(file) == []
    assert [one.name for one in tmp_path.iterdir() if one.suffix != ".db" and "tidemill" not in one.name] == [file.name]
    assert len(store.manifests.uses([root], UseKind.EXPORT)) == 1


def _then(first: Callable[..., None], second: Callable[..., None]) -> Callable[..., None]:
    def both(*given: Any) -> None:
        first(*given)
        second()

    return both


def test_a_right_that_ends_while_the_file_is_written_counts(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = filled(store)
    real = os.fsync
    said: list[int] = []

    def withdraws(handle: int) -> None:
        real(handle)
        if not said:
            said.append(1)
            store.rights.add_consent(consent(CAY, status=ConsentStatus.WITHDRAWN, at=clock.now()))

    monkeypatch.setattr(os, "fsync", withdraws)
    file = tmp_path / "out.jsonl"
    assert export.run(root, file, LAB).rows == 2
    assert CAY not in file.read_text()
    assert len(store.manifests.uses([root])) == 1


def test_what_a_crash_left_beside_goes_with_the_next_export(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = filled(store)
    folder = tmp_path / "out"
    folder.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            export.run(root, folder / "a.jsonl", LAB)
    assert ANN in next(folder.iterdir()).read_text()
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    export.run(root, folder / "a.jsonl", LAB)
    (left,) = folder.iterdir()
    assert ANN not in left.read_text()


HARMS = {
    "cut": lambda held: held.pop(),
    "row": lambda held: held[1]["row"]["completion_mask"].__setitem__(0, 0),
    "line": lambda held: held[1]["line"].update(contract="contract-other"),
    "swapped": lambda held: held.insert(1, held.pop(2)),
    "recipient": lambda held: held[0].update(recipient="nobody"),
    "purpose": lambda held: held[0].update(purpose="evaluate"),
    "exclusions": lambda held: held[0].update(exclusions={}),
    "policy": lambda held: held[0].update(policy_version="x"),
    "dropped row": lambda held: held[-2].update(row="f" * 64),
    "dropped reason": lambda held: held[-2].update(reason="expired"),
    "another kind": lambda held: held.insert(2, {"kind": "note", "row": held[1]["row"]}),
    "position": lambda held: held[1].update(position=99),
    "a field more": lambda held: held[1].update(note="x"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_file_that_was_changed_does_not_verify(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path, harm: str
) -> None:
    root, _ = filled(store)
    file = tmp_path / "out.jsonl"
    store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    export.run(root, file, LAB)
    assert check(file, store) == []
    held = [json.loads(line) for line in file.read_text().splitlines()]
    HARMS[harm](held)
    file.write_bytes(b"".join(canonical_json(line) + b"\n" for line in held))
    assert check(file)
    body = b"".join(canonical_json(line) + b"\n" for line in held[:-1])
    held[-1]["body"] = digest_bytes(body)  # whoever edits it may know how an end is made
    file.write_bytes(body + canonical_json(held[-1]) + b"\n")
    assert check(file, store)


def test_a_second_copy_at_another_place_is_a_second_use(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path
) -> None:
    root, _ = filled(store)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        export.run(root, tmp_path / name / "out.jsonl", LAB)
        clock.advance(timedelta(days=3))
    uses = store.manifests.uses([root], UseKind.EXPORT)
    assert [one.target for one in uses] == [LAB, LAB]
    assert (uses[1].as_of - uses[0].as_of).days == 3
    assert len(store.manifests.recipients("acme", ANN)) == 2


def test_who_received_a_run_that_names_a_person_is_told_of_them(
    store: Store, export: DatasetExport, tmp_path: Path
) -> None:
    root, rows = filled(store)
    named = person(0xD)
    store.spans.merge([span(0, 0, subject=ANN, mentions=(named,))], lambda _, new: new)
    assert rows[0].subject == ANN
    export.run(root, tmp_path / "out.jsonl", LAB)
    assert [(one.recipient, one.rows) for one in store.manifests.recipients("acme", named)] == [(LAB, 1)]
    assert store.manifests.recipients("acme", person(0xE)) == ()


def test_an_export_waits_for_an_approval_where_the_policy_asks_for_one(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    root, _ = filled(store)
    approvals = Approvals(store, clock, ids, FourEyes(required=frozenset({ApprovedAct.DATASET})))
    export, file = DatasetExport(store, clock, ids, approvals), tmp_path / "out.jsonl"
    with pytest.raises(ApprovalMissing, match="dataset"):
        export.run(root, file, LAB)
    assert not file.exists()
    assert store.manifests.uses([root]) == ()
    other = Principal(name="r-2", kind=PrincipalKind.PERSON, roles=(Role.REVIEWER,))
    with acts_as(Acting(other, Role.REVIEWER)):
        approvals.decide("acme", ApprovedAct.DATASET, root, Decision.APPROVED, reason="board 3")
    assert export.run(root, file, LAB).rows == 3


def test_nothing_else_is_replaced_and_nothing_is_exported_without_rights(
    store: Store, export: DatasetExport, clock: ManualClock, tmp_path: Path
) -> None:
    root, _ = filled(store)
    other = tmp_path / "notes.txt"
    other.write_text("mine\n")
    with pytest.raises(RecordError, match="something else"):
        export.run(root, other, LAB)
    assert other.read_text() == "mine\n"
    for who in (ANN, BEN, CAY):
        store.rights.add_consent(consent(who, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    with pytest.raises(RightsError, match="consent_withdrawn"):
        export.run(root, tmp_path / "out.jsonl", LAB)
    with pytest.raises(RecordError, match="line 1"):
        check(other)
