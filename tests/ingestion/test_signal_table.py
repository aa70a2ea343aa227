"""The documentation's table has every signal, the thresholds as they are, and examples that are read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from governance.records.error_kind import ErrorKind
from governance.records.process_rule import ProcessRules
from governance.records.signal import SignalKind
from ingestion.failed_results import LONGEST
from ingestion.prices import PriceTable, parse_prices
from ingestion.signals import Thresholds
from ingestion.signals.argument_checks import DEEPEST, STEPS, TRACE_STEPS

PAGE = (Path(__file__).parents[2] / "docs/engineers.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("| signal | rule |")[2].partition("\n\n")[0]
ROWS = {match[1]: match[0] for match in re.finditer(r"^\| `(\w+)` \|.*\|$", TABLE, re.MULTILINE)}
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_every_signal_is_in_the_table_and_nothing_else() -> None:
    assert ROWS.keys() == {kind.value for kind in SignalKind}
    assert all(row.count("|") == 5 for row in ROWS.values())


def test_every_kind_of_tool_error_is_named() -> None:
    assert all(f"`{kind.value}`" in ROWS["tool_error"] for kind in ErrorKind)


def test_the_thresholds_are_those_of_the_code() -> None:
    limits = Thresholds()
    assert f"at most {LONGEST} characters" in ROWS["tool_error"]
    assert f"{limits.loop_calls} calls; {limits.loop_likeness} of" in ROWS["retry_loop"]
    assert f"at most {limits.empty_text} characters" in ROWS["retrieval_miss"]
    assert (
        f"within {limits.refusal_within} characters of an answer of at most {limits.refusal_length}" in ROWS["refusal"]
    )
    assert f"{limits.outlier_sample} earlier runs; {limits.outlier_distance:g} robust" in ROWS["latency_outlier"]
    assert f"{STEPS} steps a call, {TRACE_STEPS} a trace, {DEEPEST} levels" in ROWS["schema_violation"]
    assert limits.outlier_ratio == 2.0  # "twice the median"


def test_the_examples_are_read() -> None:
    rules, prices = (next(text for text in BLOCKS if word in text) for word in ("[[rule]]", "[[price]]"))
    assert len(ProcessRules.parse(tomllib.loads(rules), "docs").rule) == 3
    assert len(parse_prices(prices, "docs").price) == 1
    assert PriceTable().price == ()
