"""The demo's last words in the terminal: one table of what was measured."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any


def show(summary: Mapping[str, Any]) -> str:
    """The table as text."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="One turn of the loop", show_header=False, title_justify="left")
    for name, value in rows(summary).items():
        table.add_row(name, value)
    out = io.StringIO()
    Console(file=out, width=110).print(table)
    return out.getvalue()


def rows(summary: Mapping[str, Any]) -> dict[str, str]:
    """Name to value, in the order of the loop."""
    sessions, gate = summary["sessions"], summary["evaluation"]
    dataset = next(row for row in summary["rows"] if row["step"] == "runs trained on")
    found = {
        "sessions": f"{sessions['total']} ({sessions['real']} by the real champion, {sessions['simulated']} simulated)",
        "ledger": f"{sum(line['received'] for line in summary['ledger'])} spans, "
        + ("balances" if all(line["balances"] for line in summary["ledger"]) else "DOES NOT BALANCE"),
        "levers": ", ".join(f"{one['lever']}: {one['pattern']}" for one in summary["proposals"]) or "none",
        "trained on": f"{dataset['kept']} of {dataset['considered']} runs; left out: {_reasons(dataset['excluded'])}",
        "held-out success": f"{gate['champion_success']:.1%} -> {gate['candidate_success']:.1%} "
        f"on {gate['tasks']} paired tasks",
        "paired difference": f"{gate['difference']:+.3f}, 95% interval {gate['low']:+.3f} to {gate['high']:+.3f}",
        "gate": gate["verdict"],
        "promoted": str(summary["release"]["promoted"]),
        "probe": str(summary["release"]["probe"]),
    }
    for arm in summary["arms"]:
        found[arm["name"]] = f"{arm['difference']:+.3f} ({arm['low']:+.3f} to {arm['high']:+.3f})"
    if summary["erasure"]:
        found |= {name: str(value) for name, value in summary["erasure"]["facts"].items()}
    found["time"] = f"{sum(row['seconds'] for row in summary['steps']):.0f} s in steps"
    if "report" in summary:
        found["report"] = str(summary["report"])
    return found


def _reasons(excluded: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in excluded.items()) or "none"
