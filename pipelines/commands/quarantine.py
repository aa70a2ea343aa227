"""``tidemill quarantine``: what masking could not read."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.group()
def quarantine() -> None:
    """List, try again, or look into what masking could not read. It expires by itself."""


@quarantine.command("list", epilog="Example: tidemill quarantine list --json")
@reports
def list_() -> Result:
    """Say what lies in quarantine, since when, until when, and when it is tried again; never what is in it."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        held = mill.store.quarantine.list()
    rows = {
        item.id[:12]: {
            "tenant": item.tenant_id,
            "day": item.day,
            "spans": item.spans,
            "reason": item.reason,
            "since": item.since.isoformat(),
            "attempts": item.attempts,
            "retry_at": item.retry_at.isoformat(),
            "expires_at": item.expires_at.isoformat(),
        }
        for item in held
    }
    return {**rows, "records": len(held), "spans": sum(item.spans for item in held)}


@quarantine.command(epilog="Example: tidemill quarantine retry 3f9a01c2d4e5 --json")
@click.argument("ids", nargs=-1)
@reports
def retry(ids: tuple[str, ...]) -> Result:
    """Put records through the door again, now: those that begin with IDS, or all."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        held = [item.id for item in mill.store.quarantine.list()]
        report = mill.quarantine.run([_one(held, name) for name in ids] if ids else held)
        mill.drain().run()
    return {**report.plain(), "ok": not report.failed}


@quarantine.command(epilog="Example: tidemill quarantine show 3f9a01c2d4e5 --reviewer r-17")
@click.argument("name", metavar="ID")
@click.option("--reviewer", help="Who looks, as the audit shall name them; you when not given.")
@reports
def show(name: str, reviewer: str) -> Result:
    """Print what a record holds, unmasked, to a reviewer. The audit says who looked."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.quarantine.show(_one([item.id for item in mill.store.quarantine.list()], name), reviewer)


def _one(held: list[str], name: str) -> str:
    """The id that begins so.

    Raises:
        NotFound: when there is none, or more than one.
    """
    from governance.errors import NotFound

    found = [id_ for id_ in held if name and id_.startswith(name)]
    if len(found) != 1:
        raise NotFound(f"{len(found)} records in quarantine begin with {name!r}; see: tidemill quarantine list")
    return found[0]
