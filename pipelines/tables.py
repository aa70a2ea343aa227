"""Tables: what a company states in TOML files of its own, each named by a setting. Without the setting it is empty."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from pipelines.errors import TableError

if TYPE_CHECKING:
    from pathlib import Path

    from governance.records.process_rule import ProcessRule
    from ingestion.prices import PriceTable
    from pipelines.settings import Settings


def prices(settings: Settings) -> PriceTable:
    """What tokens cost the company.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from ingestion.prices import PriceTable, parse_prices

    path = settings.prices
    return PriceTable() if path is None else parse_prices(_text(path, "TIDEMILL_PRICES"), str(path))


def process_rules(settings: Settings) -> tuple[ProcessRule, ...]:
    """What the company's agents must and must not do.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from governance.records.process_rule import ProcessRules

    path = settings.process_rules
    if path is None:
        return ()
    try:
        held = tomllib.loads(_text(path, "TIDEMILL_PROCESS_RULES"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"TIDEMILL_PROCESS_RULES: {path} is not TOML: {error}") from error
    return ProcessRules.parse(held, str(path)).rule


def _text(path: Path, variable: str) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{variable}: {path} cannot be read: {error}") from error
