"""``tidemill control``: intake and gateway in this process."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill control")
@reports
def control() -> Result:
    """Serve the OTLP intake and the gateway until interrupted."""
    from pipelines.control import serve
    from pipelines.settings import load_settings

    serve(load_settings())
    return {"control": "stopped"}
