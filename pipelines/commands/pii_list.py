"""``tidemill pii list``: a tenant's public values that stay, and values that are always masked."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports

LISTS = ("allow", "deny")
_tenant = click.option("--tenant", required=True, help="Tenant whose list it is.")
_which = click.option("--list", "which", required=True, type=click.Choice(LISTS), help="Which list.")
_reason = click.option("--reason", required=True, help="Why, without the value itself.")
_actor = click.option("--by", "actor", help="Who does it, as the audit shall name them; you when not given.")


@click.group(name="list")
def list_() -> None:
    """Say which values stay in clear and which are always masked. Values come on standard input; none is kept."""


@list_.command(
    epilog="Example: echo help@shop.example | tidemill pii list add --tenant harbor --list allow --type EMAIL_ADDRESS "
    "--owner brand-team --reason 'our public address' --days 90 --by r-17"
)
@_tenant
@_which
@click.option("--type", "entity_type", required=True, help="Entity type, such as EMAIL_ADDRESS or PERSON.")
@click.option("--owner", required=True, help="Who answers for the entry.")
@_reason
@click.option("--days", required=True, type=click.IntRange(1, 366), help="How long it stands.")
@_actor
@reports
def add(tenant: str, which: str, entity_type: str, owner: str, reason: str, days: int, actor: str) -> Result:  # noqa: PLR0917 - options
    """Put the value on standard input on a list; a second line is the id of the person whom it belongs to."""
    from governance.errors import RecordError
    from governance.records.masking_list import ListName
    from pipelines.commands.person import known_tenant
    from pipelines.pii.lists import add as add_entry
    from pipelines.pii.typed import check_types, read_lines
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    check_types([entity_type], "--type")
    lines = read_lines("the value")
    if len(lines) > 2:
        raise RecordError("standard input must hold one value, and the person's id on a second line if there is one")
    told = {"list_name": ListName(which), "entity_type": entity_type, "owner": owner, "reason": reason}
    with Mill(load_settings()) as mill:
        person = lines[1] if len(lines) > 1 else None
        return add_entry(mill, known_tenant(mill, tenant), lines[0], person, {**told, "days": days, "actor": actor})


@list_.command(
    epilog="Example: tidemill pii list remove 3f9a01c2d4e5 --tenant harbor --list allow --reason 'address closed' "
    "--by r-17"
)
@click.argument("entry")
@_tenant
@_which
@_reason
@_actor
@reports
def remove(entry: str, tenant: str, which: str, reason: str, actor: str) -> Result:
    """Take off a list the entry that begins with ENTRY, as `show` names it."""
    from governance.records.masking_list import ListName
    from pipelines.commands.person import known_tenant
    from pipelines.pii.lists import remove as remove_entry
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return remove_entry(mill, known_tenant(mill, tenant), ListName(which), entry, actor, reason)


@list_.command(epilog="Example: tidemill pii list show --tenant harbor --history --json")
@_tenant
@click.option("--history", is_flag=True, help="Every act, not only the entries of now.")
@reports
def show(*, tenant: str, history: bool) -> Result:
    """Show a tenant's entries, with owner, reason and end, and never a value."""
    from pipelines.commands.person import known_tenant
    from pipelines.pii.lists import shown
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        lists, name = mill.store.masking_lists, known_tenant(mill, tenant)
        held = lists.history(name) if history else lists.current(name)
        return {"tenant": name, "policy": mill.policies.policy(name).version, "entries": [shown(one) for one in held]}
