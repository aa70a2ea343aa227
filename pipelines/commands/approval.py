"""``tidemill approval``: another person says yes or no to one act on one thing."""

from __future__ import annotations

from datetime import timedelta

import click

from governance.records.approval import ApprovedAct, Decision
from pipelines.commands.output import Result, reports

_act = click.argument("act", type=click.Choice([act.value for act in ApprovedAct]))
_target = click.argument("target")
_tenant = click.option("--tenant", required=True, help="Tenant that it is about; `-` for a scope of more than one.")
_reason = click.option("--reason", required=True, help="A case or a document by its number; never personal data.")


@click.group()
def approval() -> None:
    """Approve or refuse what another person asks for: the four-eyes rule."""


@approval.command(epilog="Example: tidemill approval give erasure 3f9a01 --tenant harbor --reason 'case 7'")
@_act
@_target
@_tenant
@_reason
@click.option("--days", default=30, show_default=True, type=click.IntRange(1, 366), help="How long it stands.")
@reports
def give(act: str, target: str, tenant: str, reason: str, days: int) -> Result:
    """Approve ACT on exactly TARGET (an id or a digest)."""
    return _decide(Decision.APPROVED, act, target, {"tenant": tenant, "reason": reason}, days)


@approval.command(epilog="Example: tidemill approval refuse erasure 3f9a01 --tenant harbor --reason 'no'")
@_act
@_target
@_tenant
@_reason
@reports
def refuse(act: str, target: str, tenant: str, reason: str) -> Result:
    """Refuse ACT on TARGET; an approval that was given before stands no more."""
    return _decide(Decision.REFUSED, act, target, {"tenant": tenant, "reason": reason}, 30)


@approval.command("list", epilog="Example: tidemill approval list --tenant harbor --json")
@click.option("--tenant", help="Tenant that they are about; all when not given.")
@reports
def list_(tenant: str | None) -> Result:
    """List every decision, oldest first."""
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        return {"approvals": [one.plain() for one in ground.store.approvals.list(tenant)]}


def _decide(decision: Decision, act: str, target: str, about: dict[str, str], days: int) -> Result:
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        until = ground.clock.now() + timedelta(days=days)
        made = ground.approvals.decide(
            about["tenant"], ApprovedAct(act), target, decision,
            reason=about["reason"], until=until,
        )  # fmt: skip
    return made.plain()
