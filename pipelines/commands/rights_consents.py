"""``tidemill rights import``, ``state`` and ``receipt``: consent from a platform, and what is on record of it."""

from __future__ import annotations

import click

from governance.records.rights import Purpose
from pipelines.commands.output import Result, reports

SPOKEN_OF = [purpose.value for purpose in Purpose if purpose is not Purpose.COMPLY]
_tenant = click.option("--tenant", required=True, help="Tenant whose customers they are.")
_purpose = click.option("--purpose", required=True, type=click.Choice(SPOKEN_OF), help="What it is about.")


@click.command(
    "import",
    epilog="Example: tidemill rights import consents.csv --tenant harbor --map subject=user_id --word status:yes=given",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@_tenant
@click.option("--map", "columns", multiple=True, help="FIELD=COLUMN of the file; may be repeated.")
@click.option("--word", "words", multiple=True, help="purpose:THEIRS=OURS or status:THEIRS=OURS; may be repeated.")
@click.option("--whole", is_flag=True, help="Take all rows or none.")
@click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")
@reports
def import_(
    *, file: str, tenant: str, columns: tuple[str, ...], words: tuple[str, ...], whole: bool, dry_run: bool
) -> Result:
    """Take in what a consent platform exports: CSV, JSON or JSON lines.

    Fields: event_id, subject, purpose, status, at, and until, notice or notice_digest. Every row that is not taken is
    named with its line and the reason; the others are recorded. Running it again changes nothing.
    """
    from pathlib import Path

    from pipelines.commands.person import known_tenant
    from pipelines.consents import import_file, mapped_of
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    mapped = mapped_of(columns, words)
    with Mill(load_settings()) as mill:
        return import_file(mill, known_tenant(mill, tenant), Path(file), mapped, whole=whole, dry=dry_run)


@click.command(epilog="Example: echo C-1001 | tidemill rights state --tenant harbor --purpose train_weights --json")
@_tenant
@_purpose
@click.option("--at", default=None, help="A past ISO time: as it was known and held then; now when not given.")
@reports
def state(tenant: str, purpose: str, at: str | None) -> Result:
    """Say what a person's consent was at a time, and the exact notice that it was given to."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.consents import state as state_of
    from pipelines.operations import moment
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        return state_of(mill, tenant, subject, Purpose(purpose), None if at is None else moment(at))


@click.command(epilog="Example: echo C-1001 | tidemill rights receipt --tenant harbor --purpose train_weights --json")
@_tenant
@_purpose
@reports
def receipt(tenant: str, purpose: str) -> Result:
    """Print a person's consent receipt: JSON-LD in the terms of DPV, after ISO/IEC TS 27560."""
    from pipelines.commands.person import known_tenant, read_person
    from pipelines.consents import receipt_of
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    raw_id = read_person()
    with Mill(load_settings()) as mill:
        subject = mill.key_desk.person(known_tenant(mill, tenant), raw_id)
        return receipt_of(mill, tenant, subject, Purpose(purpose))
