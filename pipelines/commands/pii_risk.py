"""``tidemill pii risk``, ``look``, ``mark`` and ``anonymity``: what is left after masking."""

from __future__ import annotations

from typing import IO, Final

import click

from pipelines.commands.output import Result, reports

_REVIEWER: Final = click.option("--reviewer", help="Who looks, as the audit shall name them; you when not given.")
_QUASI: Final = click.option("--quasi", multiple=True, help="A field that, with others, could point at a person.")
_K: Final = click.option(
    "--k", default=5, show_default=True, type=click.IntRange(2), help="People in a class, at least."
)


@click.command(epilog="Example: tidemill pii risk 4be2 --sample 300 --quasi city --quasi birth_year --json")
@click.argument("dataset")
@click.option("--sample", default=100, show_default=True, type=click.IntRange(1), help="Rows that shall be looked at.")
@_QUASI
@_K
@reports
def risk(dataset: str, sample: int, quasi: tuple[str, ...], k: int) -> Result:
    """Estimate what is left in a dataset version: its leak rate, and how few people share their values.

    DATASET is the version's root, or its beginning. The rows of the sample follow from the root: `tidemill pii look`
    shows one to a reviewer, `tidemill pii mark` records what they saw. The rate counts the first rows of the sample
    that all were looked at, with Clopper and Pearson's interval and a one-sided bound.

    k-anonymity is counted over people, from what tools were given and answered: without --quasi, over the usual names
    (age, gender, city, postcode and so on), as far as they are there.
    """
    from pipelines.pii.quasi import NAMES
    from pipelines.pii.residual import residual
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return residual(mill, dataset, sample, quasi or NAMES, k)


@click.command(epilog="Example: tidemill pii look 4be2 91c0 --reviewer r-17")
@click.argument("dataset")
@click.argument("row")
@_REVIEWER
@reports
def look(dataset: str, row: str, reviewer: str) -> Result:
    """Print one row of a dataset version to a reviewer, masked as it is trained on. The audit says who looked."""
    from pipelines.pii.residual import look as shown
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return shown(mill, dataset, row, reviewer)


@click.command(epilog="Example: tidemill pii mark 4be2 91c0 --reviewer r-17 --leak PERSON=1 --leak US_SSN=2")
@click.argument("dataset")
@click.argument("row")
@_REVIEWER
@click.option("--leak", "leaks", multiple=True, metavar="TYPE=COUNT", help="Personal values that the row shows.")
@click.option("--clean", is_flag=True, help="The row shows none.")
@reports
def mark(dataset: str, row: str, reviewer: str, leaks: tuple[str, ...], clean: bool) -> Result:  # noqa: FBT001 - a flag
    """Record what a reviewer saw in a row: --clean, or how many values of which type."""
    from pipelines.pii.residual import mark as marked
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    if clean == bool(leaks):
        raise click.UsageError("say either --clean or --leak TYPE=COUNT")
    counts = dict(map(_leak, leaks))
    with Mill(load_settings()) as mill:
        return marked(mill, dataset, row, reviewer, counts)


@click.command(epilog="Example: tidemill pii anonymity customers.jsonl --quasi city --quasi birth_year --json")
@click.argument("file", type=click.File("rb"), default="-")
@_QUASI
@_K
@reports
def anonymity(file: IO[bytes], quasi: tuple[str, ...], k: int) -> Result:
    """Count how many people share their values in a table: JSONL, one object a person. No value is printed raw.

    Fails when a class has fewer than k people, and says which fields to make coarser.
    """
    from governance.masking.k_anonymity import anonymity as counted
    from pipelines.errors import LineError
    from pipelines.pii.lines import Line, read_lines
    from pipelines.pii.quasi import NAMES, flat

    lines = list(read_lines(file))
    for line in lines:
        if isinstance(line, LineError):
            raise line
    people = flat((line.value for line in lines if isinstance(line, Line)), quasi or NAMES)
    fields = sorted({name for row in people for name in row})
    found = counted(people, fields, k)
    return {**found.plain(), "ok": bool(fields) and found.under_k == 0}


def _leak(text: str) -> tuple[str, int]:
    kind, _, count = text.partition("=")
    if not kind or not count.isdecimal():
        raise click.UsageError(f"--leak {text}: must be TYPE=COUNT")
    return kind, int(count)
