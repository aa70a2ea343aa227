"""The step that trains: under an assessment, on what is left, and what it learned is a version of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from governance.acting import Acting, acts_as
from governance.approvals import Approvals
from governance.assessments import AssessmentDesk
from governance.records.approval import FourEyes
from governance.records.assessment import DataCategory
from governance.records.dataset import DatasetRow
from governance.records.lineage import Node, NodeKind
from governance.records.manifest import UseKind, UseOutcome
from governance.records.principal import THE_SERVICE, Role
from governance.records.rights import ConsentStatus, Purpose
from governance.records.scope import Scope
from governance.rights_at_use import RightsAtUse
from governance.store import Store
from pipelines.demo.assessment import assess
from pipelines.operations import turn_of
from pipelines.steps import training
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill
from tests.governance.conftest import block_key
from tests.governance.store_records import adapter, consent
from tests.governance.test_store_manifests import ANN, BEN, CAY, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds
from training.sft import TrainedAdapter

SCOPE = Scope(agent_name="shop", tenants=("acme",))
WINDOW = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 8, tzinfo=UTC))
Learned = Callable[[Sequence[DatasetRow]], None]


@pytest.fixture
def mill(tmp_path: Path, clock: ManualClock, ids: SeededIds) -> Iterator[Any]:
    """What the step takes of a mill."""
    store = Store.open(f"sqlite:///{tmp_path / 't.db'}", clock=clock, block_key=block_key, ids=ids)
    settings = SimpleNamespace(
        lora_rank=8, lora_depth=0.5, choice_share=0.5, epochs=1, batch_size=1, learning_rate=1e-3
    )
    yield SimpleNamespace(
        store=store, clock=clock, settings=settings, base=None, model_dir=tmp_path, shelf=None, tell=lambda _: None,
        assessments=AssessmentDesk(store, Approvals(store, clock, ids, FourEyes()), clock, ids),
        rights_at_use=RightsAtUse(store, clock, ids),
    )  # fmt: skip
    store.close()


def begun(mill: Any, root: str) -> Turn:
    turn = turn_of(cast(Mill, mill), SCOPE, WINDOW)
    turn.step("dataset", root, lambda: {"root": root, "rows": 3})
    return turn


def trainer(monkeypatch: pytest.MonkeyPatch, during: Learned = lambda _: None, refuses: int = 0) -> list[list[str]]:
    """A trainer that says whose rows it was given, and cannot take the last ``refuses`` of them."""
    given: list[list[str]] = []

    def train(rows: Sequence[DatasetRow], *, still_allowed: Any, **_: Any) -> TrainedAdapter:
        during(rows)
        left = still_allowed(rows)
        given.append([row.subject for row in left])
        learned = sorted(row.digest() for row in left[: len(left) - refuses])
        from governance.records.base import digest_json

        ref = adapter(digest_json(learned))
        return TrainedAdapter(
            ref=ref, path=Path("adapters/1"), probe={}, metrics={}, rows=tuple(learned), dropped=len(rows) - len(left)
        )

    monkeypatch.setattr("pipelines.steps.training.sft.train", train)
    return given


def assessed(mill: Any) -> None:
    both = (DataCategory.COMMUNICATION, DataCategory.STAFF)
    until = mill.clock.now() + timedelta(days=9)
    with acts_as(Acting(THE_SERVICE, Role.SERVICE)):
        made = mill.assessments.add("acme", Purpose.TRAIN_WEIGHTS, both, document="d", until=until)
    mill.assessments.approve("acme", made.id, reason="d")


def test_training_does_not_start_without_an_assessment_and_starts_with_it(
    mill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = trainer(monkeypatch)
    root, _ = filled(mill.store)
    turn = begun(mill, root)
    found = training.adapter(mill, turn)
    assert (found["adapter"], given) == ("", [])
    assert "training did not start: acme: no approved, unexpired assessment" in found["reason"]
    assessed(mill)
    assert training.adapter(mill, turn)["dataset"] == root
    assert given == [[ANN, BEN, CAY]]


def test_a_row_whose_right_ends_right_before_training_drops_and_the_turn_goes_on(
    mill: Any, monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    root, _ = filled(mill.store)
    assessed(mill)
    clock.advance(timedelta(days=1))

    def withdraws(_: Sequence[DatasetRow]) -> None:
        mill.store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))

    given = trainer(monkeypatch, withdraws, refuses=1)
    turn = begun(mill, root)
    found = training.adapter(mill, turn)
    assert given == [[BEN, CAY]]
    version = mill.store.manifests.version(found["dataset"])
    assert version.exclusions == {"consent_withdrawn": 1, "rejected_by_trainer": 1}
    (use,) = mill.store.manifests.uses(kind=UseKind.TRAINING)
    assert (use.root, use.outcome, use.dropped) == (root, UseOutcome.DROPPED, {"consent_withdrawn": 1})
    made = Node(kind=NodeKind.ADAPTER, id=found["adapter"])
    assert mill.store.adapters.get(found["adapter"])[0].dataset_digest == found["dataset"]
    people = {one.id for one in mill.store.lineage.ancestors(made) if one.kind is NodeKind.SUBJECT}
    assert people == {f"acme/{BEN}"}
    assert turn_of(cast(Mill, mill), SCOPE, WINDOW).id == turn.id, "the withdrawal does not begin another turn"


def test_what_is_checked_beforehand_says_what_will_drop(mill: Any, clock: ManualClock) -> None:
    root, _ = filled(mill.store)
    turn = begun(mill, root)
    assert training.recheck_rights(mill, turn) == {"rows": 3, "denied": 0}
    mill.store.rights.add_consent(consent(ANN, status=ConsentStatus.WITHDRAWN, at=clock.now()))
    assert training.recheck_rights(mill, turn) == {"rows": 3, "denied": 1}


def test_the_demo_records_its_assessment_once(mill: Any) -> None:
    for _ in range(2):
        assess(mill, ["acme"])
    (found,) = mill.assessments.listed("acme")
    assert (found["state"], found["author"]) == ("approved", "tidemill")
    root, _ = filled(mill.store)
    assert training.refusals(mill, root) == ()
