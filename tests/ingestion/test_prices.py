"""Prices come from the company's own table, and only from there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from governance.errors import RecordError
from governance.records.usage import Usage
from ingestion.prices import PriceTable, parse_prices

TEXT = """
currency = "EUR"

[[price]]
model = "tiny"
input = 1
output = 3

[[price]]
model = "tiny"
since = 2026-06-01
input = 2
output = 6

[[price]]
model = "tiny-*"
input = 5
cache_read = 0.5
cache_write = 6
output = 7

[[price]]
model = "*"
input = 100
output = 100
"""
MAY, JUNE = datetime(2026, 5, 31, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("model", "at", "dollars"),
    [("tiny", MAY, 1), ("tiny", JUNE, 2), ("tiny-2026", MAY, 5), ("other", MAY, 100)],
)
def test_a_name_is_before_a_pattern_and_the_latest_before_the_older(model: str, at: datetime, dollars: float) -> None:
    table = parse_prices(TEXT, "prices.toml")
    price = table.price_of(model, at)
    assert table.currency == "EUR"
    assert price is not None
    assert price.input == dollars


def test_what_has_no_price_has_no_price() -> None:
    assert PriceTable().price_of("tiny", MAY) is None
    assert parse_prices(TEXT, "prices.toml").price_of(None, MAY) is None


def test_cached_tokens_have_a_price_of_their_own() -> None:
    price = parse_prices(TEXT, "prices.toml").price_of("tiny-1", MAY)
    assert price is not None
    used = Usage(input_tokens=1_000_000, cache_read_tokens=600_000, cache_write_tokens=100_000, output_tokens=10)
    assert price.of(used) == round(0.3 * 5 + 0.6 * 0.5 + 0.1 * 6 + 7e-5, 12)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("currency = ", "prices.toml: not TOML"),
        ('[[price]]\nmodel = "m"\ninput = -1\noutput = 1', "price.0.input"),
        ('[[price]]\nmodel = "m"\ninput = 1', "price.0.output"),
        ('[[price]]\nmodel = "m"\ninput = nan\noutput = 1', "price.0.input"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutput = 1\ncache = 2', "price.0.cache"),
        ("price = 3", "price"),
        ('currency = "dollars"', "currency"),
    ],
)
def test_a_table_that_is_wrong_says_where(text: str, says: str) -> None:
    with pytest.raises(RecordError, match=says.replace(".", r"\.")):
        parse_prices(text, "prices.toml")
