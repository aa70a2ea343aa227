"""``tidemill test``."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.commands.output import Result, reports


@click.command(epilog="Example: tidemill test tests/governance")
@click.option("--long", "long", is_flag=True, help="Also run what takes longer than minutes.")
@click.option("--only", multiple=True, help="Run only these checks (ruff, format, types, imports, tests, models).")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
@reports
def test(*, long: bool, only: tuple[str, ...], pytest_args: tuple[str, ...]) -> Result:
    """Run the linters, the type checker, the import contracts and the tests."""
    from pipelines.test_command import checks, run_checks

    root = Path(__file__).resolve().parents[2]
    chosen = [check for check in checks(long=long, extra=pytest_args) if not only or check.name in only]
    results = run_checks(chosen, root)
    return {**results, "ok": bool(results) and all(entry["status"] == 0 for entry in results.values())}
