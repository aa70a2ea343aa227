"""Promotion and rollback: the one way in which a scope gets another champion.

1. *Evidence first.* A promotion needs the gate report of exactly this candidate against exactly the champion that it
   replaces, with the verdict ``pass``. Two reasons need none: ``rollback``, and ``initial`` where there is no champion.
   A merged or otherwise changed artifact has another digest, so another release's report never covers it.
2. *Nothing is switched that does not serve.* The adapter is active, servable as trained, loaded under the name that
   holds its digest, and probed; rights are asked again; only then comes the switch.
3. *The switch is one compare-and-swap* in the deployment table. The slower of two promoters gets ``Conflict`` and has
   changed nothing. The tracker's alias follows; where it cannot, the deployment stands and ``reconcile`` repeats it.
4. *Rollback is instant*: the champion before this one stays loaded. It goes to the newest earlier release that is
   neither tainted nor made of a retired adapter, else to the bare base with the oldest harness and context.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from governance.errors import TidemillError
from governance.ports.clock import Clock
from governance.ports.tracker import Tracker
from governance.records.base import Record, UtcTime
from governance.records.gate import GateReport, GateVerdict
from governance.records.release import Alias, Deployment, ReleaseBundle
from serving import probe
from serving.compatibility import ServingLimits, problems
from serving.deployment import INITIAL, ROLLBACK, PromotionStore, standing
from serving.errors import AdapterIncompatible, ProbeFailed, PromotionRefused
from serving.vllm_admin import VllmAdmin

ADAPTER_PREFIX = "adapter-"

RightsCheck = Callable[[ReleaseBundle], Sequence[str]]
"""Reasons why the release's data may not be used now; empty when it may."""


class Promotion(Record):
    """What a promotion or rollback did."""

    deployment: Deployment
    probe: probe.ProbeResult | None
    """None for a release without an adapter, and for a rollback to an adapter that was still loaded."""
    unloaded: tuple[str, ...]
    alias_projected: bool
    seconds: float
    """From the call to the switch."""
    at: UtcTime


