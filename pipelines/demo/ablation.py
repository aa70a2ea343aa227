"""The ablation: each lever alone against the champion, on the same held-out tasks as all together.

An arm is a whole release like any other: the champion with one part replaced by the candidate's. A lever that was not
proposed leaves the champion as it was, so its arm is the champion by digest and its difference is zero by identity.
"""

from __future__ import annotations

from typing import Any

from governance.records.release import ReleaseBundle
from pipelines.steps.gating import compared, held_out, run_arm
from pipelines.turn import Turn
from pipelines.wiring import Mill


def ablate(mill: Mill, turn: Turn) -> dict[str, Any]:
    """Run context only, harness only, weights only; compare each, and all together, with the champion."""
    report = turn.output("candidate")
    first = mill.store.releases.get(report["champion"])
    last = mill.store.releases.get(report["release"])
    base, adapter = first.release.base, last.release.adapter
    arms = {
        "context only": ReleaseBundle.of(base, first.release.adapter, first.harness, last.context),
        "harness only": ReleaseBundle.of(base, first.release.adapter, last.harness, first.context),
        "weights only": ReleaseBundle.of(base, adapter, first.harness, first.context),
        "all levers": last,
    }
    chosen = held_out(mill, turn)
    rows = []
    for name, bundle in arms.items():
        digest = bundle.release.digest()
        if digest == report["champion"]:
            rows.append(unchanged(name))
            continue
        mill.store.releases.put(bundle, report["champion"], f"arm of the ablation: {name}")
        run_arm(mill, turn, bundle, name, chosen)
        made = compared(mill, turn, report["champion"], digest)
        rows.append(
            {
                "name": name,
                "success": made.candidate_success,
                "difference": made.difference,
                "low": made.interval.low,
                "high": made.interval.high,
                "verdict": made.verdict.value,
                "families": {one.family: [one.champion, one.candidate, one.tasks] for one in made.families},
            }
        )
    return {"arms": rows, "tasks": len(chosen)}


def unchanged(name: str) -> dict[str, Any]:
    """An arm whose lever was not proposed."""
    return {"name": f"{name} (not proposed)", "success": None, "difference": 0.0, "low": 0.0, "high": 0.0,
            "verdict": "no_candidate", "families": {}}  # fmt: skip
