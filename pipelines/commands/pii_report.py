"""``tidemill pii report``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from pipelines.commands.output import Result, progress, reports


@click.command(epilog="Example: tidemill pii report --out masking.html --evaluation figures.json")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The page; in the data home when not given."
)
@click.option("--tenant", help="Only this tenant.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Only days from this one on (UTC).")
@click.option(
    "--evaluation",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What `tidemill pii evaluate --json` printed.",
)
@click.option("--no-made-up", is_flag=True, help="Leave out the made-up texts, which load the detectors.")
@click.option(
    "--examples",
    default=0,
    show_default=True,
    type=click.IntRange(0, 200),
    help="Masked context of values in stored runs. Such a page holds words of people: no erasure finds it.",
)
@reports
def report(  # noqa: PLR0917 - the command's options
    out: Path | None,
    tenant: str | None,
    since: datetime | None,
    evaluation: tuple[Path, ...],
    no_made_up: bool,  # noqa: FBT001 - a flag of the command
    examples: int,
) -> Result:
    """Write a page about masking that needs nothing else: what was found, policy, lists, quarantine, figures, risk.

    It never holds a raw value. With --examples, --out must be given: such a page does not belong in the data home.
    """
    from pipelines.commands.person import known_tenant
    from pipelines.pii.reporting import render, summary
    from pipelines.report.render import put
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    if examples and out is None:
        raise click.UsageError("--examples needs --out: a page with words of people does not belong in the data home")
    settings = load_settings()
    with Mill(settings) as mill:
        if tenant is not None:
            known_tenant(mill, tenant)
        made = summary(mill, tenant, since.date().isoformat() if since else "", evaluation)
        if examples or not no_made_up:
            from pipelines.pii.examples import made_up, stored
            from pipelines.pii.maskers import opened

            progress("loading the detectors")
            made["stored"] = stored(mill, made["tenants"], examples) if examples else []
            if not no_made_up:
                with opened(None, None) as masking:
                    made["made_up"] = made_up(masking.masker, masking.tenant_id)
    page = put(render(made), out or settings.home / "report" / "masking.html")
    return {"report": str(page), "values_replaced": made["total"], "quarantined": len(made["quarantine"])}
