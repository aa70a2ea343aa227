"""``tidemill subject``: a person asks what is held, or asks to be forgotten. The id comes on standard input."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.group()
def subject() -> None:
    """Show or erase what is held of a person. The person's id is read from standard input, never from arguments."""


@subject.command(epilog="Example: echo C-1001 | tidemill subject show --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports
def show(tenant: str) -> Result:
    """Say what is held of a person, where, and which releases were made in part from it."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        hashed = mill.door.subject(known_tenant(mill, tenant), raw_id)
        return {"subject": hashed, **mill.erasure.plan(tenant, hashed).plain()}


@subject.command(epilog="Example: echo C-1001 | tidemill subject erase --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports
def erase(tenant: str) -> Result:
    """Erase a person: suppression, deletion along the lineage, tainted releases out of service, rescan."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.steps.rights import erase_subject
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        return erase_subject(mill, known_tenant(mill, tenant), raw_id, progress)
