"""Promotion and rollback: evidence first, one switch, nothing that does not serve, always a way back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import Conflict
from governance.records.gate import GateReport, GateVerdict, Interval
from governance.records.release import BaseModelRef, Deployment, ReleaseBundle
from governance.store import Store
from serving.compatibility import ServingLimits, problems
from serving.deployment import standing
from serving.errors import AdapterIncompatible, PromotionRefused
from serving.promotion import Promoter
from serving.vllm_admin import VllmAdmin
from tests.serving.alias_book import AliasBook
from tests.serving.conftest import Upstream
from tests.serving.shop_records import AT, CONTEXT, harness, write_adapter
from tests.support.clock import ManualClock

SCOPE = "shop@acme"


def passing(scope: str, champion: str, candidate: str, verdict: GateVerdict = GateVerdict.PASS) -> GateReport:
    return GateReport(
        scope=scope,
        champion=champion,
        candidate=candidate,
        verdict=verdict,
        tasks=40,
        errors=0,
        champion_success=0.5,
        candidate_success=0.8,
        difference=0.3,
        interval=Interval(low=0.1, high=0.5, confidence=0.95),
        p_value=0.01,
        method="paired",
        families=(),
        reasons=("40 tasks",),
        at=AT,
    )


def promoter(
    store: Store, admin: VllmAdmin, tracker: AliasBook, denied: Sequence[str] = (), scope: str = SCOPE
) -> Promoter:
    return Promoter(
        store,
        admin,
        tracker,
        ManualClock(),
        scopes=lambda: [scope],
        rights_check=lambda _: denied,
        limits=ServingLimits(),
    )


class Bench:
    """A scope with a base release as champion, and two adapter releases to promote."""

    def __init__(self, upstream: Upstream, admin: VllmAdmin, store: Store) -> None:
        self.upstream, self.admin, self.tracker, self.store = upstream, admin, AliasBook(), store
        self.denied: list[str] = []
        self.promoter = promoter(self.store, admin, self.tracker, self.denied)
        for name in ("alpha", "beta"):
            ref, folder, sheet = upstream.adapters[name]
            self.store.adapters.put(ref, str(folder), sheet)
        self.base = self.known(upstream.bundle(None))
        self.promoter.promote(SCOPE, self.base, 0, "initial", "tester")

    def known(self, bundle: ReleaseBundle) -> ReleaseBundle:
        self.store.releases.put(bundle, None, "test")
        return bundle

    def promote(self, bundle: ReleaseBundle, reason: str = "better") -> None:
        current = self.store.deployments.history(SCOPE)[-1]
        gate = passing(SCOPE, current.release_digest, bundle.release.digest())
        self.promoter.promote(SCOPE, self.known(bundle), current.version, reason, "tester", gate=gate)

    @property
    def champion(self) -> str:
        return self.store.deployments.history(SCOPE)[-1].release_digest

    def name(self, which: str) -> str:
        return self.upstream.adapters[which][0].served_name


@pytest.fixture
def bench(double: Upstream, store: Store) -> Iterator[Bench]:
    with VllmAdmin(double.url) as admin:
        yield Bench(double, admin, store)


def test_a_promotion_loads_probes_switches_and_projects(bench: Bench) -> None:
    alpha = bench.upstream.bundle("alpha")
    gate = passing(SCOPE, bench.champion, bench.known(alpha).release.digest())
    done = bench.promoter.promote(SCOPE, alpha, 1, "better", "tester", gate=gate)
    assert done.deployment.version == 2
    assert done.probe is not None
    assert done.probe.passed
    assert done.alias_projected
    assert done.seconds < 5
    assert bench.tracker.aliases == {(SCOPE, "champion"): alpha.release.digest()}
    assert set(bench.admin.adapters()) == {bench.name("alpha")}


@pytest.mark.parametrize("verdict", [GateVerdict.FAIL, GateVerdict.INCONCLUSIVE])
def test_no_verdict_but_pass_promotes(bench: Bench, verdict: GateVerdict) -> None:
    alpha = bench.known(bench.upstream.bundle("alpha"))
    gate = passing(SCOPE, bench.champion, alpha.release.digest(), verdict)
    with pytest.raises(PromotionRefused, match=verdict.value):
        bench.promoter.promote(SCOPE, alpha, 1, "better", "tester", gate=gate)
    with pytest.raises(PromotionRefused, match="no gate report"):
        bench.promoter.promote(SCOPE, alpha, 1, "better", "tester")
    with pytest.raises(PromotionRefused, match="no gate report"):
        bench.promoter.promote(SCOPE, alpha, 1, "initial", "tester")


def test_a_report_of_another_comparison_is_no_evidence(bench: Bench) -> None:
    """SRV-06: a merged artifact is another base, so another release: the adapter's report does not cover it."""
    alpha = bench.upstream.bundle("alpha")
    merged = ReleaseBundle.of(BaseModelRef(name="base", content_digest="c" * 64), None, alpha.harness, alpha.context)
    gate = passing(SCOPE, bench.champion, alpha.release.digest())
    with pytest.raises(PromotionRefused, match="compares"):
        bench.promoter.promote(SCOPE, merged, 1, "better", "tester", gate=gate)
    stale = passing(SCOPE, "0" * 64, alpha.release.digest())
    with pytest.raises(PromotionRefused, match="compares"):
        bench.promoter.promote(SCOPE, alpha, 1, "better", "tester", gate=stale)


