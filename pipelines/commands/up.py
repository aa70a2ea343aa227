"""``tidemill up``, ``down`` and ``status``."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.command(epilog="Example: tidemill up --json")
@reports
def up() -> Result:
    """Start every service on loopback, print the addresses, leave them running. `tidemill down` stops them."""
    from pipelines.operations import bootstrap, start_serving
    from pipelines.services import dagster_service, mlflow_service, start_all
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    settings = load_settings()
    with Mill(settings) as mill:
        bootstrap(mill, progress)
        start_all(mill.supervisor, [mlflow_service(settings)], progress)
        start_serving(mill, progress)
        start_all(mill.supervisor, [dagster_service(settings)], progress)
    base = f"http://{settings.host}"
    return {
        "intake": f"{settings.intake_url}/v1/traces",
        "intake_grpc": f"{settings.host}:{settings.intake_grpc_port}" if settings.intake_grpc_port else "none",
        "gateway": f"{base}:{settings.gateway_port}/v1",
        "dagster": f"{base}:{settings.dagster_port}",
        "mlflow": f"{base}:{settings.mlflow_port}",
        "vllm": f"{base}:{settings.vllm_port}",
        "logs": str(settings.home / "run"),
    }


@click.command(epilog="Example: tidemill down")
@reports
def down() -> Result:
    """Stop the services of this data home, newest first."""
    from pipelines.settings import load_settings
    from pipelines.supervisor import Supervisor

    supervisor = Supervisor(load_settings().home / "run")
    return {name: "stopped" for name in supervisor.names() if supervisor.stop(name)} or {"services": "none running"}


@click.command(epilog="Example: tidemill status --json")
@reports
def status() -> Result:
    """Say which services of this data home run, with their process ids."""
    from pipelines.settings import load_settings
    from pipelines.supervisor import Supervisor

    supervisor = Supervisor(load_settings().home / "run")
    found = {name: supervisor.running(name) for name in supervisor.names()}
    return {name: process.pid for name, process in found.items() if process} or {"services": "none running"}
