"""``tidemill ledger``."""

from __future__ import annotations

from datetime import datetime

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill ledger --tenant harbor --json")
@click.option("--tenant", help="Only this tenant.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only days from this one on (UTC).")
@reports
def ledger(tenant: str | None, since: datetime | None) -> Result:
    """Show what became of every received span, by tenant, day and reason; fails when a line does not balance.

    received = stored + updated + duplicate + rejected + quarantined, and quarantined = released + expired + waiting.
    """
    from pipelines.commands.person import known_tenant
    from pipelines.ledger import books, table
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        found = books(mill.store, tenant, since.date().isoformat() if since else "")
        if tenant is not None and not (found.lines or found.wrong):
            known_tenant(mill, tenant)  # one whose keys are revoked may have books still
        return table(found)
