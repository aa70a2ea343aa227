"""``tidemill cycle``."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.command(epilog="Example: tidemill cycle --json")
@click.option("--scope", default=None, help="Scope; the shared one when not given.")
@click.option("--start", default=None, help="Start of the window (ISO 8601); seven whole days ago when not given.")
@click.option("--end", default=None, help="End of the window (ISO 8601); last midnight UTC when not given.")
@reports
def cycle(scope: str | None, start: str | None, end: str | None) -> Result:
    """Turn the loop once over a window, as the nightly schedule does."""
    from pipelines.loop import run_turn
    from pipelines.operations import scope_named, window_of
    from pipelines.settings import load_settings
    from pipelines.wiring import shared_mill

    mill = shared_mill(load_settings())
    with mill.narrate(progress):
        found = run_turn(mill, scope_named(mill, scope), window_of(mill, start, end))
    return {**found.plain(), "ok": found.outcome.value != "failed"}
