"""``tidemill rights pseudonymised``: processing of pseudonymised information, declared, and who used it (PIPA 28-2)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from governance.records.assessment import DataCategory
from governance.records.pseudonymised import Aim
from governance.records.rights import Purpose
from pipelines.commands.output import Result, reports

TENANT = click.option("--tenant", required=True, help="Tenant that it is about.")
AIMS = [name.value for name in Aim]
PURPOSES = [name.value for name in Purpose if name not in {Purpose.COMPLY, Purpose.SERVE}]
CATEGORIES = [name.value for name in DataCategory]


@click.group()
def pseudonymised() -> None:
    """Declare pseudonymised processing. Rows whose basis is PIPA 28-2 are used while a declaration stands."""


@pseudonymised.command(
    epilog="Example: tidemill rights pseudonymised declare --tenant harbor --aim scientific_research "
    "--category communication --document PLAN-2026-3 --until 2027-06-30"
)
@TENANT
@click.option("--aim", required=True, type=click.Choice(AIMS), help="Which aim of PIPA 28-2(1).")
@click.option("--purpose", default=Purpose.TRAIN_WEIGHTS.value, type=click.Choice(PURPOSES), help="What reads.")
@click.option("--category", "categories", required=True, multiple=True, type=click.Choice(CATEGORIES), help="Data.")
@click.option("--document", required=True, help="The plan by its number; never personal data.")
@click.option("--since", default=None, type=click.DateTime(), help="When it begins (UTC); now when not given.")
@click.option("--until", required=True, type=click.DateTime(), help="When it ends (UTC).")
@reports
def declare(**chosen: Any) -> Result:
    """Record a declaration. It starts at once where nobody has to approve it."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        tenant = known_tenant(mill, chosen["tenant"])
        made = mill.declarations.declare(
            tenant,
            Aim(chosen["aim"]),
            Purpose(chosen["purpose"]),
            map(DataCategory, chosen["categories"]),
            document=chosen["document"],
            since=_utc(chosen["since"]),
            until=chosen["until"].replace(tzinfo=UTC),
        )
        return next(one for one in mill.declarations.listed(tenant) if one["id"] == made.id)


@pseudonymised.command(epilog="Example: tidemill rights pseudonymised start 0f3a... --tenant harbor")
@click.argument("declaration")
@TENANT
@reports
def start(declaration: str, tenant: str) -> Result:
    """Let a declaration count that waited for an approval: tidemill approval give pseudonymisation ID."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.declarations.start(known_tenant(mill, tenant), declaration).plain()


@pseudonymised.command(epilog='Example: tidemill rights pseudonymised end 0f3a... --tenant harbor --reason "audit 4"')
@click.argument("declaration")
@TENANT
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@reports
def end(declaration: str, tenant: str, reason: str) -> Result:
    """End a declaration now. It stays on record; nothing rests on it any more."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.declarations.end(known_tenant(mill, tenant), declaration, reason=reason).plain()


@pseudonymised.command("list", epilog="Example: tidemill rights pseudonymised list --tenant harbor --json")
@TENANT
@reports
def list_(tenant: str) -> Result:
    """List a tenant's declarations with their state."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return {"declarations": mill.declarations.listed(known_tenant(mill, tenant))}


@pseudonymised.command(epilog="Example: tidemill rights pseudonymised history --tenant harbor --json")
@TENANT
@reports
def history(tenant: str) -> Result:
    """List who used how many rows of this basis, when and what for."""
    from governance.records.rights import PURPOSE_IRI
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        uses = mill.store.pseudonymised.uses(known_tenant(mill, tenant))
        return {"uses": [one.plain() | {"purpose_iri": PURPOSE_IRI[one.purpose]} for one in uses]}


def _utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.replace(tzinfo=UTC)
