"""``tidemill release``: what serves, what served, and the way back."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.group()
def release() -> None:
    """List releases, show the deployment history of a scope, roll back."""


@release.command("list", epilog="Example: tidemill release list --json")
@reports
def list_releases() -> Result:
    """Show each scope's champion and every release, tainted ones marked."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        tainted = mill.store.releases.tainted()
        champions = {scope.name: mill.store.deployments.current(scope.name) for scope in mill.scopes()}
        names = {
            bundle.release.digest(): {
                "adapter": bundle.release.adapter.served_name if bundle.release.adapter else None,
                "tainted": bundle.release.digest() in tainted,
            }
            for bundle in mill.store.releases.list()
        }
    current = {scope: found.release_digest if found else None for scope, found in champions.items()}
    return {"champions": current, "releases": names}


@release.command(epilog="Example: tidemill release history --scope 'support@harbor+juniper'")
@click.option("--scope", default=None, help="Scope; the shared one when not given.")
@reports
def history(scope: str | None) -> Result:
    """Show which release was champion since when, and why it changed."""
    from pipelines.operations import scope_named
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        chosen = scope_named(mill, scope).name
        rows = mill.store.deployments.history(chosen)
    return {
        "scope": chosen,
        **{f"v{row.version}": f"{row.at.isoformat()} {row.release_digest[:12]} {row.reason}" for row in rows},
    }


@release.command(epilog="Example: tidemill release rollback --reason 'complaints since noon'")
@click.option("--scope", default=None, help="Scope; the shared one when not given.")
@click.option("--reason", required=True, help="Stands in the deployment history.")
@reports
def rollback(scope: str | None, reason: str) -> Result:
    """Make the newest earlier untainted release champion again, else the base."""
    from pipelines.operations import rollback as go_back
    from pipelines.operations import scope_named
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill, mill.narrate(progress):
        return go_back(mill, scope_named(mill, scope), reason)