def test_rights_and_taint_are_asked_at_promotion(bench: Bench) -> None:
    alpha = bench.upstream.bundle("alpha")
    bench.denied.append("consent_withdrawn: 3 rows")
    with pytest.raises(PromotionRefused, match="consent_withdrawn"):
        bench.promote(alpha)
    assert bench.admin.adapters() == {}, "what is not promoted does not stay loaded"
    bench.denied.clear()
    bench.store.releases.taint(alpha.release.digest(), "erasure")
    with pytest.raises(PromotionRefused, match="tainted"):
        bench.promote(alpha)
    beta = bench.upstream.bundle("beta")
    bench.store.adapters.retire(bench.upstream.adapters["beta"][0].content_digest, "erasure")
    with pytest.raises(PromotionRefused, match="retired"):
        bench.promote(beta)
    assert bench.champion == bench.base.release.digest()


def test_a_bundle_must_be_what_its_release_names(bench: Bench) -> None:
    alpha = bench.upstream.bundle("alpha")
    with pytest.raises(PromotionRefused, match="does not name"):
        bench.promote(alpha.model_copy(update={"harness": harness(max_steps=9)}))


def test_the_slower_promoter_gets_a_conflict(bench: Bench) -> None:
    """REG-01: every read gives one champion; of two promoters one wins and the other changes nothing."""
    alpha, beta = (bench.known(bench.upstream.bundle(name)) for name in ("alpha", "beta"))
    seen: set[str] = set()
    outcomes: list[str] = []
    start, done = threading.Barrier(2), threading.Event()

    def read() -> None:
        while not done.is_set():
            current = bench.store.deployments.current(SCOPE)
            seen.add(current.release_digest if current else "none")

    def promote(bundle: ReleaseBundle) -> None:
        gate = passing(SCOPE, bench.base.release.digest(), bundle.release.digest())
        start.wait()
        try:
            bench.promoter.promote(SCOPE, bundle, 1, "better", "tester", gate=gate)
            outcomes.append("won")
        except (Conflict, PromotionRefused) as error:
            outcomes.append(type(error).__name__)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=promote, args=(bundle,)) for bundle in (alpha, beta)]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert sorted(outcomes)[-1] == "won"
    assert outcomes.count("won") == 1
    assert "none" not in seen
    assert len(bench.store.deployments.history(SCOPE)) == 2
    with pytest.raises(Conflict):
        bench.store.deployments.switch(SCOPE, 1, "0" * 64, "late", "tester")


def test_rollback_is_instant_and_needs_no_gate(bench: Bench) -> None:
    """REG-03: history says what served; rollback goes to the release before, which is still loaded."""
    bench.promote(bench.upstream.bundle("alpha"))
    bench.promote(bench.upstream.bundle("beta"))
    assert set(bench.admin.adapters()) == {bench.name("alpha"), bench.name("beta")}
    done = bench.promoter.rollback(SCOPE, "complaints", "tester")
    assert bench.champion == bench.upstream.bundle("alpha").release.digest()
    assert (done.probe, done.unloaded) == (None, (bench.name("beta"),))
    assert done.seconds < 1
    assert done.deployment.reason == "rollback: complaints"
    assert bench.promoter.rollback(SCOPE, "", "tester").deployment.release_digest == bench.base.release.digest()
    with pytest.raises(PromotionRefused, match="no earlier"):
        bench.promoter.rollback(SCOPE, "", "tester")
    assert [entry.reason for entry in bench.store.deployments.history(SCOPE)] == [
        "initial",
        "better",
        "better",
        "rollback: complaints",
        "rollback",
    ]


def test_rollback_passes_over_what_may_not_serve(bench: Bench) -> None:
    bench.promote(bench.upstream.bundle("alpha"))
    bench.promote(bench.upstream.bundle("beta"))
    bench.promote(bench.upstream.bundle("beta", max_steps=7))
    bench.store.releases.taint(bench.upstream.bundle("beta").release.digest(), "erasure")
    bench.store.adapters.retire(bench.upstream.adapters["alpha"][0].content_digest, "erasure")
    bench.promoter.rollback(SCOPE, "", "tester")
    assert bench.champion == bench.base.release.digest()


def test_rollback_falls_back_to_the_bare_base(bench: Bench) -> None:
    with_adapter = bench.known(bench.upstream.bundle("alpha"))
    scope = "shop@other"
    promotions = promoter(bench.store, bench.admin, bench.tracker, scope=scope)
    promotions.promote(scope, with_adapter, 0, "initial", "tester")
    bench.store.releases.taint(with_adapter.release.digest(), "erasure")
    done = promotions.rollback(scope, "erasure", "tester")
    assert done.deployment.release_digest == bench.base.release.digest()
    assert bench.admin.adapters() == {}


