"""The services of one data home and how each is started: MLflow, vLLM, the control process, Dagster.

The control process is the one process that mounts what the packages export: ingestion's receiver and serving's
gateway, each on its own port.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pipelines.dagster_home import prepare_home
from pipelines.settings import Settings, child_environment
from pipelines.supervisor import Progress, Service, Supervisor
from serving.vllm_server import VllmSettings


def mlflow_service(settings: Settings) -> Service:
    """MLflow's server over the same database that cycles write to."""
    folder = settings.home / "mlflow"
    folder.mkdir(parents=True, exist_ok=True)
    base = f"http://{settings.host}:{settings.mlflow_port}"
    return Service(
        name="mlflow",
        command=[
            sys.executable, "-m", "mlflow", "server", "--backend-store-uri", settings.tracking_uri,
            "--artifacts-destination", str(folder / "artifacts"), "--host", settings.host,
            "--port", str(settings.mlflow_port), "--workers", "1",
        ],
        health=f"{base}/health",
        address=base,
        # MLflow's job executor is not used and doubles its start time and memory.
        environment={**child_environment(settings), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
    )  # fmt: skip


def control_service(settings: Settings) -> Service:
    """Intake and gateway."""
    return Service(
        name="control",
        command=[sys.executable, "-m", "pipelines", "control"],
        health=f"{settings.intake_url}/health",
        address=settings.intake_url,
        environment=child_environment(settings),
        certificate=settings.tls_cert,
    )


def dagster_service(settings: Settings) -> Service:
    """Dagster's webserver and daemon."""
    base = f"http://{settings.host}:{settings.dagster_port}"
    prepare_home(settings)
    return Service(
        name="dagster",
        command=[
            sys.executable, "-m", "dagster", "dev", "-m", "pipelines.definitions",
            "-h", settings.host, "-p", str(settings.dagster_port),
        ],
        health=f"{base}/server_info",
        address=base,
        environment=child_environment(settings),
    )  # fmt: skip


def vllm_service(settings: Settings, vllm: VllmSettings) -> Service:
    """The model server."""
    return Service(
        name="vllm",
        command=[sys.executable, "-m", "serving.vllm_launcher", *vllm.arguments()],
        health=f"{vllm.base_url}/health",
        address=vllm.base_url,
        environment={**child_environment(settings), **vllm.child_environment()},
        start_seconds=300.0,
    )


def start_all(supervisor: Supervisor, services: Iterable[Service], progress: Progress) -> None:
    """Ensure each service, in order."""
    for service in services:
        progress(f"{service.name}: starting")
        supervisor.ensure(service, progress)
        progress(f"{service.name}: ready at {service.address}")
