"""``tidemill ingest``."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill ingest traces.json runs.jsonl --tenant harbor --json")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--tenant", required=True, help="Tenant whose agents the files are about.")
@click.option("--person", is_flag=True, help="Read from standard input whose data the runs are that name nobody.")
@reports
def ingest(files: tuple[Path, ...], tenant: str, *, person: bool) -> Result:
    """Import FILES of other tools; the form of each is told from what it holds.

    Read are OTLP (JSON, protobuf), TRAIL, Langfuse, LangSmith, MLflow, Phoenix and OpenInference JSON, Inspect logs,
    tau-bench results and SWE-agent trajectories, plain or gzipped. Fails when a file is refused, and imports the rest.
    What is said in a run is kept only with a right to it, which is somebody's: files of benchmarks name nobody.
    """
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.importing import ingest as import_files
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person() if person else None
    with Mill(load_settings()) as mill:
        return import_files(mill, known_tenant(mill, tenant), files, raw_id)