def test_what_is_neither_champion_nor_way_back_is_unloaded(bench: Bench, tmp_path: Path) -> None:
    bench.promote(bench.upstream.bundle("alpha"))
    bench.promote(bench.upstream.bundle("beta"))
    bench.promote(bench.upstream.bundle(None, max_steps=9))
    assert set(bench.admin.adapters()) == {bench.name("beta")}
    foreign = tmp_path / "foreign"
    write_adapter(foreign, "foreign")
    bench.admin.load("somebody-elses", foreign)
    bench.promote(bench.upstream.bundle(None, max_steps=8))
    assert set(bench.admin.adapters()) == {"somebody-elses"}


def test_after_an_engine_restart_the_needed_adapters_come_back(bench: Bench) -> None:
    bench.promote(bench.upstream.bundle("alpha"))
    bench.promote(bench.upstream.bundle("beta"))
    for name in bench.admin.adapters():
        bench.admin.unload(name)
    assert set(bench.promoter.restore()) == {bench.name("alpha"), bench.name("beta")}
    assert bench.promoter.restore() == ()


def test_an_alias_that_cannot_follow_is_told_and_repeated(bench: Bench) -> None:
    bench.tracker.away = True
    bench.promote(bench.upstream.bundle("alpha"))
    assert bench.tracker.aliases[SCOPE, "champion"] == bench.base.release.digest()
    assert not bench.promoter.reconcile(SCOPE)
    bench.tracker.away = False
    assert bench.promoter.reconcile(SCOPE)
    assert bench.tracker.aliases[SCOPE, "champion"] == bench.champion


def test_a_base_that_is_not_served_is_refused(bench: Bench) -> None:
    other = ReleaseBundle.of(BaseModelRef(name="other", content_digest="c" * 64), None, harness(), CONTEXT)
    with pytest.raises(PromotionRefused, match="does not serve the base other"):
        bench.promote(other)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"modules_to_save": ["lm_head", "embed_tokens"]}, "merge it"),
        ({"use_rslora": True}, "use_rslora"),
        ({"use_dora": True}, "use_dora"),
        ({"rank_pattern": {"q_proj": 4}}, "rank_pattern"),
        ({"alpha_pattern": {"q_proj": 4}}, "alpha_pattern"),
        ({"r": 64}, "rank 64"),
        ({"r": None}, "rank None"),
        ({"target_modules": ["lm_head"]}, "lm_head"),
        ({"target_modules": ["q_proj", "gate_proj"]}, "gate_proj"),
        ({"target_modules": "all-linear"}, "pattern"),
        ({"bias": "all"}, "bias"),
        ({"peft_type": "IA3"}, "IA3"),
        ({"trainable_token_indices": [1]}, "trainable_token_indices"),
    ],
)
def test_what_cannot_be_served_is_found_before_any_step(tmp_path: Path, config: dict[str, object], said: str) -> None:
    """SRV-01 and SRV-04."""
    write_adapter(tmp_path, "x", **config)
    assert said in "; ".join(problems(tmp_path, ServingLimits()))


def test_reported_adapters_are_refused(cases_dir: Path, bench: Bench, tmp_path: Path) -> None:
    reports = {
        report["id"]: report["input"]
        for report in map(json.loads, (cases_dir / "bug_reports.jsonl").read_text().splitlines())
    }
    scaled = {"r": reports["SRV-04"]["r"], "use_rslora": reports["SRV-04"]["use_rslora"]}
    for config in (reports["SRV-01"]["adapter_config"], scaled):
        ref = write_adapter(tmp_path, "y", **config)
        bench.store.adapters.put(ref, str(tmp_path), {})
        with pytest.raises(AdapterIncompatible):
            bench.promote(ReleaseBundle.of(bench.upstream.base, ref, harness(), CONTEXT))
        assert bench.admin.adapters() == {}


def test_a_good_adapter_and_unreadable_ones(tmp_path: Path) -> None:
    write_adapter(tmp_path, "x")
    assert problems(tmp_path, ServingLimits()) == ()
    for broken in (b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0[]", b"\x02\0\0\0\0\0\0\0{}"):
        (tmp_path / "adapter_model.safetensors").write_bytes(broken)
        assert problems(tmp_path, ServingLimits())
    (tmp_path / "adapter_config.json").write_text("[]")
    assert problems(tmp_path, ServingLimits())
    assert problems(tmp_path / "nowhere", ServingLimits())


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), st.data())
def test_rolling_back_again_and_again_ends_at_the_first(names: list[str], data: st.DataObject) -> None:
    history: list[Deployment] = []

    def add(digest: str, reason: str) -> None:
        entry = Deployment(
            scope=SCOPE, version=len(history) + 1, release_digest=digest * 64, reason=reason, actor="t", at=AT
        )
        history.append(entry)

    for name in names:
        add(name, "better")
        if data.draw(st.booleans()) and len(standing(history)) > 1:
            add(standing(history)[-2][0], "rollback")
    assert standing(history)[-1] == history[-1].release_digest
    steps = 0
    while len(standing(history)) > 1:
        add(standing(history)[-2][0], "rollback: again")
        steps += 1
        assert steps <= len(names)
    assert standing(history) == [names[0] * 64]
