"""The summary of a demo: every number of the report, read from the store and never written by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from governance.ports.product import DemoProduct
from governance.records.ledger import Fate, LedgerLine
from governance.records.rights import Purpose
from pipelines.demo.stages import DEMO
from pipelines.operations import main_scope
from pipelines.product import chosen
from pipelines.wiring import Mill

Output = dict[str, Any]
EMPTY_EVALUATION: Output = {
    "champion_success": 0.0, "candidate_success": 0.0, "difference": 0.0, "low": 0.0, "high": 0.0, "tasks": 0,
    "p_value": 1.0, "verdict": "no_candidate", "method": "nothing was compared", "reasons": [], "families": [],
}  # fmt: skip


def summarise(mill: Mill, product: DemoProduct, cycles: Mapping[str, str], arms: Sequence[Output]) -> Output:
    """Everything that the report and the terminal's table show."""
    demo = {one.step: one for one in mill.store.steps.list(DEMO)}
    first = _steps(mill, cycles["first"])
    second = _steps(mill, cycles["second"]) if cycles["second"] else {}
    scope = main_scope(mill)
    start, end = product.span
    week = demo["production week"].output
    return {
        "agent": product.agent_name,
        "scope": scope.name,
        "window": f"{start.date()} to {(end - timedelta(days=1)).date()}",
        "troubles": sorted(product.troubles),
        "seed": _option(mill, "seed"),
        "sessions": {"total": week["sessions"], "real": week["real"], "simulated": week["simulated"]},
        "week": week,
        "days": _days(mill, product),
        "ledger": [_line(line) for line in mill.store.ledger.lines()],
        "rows": _rows(first),
        "patterns": first["patterns"]["patterns"],
        "proposals": [*first["proposals"]["proposals"], *first["adapter"].get("proposals", [])],
        "evaluation": _evaluation(first["gate_report"]),
        "rebuilt": _evaluation(second["gate_report"]) if second else None,
        "arms": list(arms),
        "release": _release(first, second),
        "digests": {"worlds": first["worlds"]["worlds"], "dataset": first["dataset"]["root"],
                    "harness": first["candidate"]["harness"], "context": first["candidate"]["context"],
                    "tasks": first["tasks"]["root"]},
        "cycle": {"outcome": mill.store.cycles.get(cycles["first"]).outcome.value},
        "erasure": _erasure(demo["a customer leaves"].output, second, demo["turn without them"].output),
        "deployments": [
            {"version": one.version, "release": one.release_digest[:12], "reason": one.reason, "at": one.at.isoformat()}
            for one in mill.store.deployments.history(scope.name)
        ],
        "steps": _times(mill, demo, cycles),
    }  # fmt: skip


def _option(mill: Mill, name: str) -> Any:
    return chosen(mill.settings)["options"].get(name)


def _steps(mill: Mill, cycle_id: str) -> dict[str, Output]:
    """The newest result of each step of a cycle."""
    found = sorted(mill.store.steps.list(cycle_id), key=lambda result: result.at)
    return {one.step: one.output for one in found}


def _times(mill: Mill, demo: Mapping[str, Any], cycles: Mapping[str, str]) -> list[Output]:
    rows = [{"step": name, "seconds": one.seconds} for name, one in demo.items() if not name.startswith("turn")]
    for which, cycle_id in cycles.items():
        if cycle_id:
            rows += [
                {"step": f"{which}: {one.step}", "seconds": one.seconds} for one in mill.store.steps.list(cycle_id)
            ]
    return [row for row in rows if row["seconds"] >= 0.05]


def _days(mill: Mill, product: DemoProduct) -> list[Output]:
    start, end = product.span
    found = mill.store.trajectories.list(Purpose.DEBUG, product.tenants, start, end).rows
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        counts[one.started_at.date().isoformat()][one.outcome.value] += 1
    return [
        {"day": day, **{name: tally.get(name, 0) for name in ("success", "failure", "unknown")}}
        for day, tally in sorted(counts.items())
    ]


def _line(line: LedgerLine) -> Output:
    fates = {fate.value: sum(line.fates.get(fate, {}).values()) for fate in Fate}
    return {
        "tenant": line.tenant_id,
        "day": line.day,
        "received": line.received,
        **fates,
        "withheld": line.withheld,
        "balances": line.balances,
    }


def _rows(steps: Mapping[str, Output]) -> list[Output]:
    names = {"patterns": "failures routed", "tasks": "tasks admitted", "dataset": "runs trained on"}
    return [
        {"step": told, **{key: steps[name][key] for key in ("considered", "kept", "excluded")}}
        for name, told in names.items()
    ]


def _evaluation(report: Output) -> Output:
    if "interval" not in report:
        return {**EMPTY_EVALUATION, "reasons": report["reasons"]}
    return {
        **{key: report[key] for key in EMPTY_EVALUATION if key in report},
        "low": report["interval"]["low"],
        "high": report["interval"]["high"],
    }


def _release(first: Mapping[str, Output], second: Mapping[str, Output]) -> Output:
    report, promoted = first["candidate"], first["promotion"]
    shown = {
        "candidate": report["release"],
        "adapter": report["adapter"] or "none",
        "harness": report["harness"],
        "context": report["context"],
        "dataset": first["dataset"]["root"] or "none",
        "MLflow run": first["registration"]["run_id"] or "none",
        "promoted": f"yes, in {promoted.get('seconds', 0):.1f} s" if promoted["promoted"] else "no",
        "probe": promoted.get("probe", {}).get("reason", "no adapter to prove"),
    }
    if second:
        shown["rebuilt release"] = second["candidate"]["release"]
    return shown


def _erasure(left: Output, second: Mapping[str, Output], after: Output) -> Output | None:
    if not left["left"]:
        return None
    facts = {
        "tainted releases": ", ".join(digest[:12] for digest in left["tainted_releases"]) or "none",
        "rolled back": "; ".join(map(_rolled_back, left["rollbacks"])) or "no",
        "found by the rescan": left["remaining"],
    }
    if second:
        gate = _evaluation(second["gate_report"])
        facts["rebuilt without them"] = second["candidate"]["release"]
        facts["gate of the rebuilt release"] = (
            f"{gate['verdict']}: {gate['difference']:+.3f} ({gate['low']:+.3f} to {gate['high']:+.3f})"
        )
    final = after.get("completed") or []
    return {"artifacts": final[-1]["artifacts"] if final else left["artifacts"], "facts": facts}


def _rolled_back(one: Output) -> str:
    release = one["release"][:12]
    return f"{release} suspended instead" if "suspended" in one else f"{release} in {one['seconds']} s"
