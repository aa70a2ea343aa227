"""``tidemill doctor``."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill doctor --json")
@reports
def doctor() -> Result:
    """Say what is configured, what is missing and what that means; exits with 1 on a problem."""
    from pipelines.doctor import examine, settings_table
    from pipelines.settings import load_settings

    settings = load_settings()
    findings = examine(settings)
    return {
        **{one.name: f"{one.state}: {one.means}" for one in findings},
        "settings": settings_table(settings),
        "ok": all(one.state != "problem" for one in findings),
    }
