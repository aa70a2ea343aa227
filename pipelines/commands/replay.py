"""``tidemill replay``."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.commands.output import Result, progress, reports


@click.command(epilog="Example: tidemill replay data/demo-s7-n720 /tmp/replayed")
@click.argument("recorded", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.option("--intake-port", default=4328, show_default=True, help="Port of the replay's intake.")
@click.option("--gateway-port", default=4010, show_default=True, help="Port of the replay's gateway.")
@reports
def replay(recorded: Path, target: Path, intake_port: int, gateway_port: int) -> Result:
    """Send the recorded week of a data home through a fresh intake into an empty folder; fails when digests differ."""
    from pipelines.replay import replay as run
    from pipelines.settings import load_settings

    return run(load_settings(data_home=recorded.resolve()), target.resolve(), (intake_port, gateway_port), progress)
