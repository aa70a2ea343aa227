"""``tidemill rights``: consent given, withdrawn, objected; facts; what a policy would change; the verdict that follows.

A verdict can be asked for every purpose. A person can speak about every purpose but ``comply``, which no consent allows
and no withdrawal ends. What they say without naming a purpose is about the uses beyond the service itself: who wants to
leave the loop still wants to be answered.
"""

from __future__ import annotations

import click

from governance.records.rights import FactKind, Purpose
from pipelines.commands.output import Result, reports
from pipelines.commands.rights_assessment import assessment
from pipelines.commands.rights_consents import SPOKEN_OF, import_, receipt, state
from pipelines.commands.rights_pseudonymised import pseudonymised
from pipelines.commands.rights_unlawful import unlawful

PURPOSES = [purpose.value for purpose in Purpose]
BEYOND_SERVICE = [name for name in SPOKEN_OF if name != Purpose.SERVE]
DEFAULT = "May be repeated; all but serve when not given."


@click.group()
def rights() -> None:
    """Record what decides the use of people's data, and ask for a verdict. An id is read from standard input."""


def _record(status: str, tenant: str, purposes: tuple[str, ...], notice: str) -> Result:
    from governance.errors import RightsError
    from governance.records.rights import ConsentStatus
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.operations import record_consent
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
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


@rights.command("object", epilog="Example: echo C-1001 | tidemill rights object --tenant harbor")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--purpose", "purposes", multiple=True, type=click.Choice(SPOKEN_OF), help=DEFAULT)
@click.option("--notice", default="", help="The exact notice text that was shown; its digest is kept.")
@reports
def object_(tenant: str, purposes: tuple[str, ...], notice: str) -> Result:
    """Record that a person objected (GDPR Article 21): it ends the use on every basis."""
    return _record("objected", tenant, purposes, notice)


@rights.command(epilog="Example: echo C-1001 | tidemill rights verdict --tenant harbor --purpose train_weights --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--purpose", required=True, type=click.Choice(PURPOSES), help="What the data would be used for.")
@click.option("--at", default=None, help="A past ISO time: the verdict of then, under the policy of then.")
@click.option("--policy", default=None, help="With --at: the beginning of another policy's version.")
@reports
def verdict(tenant: str, purpose: str, at: str | None, policy: str | None) -> Result:
    """Say whether a person's data may be used for a purpose now, or might be at a past time, and why."""
    from governance.errors import RecordError
    from governance.records.rights import PURPOSE_IRI
    from governance.terms import with_iris
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.operations import moment
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        said: Result = {"subject": subject, "purpose_iri": PURPOSE_IRI[Purpose(purpose)]}
        if at is None and policy is None:
            found = mill.store.rights.verdict(Purpose(purpose), tenant, subject, mill.clock.now())
            return with_iris(said | found.plain() | {"reason": found.reasons[0].value})
        now = mill.clock.now()
        as_of = now if at is None else moment(at)
        if as_of > now:
            raise RecordError(f"--at {as_of.isoformat()} is not over yet: a verdict is given for now or for the past")
        replayed = mill.store.rights.replay(Purpose(purpose), (tenant, subject, ""), as_of, policy).plain()
        return with_iris(said | (replayed.pop("verdict") or {"allowed": None}) | replayed)


rights.add_command(unlawful)


@rights.group()
def fact() -> None:
    """Record what else decides verdicts: holds, restrictions, regions, assessments, contested runs."""


@fact.command(epilog='Example: echo C-1001 | tidemill rights fact add --tenant harbor --kind hold --reason "case 7"')
@click.option("--tenant", required=True, help="Tenant that it is about.")
@click.option("--kind", required=True, type=click.Choice([kind.value for kind in FactKind]), help="What holds.")
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@click.option("--everybody", is_flag=True, help="About everybody of the tenant: no person is read.")
@click.option("--run", default=None, help="Id of the one trajectory that it is about.")
@click.option(
    "--purpose", default=None, type=click.Choice(SPOKEN_OF), help="The one purpose; every one when not given."
)
@click.option("--value", default="", help="For a jurisdiction: its ISO 3166 code.")
@reports
def add(
    *, tenant: str, kind: str, reason: str, everybody: bool, run: str | None, purpose: str | None, value: str
) -> Result:
    """Record a fact from now on. The person's id is read from standard input."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.rights_facts import record_fact
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = None if everybody else read_person()
    with Mill(load_settings()) as mill:
        subject = None if raw_id is None else mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        chosen = None if purpose is None else Purpose(purpose)
        about = {"subject": subject, "trajectory_id": run, "purpose": chosen, "value": value, "reason": reason}
        return record_fact(mill, known_tenant(mill, tenant), FactKind(kind), about).plain()


@fact.command(epilog="Example: tidemill rights fact end 0f3a... --tenant harbor")
@click.argument("fact_id")
@click.option("--tenant", required=True, help="Tenant that it is about.")
@click.option("--revoke", is_flag=True, help="As if it had never held, from now on.")
@reports
def end(*, fact_id: str, tenant: str, revoke: bool) -> Result:
    """End a fact now. It stays on record."""
    from pipelines.commands.person import known_tenant
    from pipelines.rights_facts import end_fact
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return end_fact(mill, known_tenant(mill, tenant), fact_id, revoke=revoke).plain()


@fact.command("list", epilog="Example: tidemill rights fact list --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant that they are about.")
@reports
def list_(tenant: str) -> Result:
    """List every fact of a tenant, ended ones included, in the order in which they were recorded."""
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return {"facts": [one.plain() for one in mill.store.rights.facts(known_tenant(mill, tenant))]}


@rights.command(epilog="Example: tidemill rights dry-run my_policy.toml --purpose train_weights --json")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--purpose", default=Purpose.TRAIN_WEIGHTS.value, type=click.Choice(SPOKEN_OF), help="What for.")
@reports
def dry_run(file: str, purpose: str) -> Result:
    """Say what a policy would admit and drop of everything that is stored. Nothing is changed."""
    from pathlib import Path

    from governance.policy.rights_file import read_policy
    from pipelines.rights_facts import compare_policies
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return compare_policies(mill, read_policy(Path(file)), Purpose(purpose))


@rights.command(epilog="Example: tidemill rights rebuilds --json")
@reports
def rebuilds() -> Result:
    """List champions that learned from what may not be used any more, with the deadline of their rebuild."""
    from pipelines.ground import Ground
    from pipelines.rebuilds import rebuilds as listed
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        found = listed(ground)
    return {**found, "ok": not any(one["overdue"] for one in found.values())}


for command in (assessment, pseudonymised, import_, state, receipt):
    rights.add_command(command)
