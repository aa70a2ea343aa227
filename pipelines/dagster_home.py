"""Dagster's home inside the data home, with the project's ``dagster.yaml`` in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg

from pipelines.settings import Settings, adopt_environment

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
    return dg.DagsterInstance.from_config(str(prepare_home(settings)))
