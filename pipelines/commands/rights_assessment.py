"""``tidemill rights assessment``: what must be written and approved before training."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from governance.records.assessment import DataCategory
from governance.records.rights import Purpose
from pipelines.commands.output import Result, reports

TENANT = click.option("--tenant", required=True, help="Tenant that it is about.")
PURPOSES = [name.value for name in Purpose if name is not Purpose.COMPLY]
CATEGORIES = [name.value for name in DataCategory]


@click.group()
def assessment() -> None:
    """Record, approve, end and list assessments. Training needs one of its purpose and data categories."""


@assessment.command(
    epilog="Example: tidemill rights assessment add --tenant harbor --category communication --category staff "
    "--document DPIA-2026-3 --until 2027-06-30"
)
@TENANT
@click.option("--purpose", default=Purpose.TRAIN_WEIGHTS.value, type=click.Choice(PURPOSES), help="What for.")
@click.option("--category", "categories", required=True, multiple=True, type=click.Choice(CATEGORIES), help="Data.")
@click.option("--document", required=True, help="The document by its number; never personal data.")
@click.option("--until", required=True, type=click.DateTime(), help="When it ends (UTC).")
@reports
def add(tenant: str, purpose: str, categories: tuple[str, ...], document: str, until: datetime) -> Result:
    """Record an assessment from now on, as its author. It counts when another person approved it."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        made = mill.assessments.add(
            known_tenant(mill, tenant),
            Purpose(purpose),
            map(DataCategory, categories),
            document=document,
            until=until.replace(tzinfo=UTC),
        )
    return made.plain()


@assessment.command(epilog="Example: tidemill rights assessment approve 0f3a... --tenant harbor --reason 'board 12'")
@click.argument("id_", metavar="ID")
@TENANT
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@reports
def approve(id_: str, tenant: str, reason: str) -> Result:
    """Approve an assessment until its own end; where the policy says so, its author cannot."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.assessments.approve(known_tenant(mill, tenant), id_, reason=reason).plain()


@assessment.command(epilog="Example: tidemill rights assessment end 0f3a... --tenant harbor --reason 'audit 4'")
@click.argument("id_", metavar="ID")
@TENANT
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@reports
def end(id_: str, tenant: str, reason: str) -> Result:
    """End an assessment now. It stays on record."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.assessments.end(known_tenant(mill, tenant), id_, reason=reason).plain()


@assessment.command("list", epilog="Example: tidemill rights assessment list --tenant harbor --json")
@TENANT
@reports
def list_(tenant: str) -> Result:
    """List every assessment with its state: approved, waits for approval, expired, ended."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return {"assessments": mill.assessments.listed(known_tenant(mill, tenant))}
