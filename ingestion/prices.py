"""Prices: what a company pays for tokens, from a file of its own. No price ships with the product.

A table is TOML: a currency and a list of prices per million tokens.

    currency = "USD"

    [[price]]
    model = "tiny-*"        # a name, or a pattern with * and ?
    since = 2026-01-01      # from this day on; always when it is left out
    input = 0.5
    cache_read = 0.05       # as input when it is left out
    cache_write = 0.6       # as input when it is left out
    output = 1.5            # reasoning is part of the output

The price of a model at a moment: a name before a pattern, the longer pattern before the shorter, then the latest
``since`` that is not after the moment. A model without a price has no cost, and its tokens say so
(``uncosted_tokens``).
"""

from __future__ import annotations

import math
import tomllib
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any, Final

from pydantic import Field

from governance.errors import RecordError
from governance.records.base import Record, UtcTime
from governance.records.usage import Usage
from ingestion.dialects.values import DOLLARS, MONEY_DIGITS

MILLION: Final = 1_000_000
_WILD: Final = frozenset("*?[")


class Price(Record):
    """What a million tokens of a model cost."""

    model: str = Field(min_length=1)
    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cache_read: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    cache_write: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    since: UtcTime = datetime.min.replace(tzinfo=UTC)

    def of(self, usage: Usage) -> float:
        """The cost of these tokens."""
        fresh = max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens)
        parts = (
            fresh * self.input,
            usage.cache_read_tokens * (self.input if self.cache_read is None else self.cache_read),
            usage.cache_write_tokens * (self.input if self.cache_write is None else self.cache_write),
            usage.output_tokens * self.output,
        )
        return round(math.fsum(parts) / MILLION, MONEY_DIGITS)


class PriceTable(Record):
    """The prices of a company, in one currency."""

    currency: str = Field(default=DOLLARS, pattern="^[A-Z]{3}$")
    price: tuple[Price, ...] = ()

    def price_of(self, model: str | None, at: datetime) -> Price | None:
        """The price of a model at a moment, or None."""
        fitting = [one for one in self.price if one.since <= at and model is not None and _fits(one.model, model)]
        return max(fitting, key=lambda one: (not _WILD & {*one.model}, len(one.model), one.since), default=None)


def _fits(pattern: str, model: str) -> bool:
    return pattern == model or fnmatchcase(model, pattern)


def parse_prices(text: str, where: str) -> PriceTable:
    """The table that a TOML text holds.

    Raises:
        RecordError: naming the place, and the line or the fields that are wrong.

    """
    try:
        held = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number too long for Python and too deep a nesting among them
        raise RecordError(f"{where}: not TOML that can be read: {error}") from error
    prices = held.get("price", [])
    return PriceTable.parse(
        {**held, "price": [_dated(one) for one in prices] if isinstance(prices, list) else prices}, where
    )


def _dated(price: Any) -> Any:
    """A day of the calendar begins at midnight UTC."""
    since = price.get("since") if isinstance(price, dict) else None
    if isinstance(since, datetime) or not isinstance(since, date):
        return price
    return {**price, "since": datetime(since.year, since.month, since.day, tzinfo=UTC)}
