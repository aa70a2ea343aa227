"""``tidemill pii review``: what a person should judge about masking, and what they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.output import Result, reports

if TYPE_CHECKING:
    from pipelines.wiring import Mill

DECISIONS = ("not_personal", "personal", "missed", "complete", "release", "destroy")
_reviewer = click.option("--reviewer", help="Who looks or decides, as the audit shall name them; you when not given.")


@click.group()
def review() -> None:
    """Judge findings near their threshold, texts of the sample, and special categories in quarantine."""


@review.command("list", epilog="Example: tidemill pii review list --tenant harbor --json")
@click.option("--tenant", default=None, help="One tenant; all when not given.")
@reports
def list_(tenant: str | None) -> Result:
    """Say what is open: kinds, types, scores and counts, never a value."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        items = mill.reviewing.open_items(tenant)
    return {"open": len(items), "items": [{**item, "id": item["id"][:12]} for item in items]}


@review.command(epilog="Example: tidemill pii review show 3f9a01c2d4e5 --reviewer r-17")
@click.argument("name", metavar="ID")
@_reviewer
@reports
def show(name: str, reviewer: str) -> Result:
    """Print what an item is about, unmasked, to a reviewer. The audit says who looked."""
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return mill.reviewing.show(_whole(mill, name), reviewer)


@review.command(
    epilog="Example: tidemill pii review decide 3f9a01c2d4e5 not_personal --reviewer r-17 --owner brand-team "
    "--reason 'name of a product' --days 90"
)
@click.argument("name", metavar="ID")
@click.argument("decision", type=click.Choice(DECISIONS))
@_reviewer
@click.option("--owner", default="", help="Who answers for an entry that follows.")
@click.option("--reason", default="", help="Why, without the value itself.")
@click.option("--days", default=0, type=click.IntRange(0, 366), help="How long an entry stands.")
@reports
def decide(name: str, decision: str, reviewer: str, owner: str, reason: str, days: int) -> Result:  # noqa: PLR0917 - options
    """Close an item. For `missed`, standard input holds what was missed, one a line: TYPE, a space, the value."""
    from governance.records.review import ReviewDecision
    from ingestion.reviewing import Verdict
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    missed = _missed() if decision == ReviewDecision.MISSED else ()
    verdict = Verdict(ReviewDecision(decision), reviewer, owner, reason, days, missed)
    with Mill(load_settings()) as mill:
        return mill.reviewing.decide(_whole(mill, name), verdict)


def _missed() -> tuple[tuple[str, str], ...]:
    from governance.errors import RecordError
    from pipelines.pii.typed import check_types, read_lines

    pairs = [line.partition(" ") for line in read_lines("what was missed")]
    if any(not value.strip() for _, _, value in pairs):
        raise RecordError("each line on standard input must hold an entity type, a space and the value")
    check_types([kind for kind, _, _ in pairs], "standard input")
    return tuple((kind, value.strip()) for kind, _, value in pairs)


def _whole(mill: Mill, name: str) -> str:
    """The id that begins so.

    Raises:
        NotFound: when there is none, or more than one.

    """
    from governance.errors import NotFound

    found = [item["id"] for item in mill.reviewing.open_items() if name and item["id"].startswith(name)]
    if len(found) != 1:
        raise NotFound(f"{len(found)} open items begin with {name!r}; see: tidemill pii review list")
    return str(found[0])
