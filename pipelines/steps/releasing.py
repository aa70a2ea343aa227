"""The end of a turn: registered in MLflow, promoted on a pass, the cycle closed with its outcome."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from governance.approvals import chain_of
from governance.errors import ApprovalMissing, Conflict
from governance.records.approval import Approval, ApprovedAct
from governance.records.cycle import CycleOutcome
from governance.records.gate import GateReport
from governance.records.manifest import UseKind
from pipelines.operations import ACTOR, champion, start_engine
from pipelines.steps.gating import NO_CANDIDATE
from pipelines.steps.rights import complete_rebuilds
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill
from serving.errors import PromotionRefused


def registration(mill: Mill, turn: Turn) -> Output:
    """Record the run and register the candidate."""
    report, verdict = turn.output("candidate"), turn.output("gate_report")

    def work() -> Output:
        if not report["changed"]:
            return {"run_id": "", "version": ""}
        dataset, evaluation = turn.output("dataset"), turn.output("evaluation")
        metrics = {
            "champion_success": evaluation["champion"],
            "candidate_success": evaluation["candidate"],
            "difference": verdict["difference"],
            "difference_low": verdict["interval"]["low"],
            "difference_high": verdict["interval"]["high"],
            "held_out_tasks": verdict["tasks"],
            "training_rows": dataset["rows"],
        }
        params = {
            "cycle": turn.id,
            "dataset": turn.output("adapter").get("dataset") or dataset["root"],
            "tasks": turn.output("tasks")["root"],
            "champion": report["champion"],
            "harness": report["harness"],
            "context": report["context"],
            "adapter": report["adapter"],
            "verdict": verdict["verdict"],
        }
        run_id = _record(mill, turn, report["release"], params, metrics)
        tags = {"cycle": turn.id, "verdict": verdict["verdict"]}
        version = mill.tracker.register_release(
            scope=turn.scope.name, release_digest=report["release"], run_id=run_id, tags=tags
        )
        return {"run_id": run_id, "version": version}

    return turn.step("registration", [report, verdict["verdict"]], work)


def _record(mill: Mill, turn: Turn, release: str, params: dict[str, str], metrics: dict[str, float]) -> str:
    """The run with the release's parts by digest and the dataset's manifest: no row, no person."""
    bundle = mill.store.releases.get(release)
    root = params["dataset"]
    with tempfile.TemporaryDirectory() as folder:
        files = {"release": bundle.plain(), "gate": turn.output("gate_report")}
        if root:
            files["dataset"] = mill.store.datasets.manifest(root).plain()
        paths: dict[str, Path] = {}
        for name, content in files.items():
            paths[name] = Path(folder) / f"{name}.json"
            paths[name].write_text(json.dumps(content, sort_keys=True, indent=1))
        return mill.tracker.record_run(
            experiment=turn.scope.name,
            key=f"{turn.id}:{release}",
            params=params,
            metrics=metrics,
            artifacts=paths,
        )


def promotion(mill: Mill, turn: Turn) -> Output:
    """Promote on a pass, and close the cycle either way."""
    report, verdict = turn.output("candidate"), turn.output("gate_report")

    def work() -> Output:
        output, outcome, reasons = _decide(mill, turn, report, verdict)
        if output["promoted"]:
            output["erasures_completed"] = complete_rebuilds(mill, turn.scope)
        turn.close(outcome, reasons)
        return {**output, "outcome": outcome.value, "reasons": list(reasons)}

    approval = _approval(mill, turn, report["release"])
    inputs = [report["release"], verdict["verdict"], *([approval.id] if approval else [])]
    return turn.step("promotion", inputs, work)


def _approval(mill: Mill, turn: Turn, release: str) -> Approval | None:
    """The approval of the release that stands: given after a step was blocked, it lets the step run again."""
    return mill.approvals.standing(chain_of(turn.scope.tenants), ApprovedAct.PROMOTION, release)


def _decide(
    mill: Mill, turn: Turn, report: Output, verdict: Output
) -> tuple[dict[str, Any], CycleOutcome, tuple[str, ...]]:
    if verdict["verdict"] == NO_CANDIDATE:
        return {"promoted": False}, CycleOutcome.NO_CHANGE, tuple(verdict["reasons"])
    current, version = champion(mill, turn.scope)
    if current.release.digest() == report["release"]:
        return {"promoted": True}, CycleOutcome.IMPROVED, ("was promoted before this step was recorded",)
    if verdict["verdict"] != "pass":
        reasons = (f"gate: {verdict['verdict']}", *verdict["reasons"])
        return {"promoted": False}, CycleOutcome.BLOCKED, reasons
    try:
        mill.approvals.require(chain_of(turn.scope.tenants), ApprovedAct.PROMOTION, report["release"])
    except ApprovalMissing as error:
        return {"promoted": False}, CycleOutcome.BLOCKED, (str(error),)
    start_engine(mill)
    bundle = mill.store.releases.get(report["release"])
    gate = GateReport.parse(verdict, f"gate report of cycle {turn.id}")
    try:
        done = mill.promoter.promote(
            turn.scope.name, bundle, version, f"cycle {turn.id}: gate passed", ACTOR, gate=gate
        )
    except (PromotionRefused, Conflict) as error:
        mill.rights_at_use.note(UseKind.PROMOTION, mill.rights_at_use.of_candidate(bundle))
        return {"promoted": False}, CycleOutcome.BLOCKED, (str(error),)
    rights = mill.rights_at_use.of_candidate(bundle)
    mill.rights_at_use.note(UseKind.PROMOTION, rights)
    output = {
        "rights": rights.outcome.value,
        "rebuild_by": rights.deadline.isoformat() if rights.deadline else "",
        "promoted": True,
        "version": done.deployment.version,
        "seconds": round(done.seconds, 3),
        "probe": done.probe.plain() if done.probe else {},
        "alias_projected": done.alias_projected,
        "unloaded": list(done.unloaded),
    }
    return output, CycleOutcome.IMPROVED, ("gate passed and the release serves",)
