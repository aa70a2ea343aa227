"""``tidemill rights``: consent given, withdrawn, and the verdict that follows.

A verdict can be asked for every purpose. A person can speak about every purpose but ``comply``, which no consent allows
and no withdrawal ends. What they say without naming a purpose is about the uses beyond the service itself: who wants to
leave the loop still wants to be answered.
"""

from __future__ import annotations

import click

from governance.records.rights import Purpose
from pipelines.commands.output import Result, reports

PURPOSES = [purpose.value for purpose in Purpose]
SPOKEN_OF = [name for name in PURPOSES if name != Purpose.COMPLY]
BEYOND_SERVICE = [name for name in SPOKEN_OF if name != Purpose.SERVE]
DEFAULT = "May be repeated; all but serve when not given."


@click.group()
def rights() -> None:
    """Record consent and its withdrawal, and ask for a verdict. A person's id is read from standard input."""


def _record(status: str, tenant: str, purposes: tuple[str, ...], notice: str) -> Result:
    from governance.errors import RightsError
    from governance.records.rights import ConsentStatus
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.operations import record_consent
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.door.subject(known_tenant(mill, tenant), raw_id)
        if mill.store.rights.is_suppressed(tenant, subject):
            raise RightsError("this person was erased and stays out; what they say now is not recorded")
        chosen = [Purpose(name) for name in (purposes or BEYOND_SERVICE)]
        for purpose in chosen:
            record_consent(mill, tenant, subject, purpose, status=ConsentStatus(status), notice=notice)
    return {"tenant": tenant, "subject": subject, "status": status, "purposes": [p.value for p in chosen]}


@rights.command(epilog="Example: echo C-1001 | tidemill rights grant --tenant harbor --purpose train_weights")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--purpose", "purposes", multiple=True, type=click.Choice(SPOKEN_OF), help=DEFAULT)
@click.option("--notice", default="", help="The exact notice text that was shown; its digest is kept.")
@reports
def grant(tenant: str, purposes: tuple[str, ...], notice: str) -> Result:
    """Record that a person gave consent."""
    return _record("given", tenant, purposes, notice)


@rights.command(epilog="Example: echo C-1001 | tidemill rights withdraw --tenant harbor")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--purpose", "purposes", multiple=True, type=click.Choice(SPOKEN_OF), help=DEFAULT)
@click.option("--notice", default="", help="The exact notice text that was shown; its digest is kept.")
@reports
def withdraw(tenant: str, purposes: tuple[str, ...], notice: str) -> Result:
    """Record that a person withdrew consent: as many steps as giving it."""
    return _record("withdrawn", tenant, purposes, notice)


@rights.command(epilog="Example: echo C-1001 | tidemill rights verdict --tenant harbor --purpose train_weights --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--purpose", required=True, type=click.Choice(PURPOSES), help="What the data would be used for.")
@reports
def verdict(tenant: str, purpose: str) -> Result:
    """Say whether a person's data may be used for a purpose now, and why."""
    from governance.records.rights import PURPOSE_IRI
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.door.subject(known_tenant(mill, tenant), raw_id)
        found = mill.store.rights.verdict(Purpose(purpose), tenant, subject, mill.clock.now())
    return {"subject": subject, "purpose_iri": PURPOSE_IRI[Purpose(purpose)], **found.plain()}
