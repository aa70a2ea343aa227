"""A person leaves: everything made from their data ends in a named state, and everyone else's stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.errors import NotFound, PurposeDenied, RightsError
from governance.records.dataset import Exclusion
from governance.records.erasure import ArtifactState
from governance.records.lineage import NodeKind
from governance.records.review import ReviewItem, ReviewKind
from governance.records.rights import Basis, Purpose, Suppression
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from tests.governance.store_records import (
    T0,
    T1,
    adapter,
    bundle,
    consents,
    contract,
    fact,
    grade,
    manifest,
    pattern,
    person,
    proposal,
    row,
    signal,
    span,
    task,
    trace_id,
    trajectory,
    world,
)
from tests.governance.store_workers import latest

DAY = timedelta(days=1)
ALICE, BOB = person(0xA11CE), person(0xB0B)


def fill(store: Store) -> str:
    """A week with Alice and Bob in everything; the release that learned from both."""
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    store.rights.add_consents(consents(ALICE) + consents(BOB))
    runs = [trajectory(n, subject=who) for n, who in ((1, ALICE), (2, BOB))]
    spans = [span(n, k, subject=UNKNOWN_SUBJECT if k else who) for n, who in ((1, ALICE), (2, BOB)) for k in (0, 1)]
    store.spans.merge(spans, latest)
    store.trajectories.put_all(runs)
    store.signals.put_all([signal(run) for run in runs])
    ref = store.worlds.put(*world(ALICE, BOB))
    store.patterns.put_all("c1", [pattern("both", runs, quote="O-1", other="O-2"), pattern("hers", runs[:1])])
    store.proposals.put_all("c1", [proposal("both", fact("both")), proposal("hers", fact("hers"))])
    tasks = [task(run, ref.masked_digest) for run in runs]
    store.tasks.put_all("c1", tasks)
    verdict = store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", ALICE, T1)
    rows = [row(run, verdict) for run in runs]
    made = manifest(rows)
    left_out = [Exclusion(tenant_id="acme", trajectory_id=run.id, reason="held_out") for run in runs]
    store.datasets.put(made, rows, left_out)
    store.adapters.put(adapter(made.root), "adapters/1", {})
    release = bundle(weights=adapter(made.root), facts=(fact("both"), fact("hers")))
    store.releases.put(release, None, "cycle c1")
    for item in tasks:
        store.grades.put("c1", "candidate", item.digest(), *grade(item, release.release.digest()))
    return made.root


def test_everything_of_hers_goes_and_his_stays(store: Store) -> None:
    root = fill(store)
    erasable = store.erasable()
    assert erasable.name == "store"
    assert erasable.claims == frozenset(store.tables())
    assert erasable.count("acme", ALICE) > erasable.count("acme", BOB) > 10
    before = erasable.count("acme", BOB)
    artifacts = erasable.erase("acme", ALICE)
    states = {(item.node.kind, item.state) for item in artifacts}
    assert {
        (NodeKind.TRAJECTORY, ArtifactState.DELETED),
        (NodeKind.SIGNAL, ArtifactState.DELETED),
        (NodeKind.TASK, ArtifactState.DELETED),
        (NodeKind.DATASET_ROW, ArtifactState.DELETED),
        (NodeKind.DATASET, ArtifactState.PENDING_REBUILD),
        (NodeKind.ADAPTER, ArtifactState.RETIRED),
        (NodeKind.RELEASE, ArtifactState.PENDING_REBUILD),
        (NodeKind.WORLD, ArtifactState.REBUILT_WITHOUT),
        (NodeKind.PATTERN, ArtifactState.REBUILT_WITHOUT),
        (NodeKind.PATTERN, ArtifactState.DELETED),
        (NodeKind.PROPOSAL, ArtifactState.DELETED),
        (NodeKind.FACT, ArtifactState.PENDING_REBUILD),
        (NodeKind.SUBJECT, ArtifactState.DELETED),
    } == states
    assert erasable.count("acme", ALICE) == 0
    assert erasable.count("acme", BOB) == before
    assert erasable.erase("acme", ALICE) == ()
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == []
    assert len(store.spans.trace("acme", trace_id(2), Purpose.COMPLY)) == 2
    assert [r.subject for r in store.datasets.rows(root, Purpose.TRAIN_WEIGHTS)] == [BOB]
    assert len(store.datasets.manifest(root).rows) == 2
    assert [e.trajectory_id for e in store.datasets.exclusions(root)] == [trajectory(2, subject=BOB).id]
    assert store.adapters.state(adapter(root).content_digest) == "retired"
    release = store.releases.list()[0].release.digest()
    assert store.releases.tainted() == {release}
    assert [g.task_digest for g in store.grades.list(release)] == [
        t.digest() for t in store.tasks.list("c1", Purpose.COMPLY).tasks
    ]


def test_a_pattern_goes_on_without_her_words(store: Store) -> None:
    fill(store)
    store.erasable().erase("acme", ALICE)
    (kept,) = store.patterns.list("c1", Purpose.DEBUG)
    his = trajectory(2, subject=BOB).id
    assert (kept.key, kept.trajectory_ids, kept.subjects) == ("both", (his,), 1)
    assert kept.evidence == {"count": 2, "trajectories": [his], "other": "O-2"}
    assert [p.pattern_key for p in store.proposals.list("c1", Purpose.DEBUG)] == ["both"]


def test_a_fact_that_others_ask_for_too_keeps_its_release_clean(store: Store) -> None:
    runs = [trajectory(n, subject=who) for n, who in ((1, ALICE), (2, BOB))]
    store.trajectories.put_all(runs)
    for cycle, run in zip(("c1", "c2"), runs, strict=True):
        store.patterns.put_all(cycle, [pattern("window", [run])])
        store.proposals.put_all(cycle, [proposal("window", fact())])
    store.releases.put(bundle(facts=(fact(),)), None, "context")
    store.erasable().erase("acme", ALICE)
    assert store.releases.tainted() == set()
    store.erasable().erase("acme", BOB)
    assert len(store.releases.tainted()) == 1


def test_a_world_is_replaced_under_its_source_and_his_tasks_still_run(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    ref, made, index = world(ALICE, BOB)
    assert store.worlds.put(ref, made, index) == store.worlds.put(ref, made, index) == ref
    assert store.worlds.get(ref.masked_digest, Purpose.EVALUATE) == made
    store.erasable().erase("acme", ALICE)
    found = store.worlds.by_source("acme", ref.source_digest)
    assert found is not None
    assert found.masked_digest != ref.masked_digest
    assert store.worlds.refs("acme") == (found,)
    for digest in (ref.masked_digest, found.masked_digest):
        left = store.worlds.get(digest, Purpose.EVALUATE)
        assert [r["id"] for r in left.tables["customers"]] == [index[1].key]
        assert left.digest() == found.masked_digest
    store.erasable().erase("acme", BOB)
    assert store.worlds.get(ref.masked_digest, Purpose.EVALUATE).tables["customers"] == ()


def test_a_world_is_read_without_the_rows_that_the_purpose_may_not_use(store: Store) -> None:
    ref, made, index = world(ALICE, BOB)
    store.worlds.put(ref, made, index)
    with pytest.raises(PurposeDenied, match="no_contract"):
        store.worlds.get(ref.masked_digest, Purpose.EVALUATE)
    store.rights.add_contract(contract())
    store.rights.add_consents(consents(BOB))
    assert len(store.worlds.get(ref.masked_digest, Purpose.EVALUATE).tables["customers"]) == 1
    assert store.worlds.get(ref.masked_digest, Purpose.COMPLY) == made
    with pytest.raises(NotFound):
        store.worlds.get("0" * 64, Purpose.COMPLY)
    assert store.worlds.by_source("acme", "0" * 64) is None


def test_a_suppressed_persons_rows_never_enter_a_world(store: Store) -> None:
    store.rights.suppress(Suppression(tenant_id="acme", subject=ALICE, since=T1, request_id="1"))
    ref, made, index = world(ALICE, BOB)
    stored = store.worlds.put(ref, made, index)
    assert stored.masked_digest != ref.masked_digest
    assert len(store.worlds.get(stored.masked_digest, Purpose.COMPLY).tables["customers"]) == 1
    assert store.erasable().count("acme", ALICE) == 0


def test_a_person_who_is_named_by_others_is_found_by_mention(store: Store) -> None:
    named = "mention-of-carol"
    store.spans.merge(
        [span(1, 0, subject=BOB, mentions=(named,)), span(1, 1, subject=BOB), span(2, 0, subject=BOB)], latest
    )
    store.trajectories.put(trajectory(1, subject=BOB))
    assert store.erasable().count("acme", named) > 0
    store.erasable().erase("acme", named)
    assert store.erasable().count("acme", named) == 0
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == []
    assert len(store.spans.trace("acme", trace_id(2), Purpose.COMPLY)) == 1


def item(number: int, subject: str) -> tuple[ReviewItem, bytes]:
    """A sealed text of a trace."""
    place = {"trace_id": trace_id(number), "span_id": f"{number:016x}", "spots": (), "since": T0}
    held = {"id": f"{number}/{subject}", "tenant_id": "acme", "kind": ReviewKind.SAMPLE, "subject": subject}
    return ReviewItem.model_validate(held | place | {"expires_at": T0 + 1000 * DAY}), b"sealed"


def test_a_sealed_text_goes_with_the_trace_that_names_the_person(store: Store) -> None:
    named = "mention-of-carol"
    store.spans.merge([span(1, 0, subject=BOB, mentions=(named,)), span(2, 0, subject=BOB)], latest)
    store.reviews.put([item(1, BOB), item(1, UNKNOWN_SUBJECT), item(2, BOB)])
    before = store.erasable().count("acme", named)
    made = store.erasable().erase("acme", named)
    assert [one.trace_id for one in store.reviews.list()] == [trace_id(2)]
    assert any("2 texts to review" in one.detail for one in made)
    assert (before >= 3, store.erasable().count("acme", named)) == (True, 0)


def test_nothing_is_asked_about_a_person_who_was_erased(store: Store) -> None:
    store.rights.suppress(Suppression(tenant_id="acme", subject=ALICE, since=T0, request_id="r"))
    store.reviews.put([item(1, ALICE), item(1, BOB)])
    assert [one.subject for one in store.reviews.list()] == [BOB]
    assert store.erasable().count("acme", ALICE) == 0


def test_tenants_do_not_touch_each_other(store: Store) -> None:
    for tenant in ("acme", "bolt"):
        store.trajectories.put(trajectory(1, subject=ALICE, tenant=tenant))
    store.erasable().erase("acme", ALICE)
    assert store.erasable().count("bolt", ALICE) > 0


def test_nobody_is_the_unknown_subject(store: Store) -> None:
    with pytest.raises(RightsError, match="unknown"):
        store.erasable().erase("acme", UNKNOWN_SUBJECT)
    assert store.erasable().erase("acme", person(404)) == ()


def test_a_dataset_row_is_judged_again_at_each_read(store: Store) -> None:
    root = fill(store)
    store.rights.suppress(Suppression(tenant_id="acme", subject=ALICE, since=T1, request_id="1"))
    assert [r.subject for r in store.datasets.rows(root, Purpose.TRAIN_WEIGHTS)] == [BOB]
    found = store.tasks.list("c1", Purpose.EVALUATE)
    assert [t.subject for t in found.tasks] == [BOB]
    assert [e.reason for e in found.excluded] == ["suppressed"]
    assert [p.trajectory_ids for p in store.patterns.list("c1", Purpose.DEBUG)] == [(trajectory(2, subject=BOB).id,)]
    with pytest.raises(NotFound):
        store.datasets.manifest("0" * 64)


def test_a_grade_needs_its_task_and_a_rollout_its_purpose(store: Store) -> None:
    fill(store)
    his, hers = (task(trajectory(n, subject=s), world(ALICE, BOB)[0].masked_digest) for n, s in ((2, BOB), (1, ALICE)))
    release = store.releases.list()[0].release.digest()
    assert store.grades.get(release, his.digest()) == grade(his, release)[0]
    assert store.grades.get(release, "0" * 64) is None
    assert store.grades.rollout(release, his.digest(), Purpose.EVALUATE) == grade(his, release)[1]
    store.rights.suppress(Suppression(tenant_id="acme", subject=ALICE, since=T0, request_id="1"))
    for read in (
        lambda: store.grades.rollout(release, hers.digest(), Purpose.EVALUATE),
        lambda: store.tasks.get(hers.digest(), Purpose.EVALUATE),
    ):
        with pytest.raises(PurposeDenied):
            read()
    assert store.tasks.get(his.digest(), Purpose.EVALUATE) == his
    for read in (
        lambda: store.tasks.get("0" * 64, Purpose.COMPLY),
        lambda: store.grades.rollout(release, "0" * 64, Purpose.COMPLY),
    ):
        with pytest.raises(NotFound):
            read()
    with pytest.raises(NotFound, match="to grade"):
        store.grades.put("c1", "champion", "0" * 64, *grade(his, release))
