"""``tidemill pii rescan``."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports


@click.command(epilog="Example: tidemill pii rescan --dry-run --json")
@click.option("--dry-run", is_flag=True, help="Say what would be replaced and dropped; change nothing.")
@reports
def rescan(*, dry_run: bool) -> Result:
    """Mask stored traces again that were masked under another version of their tenant's policy.

    The version changes with the policy's rules and lists, and with the detectors. Surrogates stay as they are; what is
    newly found is replaced, and the content of a span in which a special category is found is dropped for good. A run
    that is stopped goes on where it was. It fails while traces are left that could not be masked again.
    """
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        report = ground.rescan().run(progress, dry=dry_run)
    return {**report.plain(), "ok": not report.failed and not report.busy}
