"""``tidemill ledger``."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill ledger --json")
@reports
def ledger() -> Result:
    """Show what became of every received span, by tenant and day; fails when a line does not balance."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        lines = mill.store.ledger.lines()
    rows = {
        f"{line.tenant_id} {line.day}": {
            "received": line.received,
            **{fate.value: reasons for fate, reasons in line.fates.items()},
            "withheld": line.withheld,
            "balances": line.balances,
        }
        for line in lines
    }
    return {**rows, "lines": len(lines), "ok": all(line.balances for line in lines)}
