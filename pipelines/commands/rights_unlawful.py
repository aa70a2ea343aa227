"""``tidemill rights unlawful``: a source was found unlawful; list and retire what derives from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from governance.records.descent import SourceKind
from pipelines.commands.output import Result, reports

if TYPE_CHECKING:
    from governance.records.descent import Source
    from pipelines.wiring import Mill

KINDS = [kind.value for kind in SourceKind]
TENANT = click.option("--tenant", required=True, help="Tenant whose source it is.")
KIND = click.option("--kind", required=True, type=click.Choice(KINDS), help="What the source is.")
IDS = click.option("--id", "ids", multiple=True, help="Its id; may be repeated. None for a tenant; a person's is read.")


@click.group()
def unlawful() -> None:
    """A source was found unlawful: list what was made from it in whole or in part, and retire all of it."""


def _source(mill: Mill, tenant: str, kind: str, ids: tuple[str, ...], raw_id: str | None) -> Source:
    from governance.records.descent import Source
    from pipelines.commands.person import known_tenant

    name = known_tenant(mill, tenant)
    chosen = ids if raw_id is None else (mill.key_desk.person(name, raw_id),)
    return Source(tenant_id=name, kind=SourceKind(kind), ids=chosen)


def _person(kind: str) -> str | None:
    from pipelines.commands.person import read_person

    return read_person() if kind == SourceKind.SUBJECT.value else None


@unlawful.command("list", epilog="Example: tidemill rights unlawful list --tenant harbor --kind contract --id harbor-1")
@TENANT
@KIND
@IDS
@reports
def list_(tenant: str, kind: str, ids: tuple[str, ...]) -> Result:
    """List each dataset, adapter, release and score that derives from the source. Nothing is changed."""
    from pipelines.settings import load_settings
    from pipelines.unlawful import traced
    from pipelines.wiring import Mill

    raw_id = _person(kind)
    with Mill(load_settings()) as mill:
        return traced(mill, _source(mill, tenant, kind, ids, raw_id)).plain()


@unlawful.command(epilog='Example: tidemill rights unlawful retire --tenant harbor --kind tenant --reason "case 7"')
@TENANT
@KIND
@IDS
@click.option("--reason", required=True, help="A case or a document by its number; never personal data.")
@reports
def retire(**chosen: Any) -> Result:
    """Deny every use of the source, retire what derives from it, and take tainted champions out of service."""
    from pipelines.settings import load_settings
    from pipelines.unlawful import retired
    from pipelines.wiring import Mill

    raw_id = _person(chosen["kind"])
    with Mill(load_settings()) as mill:
        source = _source(mill, chosen["tenant"], chosen["kind"], chosen["ids"], raw_id)
        return retired(mill, source, chosen["reason"])
