"""``tidemill lineage``: from a release back to people and contracts, from a person on to what was made of them."""

from __future__ import annotations

import json

import click

from pipelines.commands.output import Result, reports_as, table

FORMS = ["report", "openlineage", "prov"]


@click.group()
def lineage() -> None:
    """Show what a release was made from, and what was made from a person. Each look is in the audit."""


def _release(result: Result) -> str:
    """A document as JSON, a report as counts and its rows."""
    if "rows" not in result:
        return json.dumps(result, indent=2, sort_keys=True)
    shown = {key: value for key, value in result.items() if key not in {"rows", "runs", "subjects"}}
    rows = [
        f"{one['row'][:12]}  {one['tenant_id']}  {one['subject'][:12]}  {one['trajectory_id']}  {one['basis']}  "
        f"{one['clause']}"
        for one in result["rows"]
    ]
    counts = {name: len(result[name]) for name in ("rows", "runs", "subjects")}
    return "\n".join([table(shown | counts), *rows])


@lineage.command(epilog="Example: tidemill lineage release 0f3a --json")
@click.argument("digest")
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="report", help="OpenLineage and PROV name no person."
)
@reports_as(_release)
def release(digest: str, form: str) -> Result:
    """Show each dataset, row, run, person, basis and clause of a contract that a release was made from."""
    from pipelines.lineage import of_release
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return of_release(mill, digest, form)


@lineage.command(epilog="Example: echo C-1001 | tidemill lineage subject --tenant harbor --json")
@click.option("--tenant", required=True, help="Tenant whose customer it is.")
@reports_as(table)
def subject(tenant: str) -> Result:
    """Show everything that was made from a person's data. The id is read from standard input."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.lineage import of_subject
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        return of_subject(mill, known_tenant(mill, tenant), raw_id)
