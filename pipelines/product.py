"""Loads the agent product of a data home: ``module:factory`` with its options.

Both stand in ``agent.json`` of the data home once ``choose`` wrote them, so every process speaks of one agent;
the setting ``TIDEMILL_AGENT`` names one where nothing is written. Without either there is no product: spans are taken,
nothing is learned.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from governance.ports.product import AgentProduct, DemoProduct
from pipelines.errors import ProductError
from pipelines.settings import Settings


def agent_path(settings: Settings) -> Path:
    """Where a data home keeps which agent it is about."""
    return settings.home / "agent.json"


def choose(settings: Settings, options: dict[str, Any]) -> None:
    """Fix agent and options of this data home. They never change afterwards.

    Raises:
        ProductError: when the data home already speaks of another agent.
    """
    path = agent_path(settings)
    wanted = {"agent": settings.agent, "options": options}
    if path.exists():
        held = chosen(settings)
        if held != wanted:
            raise ProductError(f"{path}: holds {held}, not {wanted}; use another TIDEMILL_DATA_HOME")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(wanted, sort_keys=True))


def chosen(settings: Settings) -> dict[str, Any]:
    """Agent and options: of the data home, else of the settings.

    Raises:
        ProductError: when the file cannot be read.
    """
    path = agent_path(settings)
    if not path.exists():
        return {"agent": settings.agent, "options": {}}
    try:
        held: dict[str, Any] = json.loads(path.read_text())
        agent, options = held["agent"], dict(held["options"])
    except (ValueError, KeyError, TypeError) as error:
        raise ProductError(f"{path}: not what `choose` writes: {error}") from error
    if agent is not None and not isinstance(agent, str):
        raise ProductError(f"{path}: agent is not a string")
    return {"agent": agent, "options": options}


def has_product(settings: Settings) -> bool:
    """Whether any agent is configured."""
    return chosen(settings)["agent"] is not None


def load_product(settings: Settings) -> AgentProduct:
    """The agent product of this data home.

    Raises:
        ProductError: naming the setting when there is none, or the module, the factory or its options are wrong.
    """
    agent, options = chosen(settings)["agent"], chosen(settings)["options"]
    if agent is None:
        raise ProductError(
            f"no agent product for {settings.home}: set TIDEMILL_AGENT=module:factory, or name the data home of a demo "
            "in TIDEMILL_DATA_HOME (docs/engineers.md)"
        )
    module_name, _, attribute = agent.partition(":")
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
        product = factory(**options)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ProductError(f"TIDEMILL_AGENT={agent} with {options}: {error}") from error
    if not isinstance(product, AgentProduct):
        raise ProductError(f"TIDEMILL_AGENT={agent}: gives a {type(product).__name__}, not an AgentProduct")
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
