"""Requirement 1: what was collected for another purpose is trained on only under a compatibility assessment."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete

from governance.dataset_export import DatasetExport
from governance.errors import RightsError
from governance.policy.facts import facts_at
from governance.records.rights import Basis, FactKind, Purpose
from governance.store import Store
from governance.store.tables_rights import RightsFactRow
from tests.governance.store_records import T0, T1, contract, manifest, person, rights_fact, row, trajectory
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

TRAIN = Purpose.TRAIN_WEIGHTS
ASSESSED, OTHER = person(1), person(2)


def built(store: Store) -> str:
    """Rows of two people, collected to serve them, one under an assessment of everybody, one of their own."""
    told = contract(basis=Basis.LEGITIMATE_INTEREST, collected_for=(Purpose.SERVE,))
    store.rights.add_contract(told)
    for who in (ASSESSED, OTHER):
        fact = rights_fact(FactKind.COMPATIBILITY, who, purpose=TRAIN, id=f"compatible/{who}")
        store.rights.add_facts([fact])
    runs = [trajectory(number, subject=who) for number, who in enumerate((ASSESSED, OTHER))]
    store.trajectories.put_all(runs)
    rows = [row(run, store.rights.verdict(TRAIN, "acme", run.subject, T1)) for run in runs]
    assert all(one.verdict.allowed for one in rows)
    made = manifest(rows)
    store.datasets.put(made, rows, [])
    return made.root


def test_requirement_01_without_the_assessment_the_next_export_drops_the_row(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    root = built(store)
    export = DatasetExport(store, clock, ids)
    assert export.run(root, tmp_path / "a.jsonl", "lab").rows == 2
    with store._kit.db.write() as connection:
        connection.execute(delete(RightsFactRow).where(RightsFactRow.id == f"compatible/{ASSESSED}"))
    use = export.run(root, tmp_path / "b.jsonl", "lab")
    assert (use.rows, use.dropped) == (1, {"no_compatibility_assessment": 1})
    assert ASSESSED not in (tmp_path / "b.jsonl").read_text()


def test_requirement_01_an_assessment_that_ended_or_expired_bridges_nothing(
    store: Store, clock: ManualClock, ids: SeededIds, tmp_path: Path
) -> None:
    root = built(store)
    now = clock.now()
    for fact in facts_at(store.rights.facts("acme"), now):
        ends = fact.model_copy(
            update={
                "id": f"{fact.id}/end",
                "supersedes": fact.id,
                "recorded_at": now,
                "valid_to": now + timedelta(days=1),
            }
        )
        store.rights.add_facts([ends])
    export = DatasetExport(store, clock, ids)
    assert export.run(root, tmp_path / "a.jsonl", "lab").rows == 2
    clock.advance(timedelta(days=1))
    with pytest.raises(RightsError, match="no_compatibility_assessment"):
        export.run(root, tmp_path / "a.jsonl", "lab")
    assert now > T0
