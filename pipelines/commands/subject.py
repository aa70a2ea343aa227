"""``tidemill subject``: a person asks what is held, for a copy, a correction, a rest, or to be forgotten.

The id comes on standard input. What is due when, and the certificates, are read without one.
"""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.group()
def subject() -> None:
    """Answer what people ask about their data. A person's id is read from standard input, never from arguments."""


@subject.command(epilog="Example: echo C-1001 | tidemill subject show --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports
def show(tenant: str) -> Result:
    """Say what is held of a person, where, what was made from it, and what they asked for. Changes nothing."""
    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        return subject_requests.show(mill, tenant, mill.key_desk.person(known_tenant(mill, tenant), raw_id))


@subject.command(epilog="Example: echo C-1001 | tidemill subject export --tenant harbor --out c-1001.json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="New file, outside of the data home.")
@reports
def export(tenant: str, out: str) -> Result:
    """Write all that is held of a person as JSON, to a file that only its owner can read (GDPR Article 15 and 20)."""
    from pathlib import Path

    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        hashed = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        return subject_requests.export(mill, tenant, hashed, Path(out))


@subject.command(epilog="Example: printf 'C-1001\\nI moved' | tidemill subject rectify --tenant harbor --run RUN")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--run", required=True, help="Id of the trajectory that says something wrong.")
@reports
def rectify(tenant: str, run: str) -> Result:
    """Record what is right (GDPR Article 16): below the id on standard input. The run is used for nothing any more."""
    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant, read_person_and_words
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id, right = read_person_and_words()
    with Mill(load_settings()) as mill:
        return subject_requests.rectify(mill, known_tenant(mill, tenant), raw_id, run, right)


@subject.command(epilog='Example: echo C-1001 | tidemill subject restrict --tenant harbor --reason "case 7"')
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@reports
def restrict(tenant: str, reason: str) -> Result:
    """Keep a person's data and use it for nothing (GDPR Article 18)."""
    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        hashed = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        return subject_requests.restrict(mill, tenant, hashed, reason)


@subject.command(epilog="Example: echo C-1001 | tidemill subject unrestrict --tenant harbor")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports
def unrestrict(tenant: str) -> Result:
    """End a person's restriction."""
    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        return subject_requests.unrestrict(mill, tenant, mill.key_desk.person(known_tenant(mill, tenant), raw_id))


@subject.command(epilog="Example: echo C-1001 | tidemill subject erase --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports
def erase(tenant: str) -> Result:
    """Erase a person: suppression, deletion along the lineage, tainted releases, rescan, certificate."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.settings import load_settings
    from pipelines.steps.rights import erase_subject
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        return erase_subject(mill, known_tenant(mill, tenant), raw_id, progress)


@subject.command("list", epilog="Example: tidemill subject list --tenant harbor --json")
@click.option("--tenant", default=None, help="One tenant; all when not given.")
@reports
def list_(tenant: str | None) -> Result:
    """List open requests and weights that wait for a rebuild, with deadlines; fails while one is overdue."""
    from pipelines import subject_requests
    from pipelines.commands.person import known_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return subject_requests.due(mill, None if tenant is None else known_tenant(mill, tenant))


@subject.command(epilog="Example: tidemill subject certificate 3f9a01c2d4e5 --verify --json")
@click.argument("request_id")
@click.option("--verify", is_flag=True, help="Check its signature; fails when it is not good.")
@click.option("--trust", multiple=True, help="Public key to trust besides this installation's. May be repeated.")
@reports
def certificate(*, request_id: str, verify: bool, trust: tuple[str, ...]) -> Result:
    """Print the certificate of an erasure: the last word on it, once its weights were rebuilt."""
    from governance.certificates import check
    from governance.signing import public_key
    from pipelines import subject_requests
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        if verify:
            check(mill.erasure.report(request_id), {public_key(mill.keys), *trust})
        return {**subject_requests.certificate(mill, request_id), **({"verified": True} if verify else {})}


@subject.command(epilog="Example: tidemill subject notice 3f9a01c2d4e5 --recipient lab-7 --confirmed")
@click.argument("request_id")
@click.option("--recipient", required=True, help="Who was given rows of the person, as the certificate names them.")
@click.option("--confirmed", is_flag=True, help="They said that their copy is gone.")
@reports
def notice(*, request_id: str, recipient: str, confirmed: bool) -> Result:
    """Record that a recipient was told of an erasure, or confirmed it (GDPR Article 19)."""
    from pipelines import subject_requests
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return subject_requests.notify(mill, request_id, recipient, confirmed=confirmed)
