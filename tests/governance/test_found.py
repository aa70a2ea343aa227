"""Counts of what masking replaced: by channel and type, a message once a batch, into the ledger and its metrics."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.found import Found, by_channel, in_feedback, in_message, in_span
from governance.masked_drafts import masked_drafts
from governance.ports.masker import Finding
from governance.records.content import SpanContent
from governance.records.ledger import Fate
from governance.records.message import Message, Role, TextPart
from governance.records.span import Span
from governance.store import Store
from tests.ingestion.otlp_bodies import MailMasker
from tests.ingestion.test_drain import Mill, run_of
from tests.ingestion.test_quarantine import Ward


def finding(pointer: str, kind: str = "PERSON") -> Finding:
    return Finding(pointer=pointer, start=0, end=1, entity_type=kind, score=1.0, mention="m")


@pytest.mark.parametrize(
    ("pointer", "channel"),
    [
        ("/parts/0/text", "user"),
        ("", "user"),
        ("/parts/12/arguments/to", "tool_arguments"),
        ("/parts/0/response", "tool_results"),
    ],
)
def test_where_in_a_message(pointer: str, channel: str) -> None:
    assert in_message(Role.USER, [finding(pointer)]) == {(channel, "PERSON"): 1}


@pytest.mark.parametrize(
    ("pointer", "channel"),
    [
        ("/content/tool_arguments/to", "tool_arguments"),
        ("/content/tool_result", "tool_results"),
        ("/content/evaluations/0/explanation", "feedback"),
        ("/content/tool_name", "attributes"),
        ("/span/content/tool_result", "attributes"),
        ("", "attributes"),
    ],
)
def test_where_in_a_span(pointer: str, channel: str) -> None:
    assert in_span([finding(pointer)]) == {(channel, "PERSON"): 1}


@given(st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["A", "B"]))))
def test_every_finding_is_counted_once_wherever_it_stands(found: list[tuple[str, str]]) -> None:
    findings = [finding(pointer, kind) for pointer, kind in found]
    for counted in (in_message(Role.TOOL, findings), in_span(findings), in_feedback(findings)):
        assert sum(sum(kinds.values()) for kinds in by_channel(counted).values()) == len(findings)


def test_a_message_that_many_spans_repeat_counts_once() -> None:
    said = Message(role=Role.USER, parts=(TextPart(text="I am ann@example.org"),))
    spans = [
        Span(trace_id="a" * 32, span_id=f"{number:016x}", name="chat", start_unix_nano=number) for number in (1, 2, 3)
    ]
    counted: Found = Counter()
    list(masked_drafts(MailMasker(), "t", [(span, SpanContent(input=(said,))) for span in spans], counted))
    assert counted == {("user", "EMAIL_ADDRESS"): 1}


def test_the_ledger_adds_them_up_by_day(store: Store) -> None:
    day, fates = "2026-03-01", [(Fate.STORED, "")]
    for _ in range(2):
        store.ledger.record("acme", day, 1, fates, 0, "one", {"user": {"PERSON": 2}})
    store.ledger.record("acme", day, 1, fates, 0, "two", {"user": {"PERSON": 1}, "tool": {"US_SSN": 4}})
    store.ledger.record_release("acme", day, [], 0, "q", {"tool": {"US_SSN": 1}})
    (line,) = store.ledger.lines()
    assert line.findings == {"user": {"PERSON": 3}, "tool": {"US_SSN": 5}}


def test_a_drain_counts_what_it_masked(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    mill.send(*run_of(text="ask bob@example.org"))
    mill.drain.run()
    assert mill.line().findings == {
        "attributes": {"EMAIL_ADDRESS": 2}, "user": {"EMAIL_ADDRESS": 1},
    }  # fmt: skip
    mill.close()


def test_what_is_released_from_quarantine_is_counted_then(tmp_path: Path) -> None:
    ward = Ward(tmp_path)
    ward.mill.contract()
    ward.fill()
    assert ward.mill.line().findings == {}
    ward.heal()
    ward.quarantine.run()
    assert sum(sum(kinds.values()) for kinds in ward.mill.line().findings.values()) > 0
    ward.mill.close()
