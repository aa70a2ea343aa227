"""What a company states in files of its own reaches the runs; a file that is wrong says so and stops what needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance.errors import RecordError, TidemillError
from governance.records.rights import Purpose
from pipelines import tables
from pipelines.canonical import show
from pipelines.doctor import examine
from pipelines.errors import TableError
from pipelines.importing import ingest
from pipelines.pii.type_names import type_names
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.ingestion.import_documents import DOCUMENTS, TRACE
from tests.ingestion.otlp_bodies import TRACE as OTLP_TRACE
from tests.ingestion.otlp_bodies import body, span_json
from tests.pipelines.test_ingest import contract, files, home, mill
from tests.support.unreadable import UNREADABLE

__all__ = ["home", "mill"]

PRICES = '[[price]]\nmodel = "m-*"\ninput = 10\noutput = 20\n'


def test_prices_reach_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mill: Mill) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(PRICES)
    monkeypatch.setenv("TIDEMILL_PRICES", str(path))
    with Mill(load_settings()) as priced:
        priced.__dict__["door"] = mill.door
        contract(priced)
        ingest(priced, "acme", files(tmp_path, langfuse=DOCUMENTS["langfuse"]))
        usage = show(priced.store, f"acme/{TRACE}", Purpose.DEBUG, priced.clock.now())["usage"]
    assert (usage["cost"], usage["currency"], usage["cost_basis"]) == (0.00035, "USD", "priced")
    assert usage["uncosted_tokens"] == 0


RULES = """
[[rule]]
name = "no_hours"
kind = "never_called"
tool = "hours"
reason = "Look at the door."
"""


def test_process_rules_reach_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mill: Mill) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    monkeypatch.setenv("TIDEMILL_PROCESS_RULES", str(path))
    with Mill(load_settings()) as ruled:
        ruled.__dict__["door"] = mill.door
        contract(ruled)
        ingest(ruled, "acme", files(tmp_path, langfuse=DOCUMENTS["langfuse"]))
        told = show(ruled.store, f"acme/{TRACE}", Purpose.DEBUG, ruled.clock.now())
    (breach,) = [one for one in told["signals"] if one["kind"] == "policy_breach"]
    (call,) = told["tool_calls"]
    assert (call["error"], call["error_type"], call["error_kind"]) == (None, None, None)
    assert (breach["label"], breach["span_ids"]) == ("no_hours", [call["span_id"]])
    assert breach["detail"] == {"what": "hours was called", "reason": "Look at the door."}


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("TIDEMILL_PRICES", str(tmp_path / "absent.toml"))
    with pytest.raises(TableError, match=r"TIDEMILL_PRICES: .*absent"):
        tables.prices(load_settings())
    (finding,) = [one for one in examine(load_settings()) if one.name == "TIDEMILL_PRICES"]
    assert finding.state == "problem"
    (tmp_path / "absent.toml").write_text("currency = 3")
    with pytest.raises(RecordError, match="currency"):
        tables.prices(load_settings())
    monkeypatch.setenv("TIDEMILL_PROCESS_RULES", str(tmp_path / "absent.toml"))
    (tmp_path / "absent.toml").write_text("rule = ")
    with pytest.raises(TableError, match=r"TIDEMILL_PROCESS_RULES: .*not TOML"):
        tables.process_rules(load_settings())


@pytest.mark.parametrize("held", UNREADABLE.values(), ids=UNREADABLE)
def test_whatever_keeps_a_table_from_being_read_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path, held: bytes
) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(held)
    readers = {
        "TIDEMILL_MASKING_POLICY": tables.masking_policy,
        "TIDEMILL_PRICES": tables.prices,
        "TIDEMILL_PROCESS_RULES": tables.process_rules,
        "TIDEMILL_RIGHTS_POLICY": tables.rights_policy,
    }
    for variable, read in readers.items():
        monkeypatch.setenv(variable, str(path))
        with pytest.raises(TidemillError, match=r"broken\.toml"):
            read(load_settings())
    with pytest.raises(TableError, match=r"broken\.toml"):
        type_names(path)


def test_a_masking_policy_reaches_the_masker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    path = tmp_path / "masking.toml"
    path.write_text('[tenant.acme.actions]\nORGANIZATION = "mask"\n')
    monkeypatch.setenv("TIDEMILL_MASKING_POLICY", str(path))
    with Mill(load_settings()) as mill:
        assert mill.policies.policy("acme").action("ORGANIZATION") == "mask"
        assert mill.policies.policy("other").action("ORGANIZATION") == "keep"
        assert mill.masker._policies is mill.policies
    path.write_text('[tenant.acme.actions]\nPERSON = "hide"\n')
    with pytest.raises(RecordError, match=r"masking.toml.*tenant.acme.actions.PERSON = 'hide'"):
        tables.masking_policy(load_settings())


def test_a_refused_call_is_shown_with_its_kind(tmp_path: Path, mill: Mill) -> None:
    contract(mill)
    attributes = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "hours", "user.id": "C-7",
        "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": '{"error": "Too many requests"}',
    }  # fmt: skip
    ingest(mill, "acme", files(tmp_path, otlp=body(span_json(1, attributes=attributes))))
    told = show(mill.store, f"acme/{OTLP_TRACE}", Purpose.DEBUG, mill.clock.now())
    (call,), (signal,) = told["tool_calls"], told["signals"]
    assert (call["error"], call["error_type"], call["error_kind"]) == ("Too many requests", None, "rate_limit")
    assert (signal["kind"], signal["label"], signal["span_ids"]) == ("tool_error", "rate_limit", [call["span_id"]])
