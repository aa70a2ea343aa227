"""``tidemill demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.commands.output import Result, progress, reports_as

if TYPE_CHECKING:
    from pipelines.settings import Settings

SHOP = "examples.shop.product:build"


def _table(summary: Result) -> str:
    from pipelines.demo.table import show

    return show(summary)


def _settings(*, sessions: int, seed: int, removed: tuple[str, ...], home: str | None, **_: Any) -> Settings:
    from pipelines.settings import load_settings

    name = "-".join(["demo", f"s{seed}", f"n{sessions}", *(f"without-{one}" for one in sorted(removed))])
    return load_settings(data_home=home or str(Path("data") / name), record_intake=True, agent=SHOP)


@click.command(epilog="Example: tidemill demo --seed 7")
@click.option("--sessions", default=720, show_default=True, help="Sessions of the played week.")
@click.option("--real", default=42, show_default=True, help="Of them, how many the real champion answers.")
@click.option("--seed", default=7, show_default=True, help="Everything synthetic follows from it.")
@click.option("--without", "removed", multiple=True, help="Leave a trouble out of the world, as a control.")
@click.option("--ablation", is_flag=True, help="Also measure each lever alone.")
@click.option("--home", default=None, help="Data home; data/demo-... when not given.")
@reports_as(_table, home=_settings)
def demo(*, sessions: int, real: int, seed: int, removed: tuple[str, ...], ablation: bool, home: str | None) -> Result:
    """Play a week, turn the loop, let a customer leave, and write the report. Run again, it goes on."""
    from pipelines.demo.run import Demo
    from pipelines.product import choose
    from pipelines.settings import adopt_environment, load_settings
    from pipelines.wiring import shared_mill

    options = {"sessions": sessions, "real_sessions": real, "seed": seed, "without": sorted(removed)}
    settings = _settings(sessions=sessions, seed=seed, removed=removed, home=home)
    adopt_environment(settings)
    choose(settings, options)
    return Demo(shared_mill(load_settings()), progress).run(ablation=ablation)
