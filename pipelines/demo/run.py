"""The demo from an empty folder to the report; interrupted, it goes on with the stage that was not finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from governance.ports.product import DemoProduct
from governance.records.rights import Purpose
from pipelines.demo.ablation import ablate
from pipelines.demo.assessment import assess
from pipelines.demo.play import Week
from pipelines.demo.stages import Stages
from pipelines.demo.summary import summarise
from pipelines.errors import StepError
from pipelines.loop import run_turn
from pipelines.operations import bootstrap, main_scope, record_consents, start_serving, turn_of
from pipelines.product import load_demo_product
from pipelines.report.render import write
from pipelines.steps.rights import erase_subject
from pipelines.turn import Turn, Window
from pipelines.wiring import Mill


class Demo:
    """One demo in one data home."""

    def __init__(self, mill: Mill, tell: Callable[[str], None]) -> None:
        """The product is the one that the data home was made for."""
        self._mill, self._tell = mill, tell
        self._product: DemoProduct = load_demo_product(mill.settings)
        self._stages = Stages(mill, tell)
        self._window = Window(*self._product.span)

    def run(self, *, ablation: bool) -> dict[str, Any]:
        """Run every stage that is not done, and return the summary."""
        with self._mill.narrate(self._tell):
            self._stages.run("prepare", self.prepare)
            self._serve()
            self._stages.run("production week", self._play)
            first = self._stages.run("turn of the loop", self._turn)
            left = self._stages.run("a customer leaves", lambda: self._leave(first["cycle"]))
            second = self._stages.run("turn without them", lambda: self._turn_without(left))
            arms = self._stages.run("ablation", lambda: ablate(self._mill, self._turn_of())) if ablation else {}
        cycles = {"first": first["cycle"], "second": second["cycle"]}
        summary = summarise(self._mill, self._product, cycles, arms.get("arms", []))
        report = write(summary, self._mill.settings.home / "report" / "index.html")
        return {**summary, "report": str(report)}

    def prepare(self) -> dict[str, Any]:
        """Record contracts and consents, prepare the base, deploy the first champion."""
        bootstrap(self._mill, self._tell)
        consents = record_consents(self._mill, self._product.consents())
        assess(self._mill, self._product.tenants)
        return {"base": self._mill.base.name, "consent_events": consents, "tenants": list(self._product.tenants)}

    def _serve(self) -> None:
        """Services do not outlive a reboot, so this is asked each time."""
        self._tell("== services")
        start_serving(self._mill, self._tell)

    def _play(self) -> dict[str, Any]:
        return Week(self._mill, self._product).play()

    def _turn_of(self) -> Turn:
        return turn_of(self._mill, main_scope(self._mill), self._window)

    def _turn(self) -> dict[str, Any]:
        cycle = run_turn(self._mill, main_scope(self._mill), self._window)
        if cycle.outcome.value == "failed":
            raise StepError(f"cycle {cycle.id} failed: {'; '.join(cycle.reasons)}")
        return {"cycle": cycle.id, "outcome": cycle.outcome.value, "reasons": list(cycle.reasons)}

    def _leave(self, cycle_id: str) -> dict[str, Any]:
        """A customer whose words the adapter learned from withdraws; none where nothing was learned."""
        leaving = self._someone_learned_from(cycle_id)
        if leaving is None:
            return {"left": False}
        tenant, raw_id = leaving
        return {"left": True, **erase_subject(self._mill, tenant, raw_id, self._tell)}

    def _someone_learned_from(self, cycle_id: str) -> tuple[str, str] | None:
        reports = {one.step: one.output for one in self._mill.store.steps.list(cycle_id)}
        root = reports["dataset"]["root"]
        if not root:
            return None
        learned = {(row.tenant_id, row.subject) for row in self._mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS)}
        people = sorted(
            (one.request.tenant_id, one.request.user_id) for one in self._product.week() if one.request.user_id
        )
        return next((one for one in people if (one[0], self._mill.door.subject(*one)) in learned), None)

    def _turn_without(self, left: dict[str, Any]) -> dict[str, Any]:
        if not left["left"]:
            return {"cycle": "", "outcome": "not needed", "reasons": ["nobody was learned from"]}
        done = self._turn()
        return {**done, "completed": self._turn_of().output("promotion").get("erasures_completed", [])}