class Promoter:
    """Promotes and rolls back on one engine."""

    def __init__(
        self,
        store: PromotionStore,
        admin: VllmAdmin,
        tracker: Tracker,
        clock: Clock,
        *,
        scopes: Callable[[], Sequence[str]],
        rights_check: RightsCheck,
        limits: ServingLimits,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        """``scopes`` names every scope that this engine serves: their champions stay loaded."""
        self._store, self._admin, self._tracker, self._clock = store, admin, tracker, clock
        self._scopes, self._rights, self._limits = scopes, rights_check, limits
        self._stopwatch = stopwatch

    def promote(
        self,
        scope: str,
        bundle: ReleaseBundle,
        expected_version: int,
        reason: str,
        actor: str,
        *,
        gate: GateReport | None = None,
    ) -> Promotion:
        """Make ``bundle`` the champion of ``scope``.

        Raises:
            PromotionRefused: evidence, rights or taint forbid it.
            AdapterIncompatible: the engine cannot serve the adapter as trained.
            ProbeFailed: what is served is not what was trained.
            Conflict: another promoter was faster.

        """
        began = self._stopwatch()
        self._require_evidence(scope, bundle, reason, gate)
        return self._put_in_place(scope, bundle, expected_version, reason, actor, began=began)

    def rollback(self, scope: str, reason: str, actor: str) -> Promotion:
        """Go back to the newest earlier release that may serve.

        Raises:
            PromotionRefused: there is no champion, or nothing else to go back to.
            Conflict: the champion changed meanwhile.

        """
        began = self._stopwatch()
        current = self._store.deployments.current(scope)
        if current is None:
            raise PromotionRefused(f"{scope} has no champion to roll back")
        target = self.rollback_target(scope, allowed_now=True) or self._bare_base(scope, current)
        said = f"{ROLLBACK}: {reason}" if reason else ROLLBACK
        return self._put_in_place(scope, target, current.version, said, actor, began=began)

    def rollback_target(self, scope: str, *, allowed_now: bool = False) -> ReleaseBundle | None:
        """The newest earlier release that is untainted and whose adapter is active.

        ``allowed_now``: and whose data may be used at this moment.
        """
        tainted = self._store.releases.tainted()
        for digest in reversed(standing(self._store.deployments.history(scope))[:-1]):
            if digest in tainted:
                continue
            bundle = self._store.releases.get(digest)
            adapter = bundle.release.adapter
            active = adapter is None or self._store.adapters.state(adapter.content_digest) == "active"
            if active and not (allowed_now and self._rights(bundle)):
                return bundle
        return None

    def restore(self) -> tuple[str, ...]:
        """Load and probe what every scope needs, after the engine was started anew; returns the names loaded.

        Raises:
            PromotionRefused: a champion's adapter cannot be served any longer.

        """
        before = set(self._admin.adapters())
        for scope in self._scopes():
            current = self._store.deployments.current(scope)
            bundles = [] if current is None else [self._store.releases.get(current.release_digest)]
            for bundle in (*bundles, self.rollback_target(scope)):
                if bundle is not None:
                    self._serve_adapter(bundle)
        return tuple(sorted(set(self._admin.adapters()) - before))

    def reconcile(self, scope: str) -> bool:
        """Make the tracker's alias say what the deployment table says; False when the tracker cannot now."""
        current = self._store.deployments.current(scope)
        digest = current.release_digest if current is not None else None
        try:
            self._tracker.project_alias(scope=scope, alias=Alias.CHAMPION.value, release_digest=digest)
        except TidemillError:
            return False
        return True

    def _require_evidence(self, scope: str, bundle: ReleaseBundle, reason: str, gate: GateReport | None) -> None:
        current = self._store.deployments.current(scope)
        if reason.startswith(ROLLBACK) or (reason == INITIAL and current is None):
            return
        if gate is None:
            raise PromotionRefused(f"{scope}: {bundle.release.name} has no gate report")
        if gate.verdict is not GateVerdict.PASS:
            told = "; ".join(gate.reasons)
            raise PromotionRefused(f"{scope}: the gate says {gate.verdict.value} of {bundle.release.name}: {told}")
        champion = current.release_digest if current is not None else None
        if (gate.scope, gate.candidate, gate.champion) != (scope, bundle.release.digest(), champion):
            raise PromotionRefused(
                f"{scope}: the gate report compares {gate.candidate[:12]} with {gate.champion[:12]} in {gate.scope}, "
                f"and this would replace {(champion or 'nothing')[:12]} by {bundle.release.digest()[:12]}"
            )

    def _put_in_place(
        self, scope: str, bundle: ReleaseBundle, expected_version: int, reason: str, actor: str, *, began: float
    ) -> Promotion:
        self._require_whole(scope, bundle)
        try:
            result = self._serve_adapter(bundle)
            if denied := self._rights(bundle):
                raise PromotionRefused(f"{scope}: {bundle.release.name} may not be used now: {'; '.join(denied)}")
            digest = bundle.release.digest()
            deployment = self._store.deployments.switch(scope, expected_version, digest, reason, actor)
        except TidemillError:
            self._unload_unneeded()
            raise
        seconds = self._stopwatch() - began
        return Promotion(
            deployment=deployment,
            probe=result,
            alias_projected=self.reconcile(scope),
            unloaded=self._unload_unneeded(),
            seconds=seconds,
            at=self._clock.now(),
        )

    def _require_whole(self, scope: str, bundle: ReleaseBundle) -> None:
        release = bundle.release
        if (release.harness_digest, release.context_digest) != (bundle.harness.digest(), bundle.context.digest()):
            raise PromotionRefused(f"{scope}: {release.name} does not name the harness and context it comes with")
        if release.digest() in self._store.releases.tainted():
            raise PromotionRefused(f"{scope}: {release.name} is tainted and may not serve")

    def _serve_adapter(self, bundle: ReleaseBundle) -> probe.ProbeResult | None:
        """Load and probe the release's adapter; None where nothing had to be loaded."""
        adapter = bundle.release.adapter
        if adapter is None:
            if bundle.release.base.name not in self._admin.names():
                raise PromotionRefused(f"the engine does not serve the base {bundle.release.base.name}")
            return None
        if self._store.adapters.state(adapter.content_digest) != "active":
            raise PromotionRefused(f"{adapter.served_name} is retired")
        _, path, sheet = self._store.adapters.get(adapter.content_digest)
        folder = Path(path)
        if self._admin.adapters().get(adapter.served_name) == str(folder.resolve()) and self._is_kept(
            adapter.served_name
        ):
            return None
        if found := problems(folder, self._limits):
            raise AdapterIncompatible(f"{adapter.served_name}: {'; '.join(found)}")
        self._admin.load(adapter.served_name, folder)
        return self._probe(adapter.served_name, sheet)

    def _is_kept(self, served_name: str) -> bool:
        """Whether the name is loaded because it was probed before: it serves, or is what a rollback goes to."""
        return served_name in self._needed()

    def _probe(self, served_name: str, sheet: dict[str, Any]) -> probe.ProbeResult:
        result = probe.run(probe.ProbeSheet.read(sheet), served_name, self._admin.logprobs)
        if not result.passed:
            raise ProbeFailed(f"{served_name}: {result.reason}")
        return result

    def _needed(self) -> set[str]:
        """Served names of every scope's champion and rollback target."""
        bundles = []
        for scope in self._scopes():
            current = self._store.deployments.current(scope)
            if current is not None:
                bundles.append(self._store.releases.get(current.release_digest))
            target = self.rollback_target(scope)
            if target is not None:
                bundles.append(target)
        return {bundle.release.adapter.served_name for bundle in bundles if bundle.release.adapter is not None}

    def _unload_unneeded(self) -> tuple[str, ...]:
        """Unload every adapter of ours that no scope needs; a failure leaves it loaded, which harms nobody."""
        unloaded = []
        try:
            needed = self._needed()
            for name in sorted(self._admin.adapters()):
                if name.startswith(ADAPTER_PREFIX) and name not in needed:
                    self._admin.unload(name)
                    unloaded.append(name)
        except TidemillError:
            return tuple(unloaded)
        return tuple(unloaded)

    def _bare_base(self, scope: str, current: Deployment) -> ReleaseBundle:
        """The base without an adapter, in the oldest harness and context of the scope."""
        history = sorted(self._store.deployments.history(scope), key=lambda entry: entry.version)
        oldest = self._store.releases.get(history[0].release_digest)
        bundle = ReleaseBundle.of(oldest.release.base, None, oldest.harness, oldest.context)
        digest = bundle.release.digest()
        if digest == current.release_digest or digest in self._store.releases.tainted():
            raise PromotionRefused(f"{scope}: there is no earlier release that may serve, and the base is no way out")
        self._store.releases.put(bundle, oldest.release.digest(), "base of the scope, for a rollback")
        return bundle
