"""Loads the agent product named by the settings: ``module:factory``.

The factory is called with the options of ``options_path`` (JSON in the data home), so that every process of one data
home speaks of the same agent, the same week and the same troubles.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from governance.ports.product import AgentProduct, DemoProduct
from pipelines.errors import ProductError
from pipelines.settings import Settings


def options_path(settings: Settings) -> Path:
    """Where a data home keeps the options of its agent product."""
    return settings.home / "agent.json"


def write_options(settings: Settings, options: dict[str, Any]) -> None:
    """Fix the options of this data home. They never change afterwards.

    Raises:
        ProductError: when the data home already speaks of another agent.
    """
    path = options_path(settings)
    if path.exists():
        held = json.loads(path.read_text())
        if held != options:
            raise ProductError(f"{path}: holds {held}, not {options}; use another TIDEMILL_DATA_HOME")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(options, sort_keys=True))


def load_product(settings: Settings) -> AgentProduct:
    """The agent product of this data home.

    Raises:
        ProductError: naming the setting when the module, the factory or its options are wrong.
    """
    module_name, _, attribute = settings.agent.partition(":")
    path = options_path(settings)
    options = json.loads(path.read_text()) if path.exists() else {}
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
        product = factory(**options)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ProductError(f"TIDEMILL_AGENT={settings.agent} with {options}: {error}") from error
    if not isinstance(product, AgentProduct):
        raise ProductError(f"TIDEMILL_AGENT={settings.agent}: gives a {type(product).__name__}, not an AgentProduct")
    return product


def load_demo_product(settings: Settings) -> DemoProduct:
    """The product, where it can play a week.

    Raises:
        ProductError: when it has no played production.
    """
    product = load_product(settings)
    if not isinstance(product, DemoProduct):
        raise ProductError(f"TIDEMILL_AGENT={settings.agent}: has no played production, so it cannot be demonstrated")
    return product
