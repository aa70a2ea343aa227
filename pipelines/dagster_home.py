"""Dagster's home inside the data home, with the project's ``dagster.yaml`` in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.settings import Settings, adopt_environment

if TYPE_CHECKING:
    import dagster as dg

CONFIG = Path(__file__).resolve().parents[1] / "dagster.yaml"


def prepare_home(settings: Settings) -> Path:
    """The folder, with the configuration as it stands in the checkout."""
    home = settings.home / "dagster"
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CONFIG, home / "dagster.yaml")
    adopt_environment(settings)
    return home


def instance(settings: Settings) -> dg.DagsterInstance:
    """Dagster's instance of this data home; a context manager."""
    import dagster as dg

    return dg.DagsterInstance.from_config(str(prepare_home(settings)))
