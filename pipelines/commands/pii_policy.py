"""``tidemill pii policy``: what masking does for a tenant now."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill pii policy --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose policy it is.")
@reports
def policy(tenant: str) -> Result:
    """Say what each type of finding leads to, where thresholds differ, and how many values are listed."""
    from governance.masking.entity_types import known_types
    from governance.records.masking_policy import Action
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        held = mill.policies.policy(known_tenant(mill, tenant))
    types = sorted(known_types())
    return {
        "tenant": tenant,
        "version": held.version,
        **{action.value: [name for name in types if held.action(name) is action] for action in Action},
        "thresholds": dict(sorted(held.thresholds.items())),
        "allow": len(held.allow),
        "deny": len(held.deny),
    }
