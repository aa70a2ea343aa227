"""``tidemill leak``: what an adapter remembers, and who answers for it that it holds no personal data."""

from __future__ import annotations

import click

from pipelines.commands.output import Result, progress, reports

RELEASE = "Digest of the release or its beginning; the champion of the main scope when not given."


@click.group()
def leak() -> None:
    """Test whether an adapter remembers what it was trained on."""


@leak.command("test", epilog="Example: tidemill leak test --canaries 12 --json")
@click.option("--release", default=None, help=RELEASE)
@click.option(
    "--canaries", "count", default=12, show_default=True, type=click.IntRange(8, 200), help="Secrets planted."
)
@click.option("--alternatives", default=31, show_default=True, type=click.IntRange(9, 1000), help="For each secret.")
@click.option("--copies", default=4, show_default=True, type=click.IntRange(1, 100), help="Rows of each canary.")
@click.option("--seed", default=None, help="Draws the canaries; a new one when not given. The same seed goes on.")
@reports
def test(release: str | None, count: int, alternatives: int, copies: int, seed: str | None) -> Result:
    """Plant canaries in a control that is trained beside, and look for them in the adapter as it is served."""
    from governance.records.leak import LeakVerdict
    from pipelines.leak import leak_test
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill, mill.narrate(progress):
        drawn = seed or mill.ids.hex(8)
        progress(f"seed {drawn}")
        report = leak_test(mill, release, drawn, count=count, alternatives=alternatives, copies=copies)
    return {"ok": report.verdict is LeakVerdict.NO_LEAK_FOUND, "report": report.digest(), **report.plain()}


@leak.command(epilog="Example: tidemill leak membership --json")
@click.option("--release", default=None, help=RELEASE)
@reports
def membership(release: str | None) -> Result:
    """Measure whether those who were learned from can be told from others."""
    from pipelines.leak import membership_test
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill, mill.narrate(progress):
        return membership_test(mill, release).plain()


@leak.command(epilog="Example: tidemill leak status --json")
@click.option("--release", default=None, help=RELEASE)
@reports
def status(release: str | None) -> Result:
    """Say whether the release's adapter counts as holding personal data, and why."""
    from pipelines.leak import adapter_of, bundle_of
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        adapter = adapter_of(bundle_of(mill, release)).content_digest
        leaks = mill.store.leaks
        why = leaks.why_personal(adapter)
        return {
            "adapter": adapter,
            "personal_data": why is not None,
            "why": why or "an anonymity file says that it holds none",
            "leak_tests": {one.digest(): one.verdict.value for one in leaks.reports(adapter)},
            "membership_tests": {one.digest(): one.interval.plain() for one in leaks.memberships(adapter)},
            "files": [one.id for one in leaks.files(adapter)],
        }


@leak.command("declare", epilog="Example: tidemill leak declare --reason 'DPIA 12' --days 180")
@click.option("--release", default=None, help=RELEASE)
@click.option("--reason", required=True, help="The assessment by its number; never personal data.")
@click.option("--days", default=180, show_default=True, type=click.IntRange(1, 3650), help="How long it holds.")
@reports
def declare(release: str | None, reason: str, days: int) -> Result:
    """Approve that the adapter holds no personal data, on its newest tests, which another person ran."""
    from pipelines.leak import declare_anonymous
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        file, why = declare_anonymous(mill, release, reason=reason, days=days)
    return {"ok": why is None, "file": file.id, "adapter": file.adapter, "why": why or "", "until": file.valid_to}


@leak.command("revoke", epilog="Example: tidemill leak revoke anonymity-0f3a... --reason 'DPIA 13'")
@click.argument("file_id")
@click.option("--reason", required=True, help="The assessment by its number; never personal data.")
@reports
def revoke(file_id: str, reason: str) -> Result:
    """Revoke an anonymity file: its adapter counts as holding personal data again."""
    from pipelines.leak import revoke_anonymous
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        file = revoke_anonymous(mill, file_id, reason=reason)
        why = mill.store.leaks.why_personal(file.adapter)
    return {"revoked": file_id, "adapter": file.adapter, "personal_data": why is not None, "why": why or ""}
