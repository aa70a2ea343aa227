"""Marks: where surrogates stand, by every path; masking again leaves them; nothing planted reaches a stored byte."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.masking.annotations import marks_of, shields, text_name
from governance.masking.detection import TextDetector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.reading import read
from governance.masking.spans import Hit
from governance.masking.surrogate import Surrogates
from governance.masking.walker import leaves
from governance.own_id import HashedId, OwnId
from governance.ports.masker import Masked, MaskingPolicies
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.masking_policy import Action, MaskingPolicy
from governance.records.message import Message, Role, TextPart, ToolCallPart, ToolResultPart
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, PurposeTerm
from governance.records.span import Span, SpanEvent, SpanLink
from governance.store import Store
from governance.store.base import Base
from tests.support.clock import ManualClock

KEYS = DerivedKeyProvider("marks")
SURROGATES = Surrogates(KEYS, "t")
RULES = {
    "EMAIL_ADDRESS": re.compile(r"[\w.]+@[\w.]+\w"),
    "PHONE_NUMBER": re.compile(r"\(\d{3}\) \d{3}-\d{4}"),
    "PERSON": re.compile(r"\b(?:Anna|Miller|Zed)(?: (?:Anna|Miller|Zed))*\b"),
}


class Rules(TextDetector):
    """Three patterns: fast, and with nothing that guesses."""

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        return [
            tuple(
                sorted(
                    (Hit(*match.span(), kind, 0.9) for kind, rule in RULES.items() for match in rule.finditer(text)),
                    key=lambda hit: hit.start,
                )
            )
            for text, _ in texts
        ]


class Changing(MaskingPolicies):
    """A policy that a test changes."""

    def __init__(self) -> None:
        self.now = MaskingPolicy()

    def policy(self, tenant_id: str) -> MaskingPolicy:
        return self.now


def masker(policies: MaskingPolicies | None = None) -> PresidioMasker:
    return PresidioMasker(KEYS, detector=Rules(), policies=policies)


WORDS = st.sampled_from(
    ["Anna Miller", "Zed", "anna@corp.example", "(212) 734-0134", "x", "ok,", "", "12", '{"', "é", "\\u00e9", "SO-1234"]
)
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(0, 10**10), st.floats(allow_nan=False), TEXTS)
NAMES = st.sampled_from(
    ["text", "email", "phone", "name", "dob", "passenger.name", "id", "zip", "a@b.example", "llm.prompts.0.content"]
)
PLAIN = st.recursive(SCALARS, lambda some: st.lists(some, max_size=3) | st.dictionaries(NAMES, some, max_size=4))
VALUES = st.recursive(
    PLAIN | PLAIN.map(json.dumps) | TEXTS.map(lambda text: {"bytesValue": base64.b64encode(text.encode()).decode()}),
    lambda some: st.dictionaries(NAMES, some | some.map(json.dumps), max_size=4),
    max_leaves=8,
)


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_masking_twice_is_masking_once(value: Any) -> None:
    one = masker()
    [masked] = one.mask("t", [value])
    marks = marks_of(masked)
    [again] = one.mask_again("t", [masked.value], marks)
    assert again.value == masked.value
    assert again.findings == ()
    assert shields(again.marks) == shields(marks)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_every_finding_tells_where_its_surrogate_stands(value: Any) -> None:
    [masked] = masker().mask("t", [value])
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for found, source in ((before, value), (after, masked.value)):
        for leaf in leaves(source):
            found.setdefault(leaf.pointer, []).append(leaf.text)
    named = {pointer.rpartition("/")[0] for pointer in before if pointer.endswith("~k")}
    for one in masked.findings:
        if one.pointer.endswith("~k") or any(one.pointer.startswith(f"{name}/") for name in named):
            continue  # a field's name was replaced: the pointers before and after differ
        [old], [new] = before[one.pointer], after[one.pointer]
        reading, place = read(old), (one.start, one.end)
        made = SURROGATES.make(one.entity_type, reading.value(*place) if reading else old[slice(*place)])
        made = reading.written(made, *place) if reading else made
        stands = new[one.masked_start : one.masked_end]
        assert stands == made or (old.isdecimal() and stands == new)


@given(VALUES)
@settings(max_examples=100, deadline=None)
def test_types_and_json_stay_and_what_is_not_personal_is_untouched(value: Any) -> None:
    [masked] = masker().mask("t", [value])
    assert shape(masked.value) == shape(value)
    if not masked.findings and "\\u" not in json.dumps(value):
        assert masked.value == value


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape(item) for item in value.values()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value)


def test_a_new_policy_masks_more_and_leaves_the_surrogates() -> None:
    policies = Changing()
    policies.now = MaskingPolicy(actions={"PHONE_NUMBER": Action.KEEP})
    one = masker(policies)
    value = {"note": "Anna Miller, (212) 734-0134, wrote", "arguments": json.dumps({"to": "Zed (212) 734-0134"})}
    [first] = one.mask("t", [value])
    assert "734-0134" in first.value["note"]
    policies.now = MaskingPolicy()
    [second] = one.mask_again("t", [first.value], marks_of(first))
    name = SURROGATES.make("PERSON", "Anna Miller")
    phone = SURROGATES.make("PHONE_NUMBER", "(212) 734-0134")
    assert second.value["note"] == f"{name}, {phone}, wrote"
    assert json.loads(second.value["arguments"]) == {"to": f"{SURROGATES.make('PERSON', 'Zed')} {phone}"}
    [third] = one.mask_again("t", [second.value], second.marks)
    assert (third.value, third.findings, third.marks) == (second.value, (), second.marks)
    [blind] = one.mask_again("t", [second.value], ())
    assert blind.value != second.value  # without marks, what looks like a number is somebody's


def test_marks_follow_an_own_id_that_is_replaced_later() -> None:
    subject = SURROGATES.subject("harbor-0012")
    packed = {"bytesValue": base64.b64encode(b"harbor-0012 is Anna").decode()}
    value = {
        "text": "harbor-0012: Anna Miller (harbor-0012) anna@corp.example",
        "inner": json.dumps({"harbor-0012": {"who": "Zed of harbor-0012"}}),
        "bytes": packed,
    }
    one = masker()
    [masked] = one.mask("t", [value])
    for hides in (OwnId("harbor-0012", subject), HashedId(subject, SURROGATES.subject)):
        hidden = hides.hidden(masked)
        assert "harbor-0012" not in json.dumps(hidden.value)
        assert b"harbor" not in base64.b64decode(hidden.value["bytes"]["bytesValue"])
        name = SURROGATES.make("PERSON", "Anna Miller")
        assert hidden.value["text"].startswith(f"{subject}: {name} ({subject}) user-")
        marks = {(mark.text, mark.start, mark.end) for mark in marks_of(hidden)}
        start = len(subject) + 2
        assert (text_name(hidden.value["text"]), start, start + len(name)) in marks
        [again] = one.mask_again("t", [hidden.value], marks_of(hidden))
        assert again.value == hidden.value
    untouched = Masked(value={"a": "b"})
    assert OwnId("harbor-0012", subject).hidden(untouched) is untouched


PLANTED = {
    "mail": "kim.parker@corp.example",
    "name": "Clara Barlow",
    "phone": "(212) 734-0187",
    "card": "4111 1111 1111 1111",
    "own": "harbor-0012",
}
EVERYTHING = "; ".join(f"{key} {value}" for key, value in PLANTED.items() if key != "name") + " my name is Clara Barlow"


def planted_item() -> tuple[Span, SpanContent, str]:
    said = {"text": EVERYTHING, "inner": json.dumps({"deep": json.dumps([EVERYTHING])}), "harbor-0012": EVERYTHING}
    packed = {"bytesValue": base64.b64encode(EVERYTHING.encode()).decode()}
    attributes = {
        "user.id": "harbor-0012", "input.value": EVERYTHING, "gen_ai.prompt.0.content": EVERYTHING,
        "llm.input_messages.0.message.content": EVERYTHING, "llm.invocation_parameters": json.dumps(said),
        "llm.tools.0.tool.json_schema": json.dumps({"description": EVERYTHING}), "metadata": said, "list": [EVERYTHING],
        "raw": packed, "customer.name": "Clara Barlow", "customer.dob": "1990-04-05", "kim.parker@corp.example": 1,
    }  # fmt: skip
    span = Span(
        trace_id=f"{1:032x}", span_id=f"{1:016x}", name=f"chat {EVERYTHING}", start_unix_nano=5, end_unix_nano=9,
        status_message=EVERYTHING, status_code=2, attributes=attributes, resource={"owner": EVERYTHING},
        scope_name=f"lib {EVERYTHING}", scope_version=EVERYTHING, scope_attributes={"who": EVERYTHING},
        trace_state=f"v={PLANTED['mail']}",
        events=(SpanEvent(name=f"exception {EVERYTHING}", time_unix_nano=6,
                          attributes={"exception.message": EVERYTHING, "exception.stacktrace": EVERYTHING}),),
        links=(SpanLink(trace_id=f"{2:032x}", span_id=f"{2:016x}", attributes={"why": EVERYTHING},
                        trace_state=f"v={PLANTED['mail']}"),),
    )  # fmt: skip
    call = ToolCallPart(id="c", name="get", arguments={"customer": said})
    answer = ToolResultPart(id="c", response=[EVERYTHING, packed])
    content = SpanContent(
        operation="chat",
        input=(Message(role=Role.USER, parts=(TextPart(text=EVERYTHING),)), Message(role=Role.TOOL, parts=(answer,))),
        output=(Message(role=Role.ASSISTANT, parts=(call,)),),
        tool_name="get", tool_arguments=said, tool_result=json.dumps(said),
    )  # fmt: skip
    return span, content, "harbor-0012"


def stored(store: Store) -> str:
    """Every cell of every table, decoded."""
    with store._kit.db.read() as connection:
        rows = [
            list(row) for table in Base.metadata.sorted_tables for row in connection.execute(select(table)).tuples()
        ]
    return json.dumps(rows, default=str, ensure_ascii=False)


@pytest.mark.parametrize("kept", [True, False])
def test_no_planted_value_survives_in_any_stored_byte(
    tmp_path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture, *, kept: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    past = datetime(2020, 1, 1, tzinfo=UTC)
    store = Store.open(f"sqlite:///{tmp_path / 'planted.db'}", clock=clock)
    terms = (PurposeTerm(purpose=Purpose.TRAIN_WEIGHTS, basis=Basis.CONSENT),)
    store.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=past, recorded_at=past))
    door = Door(store, REAL, KEYS, clock)
    if kept:
        store.rights.add_consent(
            ConsentEvent(
                id="e", tenant_id="t", subject=door.subject("t", "harbor-0012"), purpose=Purpose.TRAIN_WEIGHTS,
                status=ConsentStatus.GIVEN, notice_digest="0" * 64, valid_from=past, recorded_at=past, actor="test",
            )
        )  # fmt: skip
    [admitted] = door.admit("t", [planted_item()])
    assert isinstance(admitted, AdmittedSpan)
    assert (admitted.content is not None) == kept
    store.spans.merge([admitted], lambda old, _: old)
    held = store.spans.trace("t", f"{1:032x}", Purpose.COMPLY)
    assert held[0].marks == admitted.marks != ()
    decoded, raw = stored(store), b""
    store.close()
    for file in tmp_path.iterdir():
        raw += file.read_bytes()
    decoded += "".join(base64.b64decode(found).decode(errors="replace")
                       for found in re.findall(r"[A-Za-z0-9+/]{40,}={0,2}", decoded) if not len(found) % 4)  # fmt: skip
    for value in [*PLANTED.values(), "Barlow", "1990-04-05"]:
        assert value not in decoded, value
        assert value.encode() not in raw
        assert value not in caplog.text


REAL = PresidioMasker(KEYS)
