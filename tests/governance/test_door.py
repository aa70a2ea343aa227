"""The door: masked, owned, withheld or refused; never raw, and worlds through the same masking."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from governance.admissions import Refusal, tally
from governance.door import Door, Item
from governance.errors import MaskingError
from governance.keys import DerivedKeyProvider
from governance.masking.detection import Detector
from governance.masking.presidio_masker import PresidioMasker
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.message import Message, Role, TextPart, ToolCallPart
from governance.records.rights import (
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    RightsFact,
    Suppression,
)
from governance.records.span import Span, SpanEvent, SpanLink
from governance.records.world import World, WorldSchema
from governance.store import Store
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

KEYS = DerivedKeyProvider("door tests")
PLANTED = "kim.parker@corp.example"
PAST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def masker() -> PresidioMasker:
    return PresidioMasker(KEYS)


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path / 'door.db'}", clock=clock)
    terms = (PurposeTerm(purpose=Purpose.TRAIN_WEIGHTS, basis=Basis.CONSENT),)
    opened.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=PAST, recorded_at=PAST))
    yield opened
    opened.close()


@pytest.fixture
def door(store: Store, masker: PresidioMasker, clock: ManualClock, ids: SeededIds) -> Door:
    return Door(store, masker, KEYS, clock, ids=ids)


def consent(store: Store, door: Door, raw_id: str) -> None:
    subject = door.subject("t", raw_id)
    store.rights.add_consent(
        ConsentEvent(
            id=f"e-{raw_id}", tenant_id="t", subject=subject, purpose=Purpose.TRAIN_WEIGHTS,
            status=ConsentStatus.GIVEN, notice_digest="0" * 64, valid_from=PAST, recorded_at=PAST, actor="test",
        )
    )  # fmt: skip


def item(raw_id: str | None, number: int = 1, **fields: Any) -> Item:
    span = Span.model_validate(
        {"trace_id": f"{1:032x}", "span_id": f"{number:016x}", "name": "chat model", "start_unix_nano": 5} | fields
    )
    words = Message(role=Role.USER, parts=(TextPart(text=f"Hello, this is Clara Barlow, {PLANTED}"),))
    call = ToolCallPart(id="call-1", name="get_order", arguments={"customer_id": raw_id or "x", "to": PLANTED})
    answer = Message(role=Role.ASSISTANT, parts=(call,))
    content = SpanContent(operation="chat", input=(words,), output=(answer,), tool_arguments={"order_id": "SO-1234"})
    return span, content, raw_id


EVERYWHERE: dict[str, Any] = {
    "name": f"chat {PLANTED}",
    "status_message": f"{PLANTED} not found",
    "status_code": 2,
    "scope_name": f"lib {PLANTED}",
    "trace_state": f"v={PLANTED}",
    "resource": {"service.name": "shop", "owner": PLANTED},
    "attributes": {
        "user.id": "harbor-0012",
        "llm.invocation_parameters": json.dumps({"user": PLANTED, "deep": json.dumps([PLANTED])}),
        "note": "about harbor-0012",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.request.model": "base",
        "gen_ai.input.messages": f'[{{"role":"user","parts":[{{"type":"text","content":"{PLANTED}"}}]}}]',
        "tidemill.release": "ab" * 32,
        "tidemill.consent": "granted",
        "tidemill.tenant": "victim",
        "list": [PLANTED, 3, True],
    },
    "events": (SpanEvent(name="exception", time_unix_nano=6, attributes={"exception.message": f"no {PLANTED}"}),),
    "links": (SpanLink(trace_id=f"{2:032x}", span_id=f"{2:016x}", attributes={"why": PLANTED}),),
}


def admitted(result: Any) -> AdmittedSpan:
    assert isinstance(result, AdmittedSpan)
    return result


def test_every_carrier_of_a_span_is_masked(door: Door, store: Store) -> None:
    consent(store, door, "harbor-0012")
    [result] = door.admit("t", [item("harbor-0012", **EVERYWHERE)])
    span = admitted(result)
    text = span.model_dump_json()
    assert PLANTED not in text
    assert "harbor-0012" not in text
    assert "Clara" not in text
    assert span.content is not None
    assert span.content.tool_arguments == {"order_id": "SO-1234"}
    assert span.subject == door.subject("t", "harbor-0012") == span.span.attributes["user.id"]
    assert span.span.attributes["gen_ai.usage.input_tokens"] == 12
    assert span.span.attributes["tidemill.release"] == "ab" * 32
    assert not {"tidemill.consent", "tidemill.tenant", "gen_ai.input.messages"} & set(span.span.attributes)
    assert len(span.mentions) >= 2
    parts = [part for message in span.content.output for part in message.parts if isinstance(part, ToolCallPart)]
    assert parts[0].name == "get_order"
    assert parts[0].id == "call-1"
    assert parts[0].arguments["customer_id"] == span.subject  # as in the world, so the call replays


def test_without_a_right_only_structure_is_kept(door: Door) -> None:
    results = door.admit("t", [item("harbor-0012", **EVERYWHERE), item(None, 2, trace_id=f"{9:032x}")])
    for result in results:
        span = admitted(result)
        assert span.content is None
        assert span.withheld_reason == "content_withheld"
        assert span.mentions == ()
    known = admitted(results[0])
    assert known.span.attributes["gen_ai.request.model"] == "base"
    assert known.span.attributes["gen_ai.usage.input_tokens"] == 12
    assert not {"note", "list", "llm.invocation_parameters"} & set(known.span.attributes)
    assert known.span.status_message == ""
    assert PLANTED not in known.model_dump_json()
    assert admitted(results[1]).subject == "unknown"


def test_without_a_right_no_key_that_somebody_may_have_said_is_kept(door: Door) -> None:
    said = ["by.078-05-1120", "customer.Zofia Brzezinska.orders", "acct.70412345", f"by.{PLANTED}"]
    kept = {"gen_ai.usage.input_tokens": 12, "llm.token_count.prompt": 3, "http.response.status_code": 200}
    span = admitted(door.admit("t", [item(None, attributes=dict.fromkeys(said, 1) | kept)])[0])
    assert span.content is None
    assert span.span.attributes == kept


def test_under_a_hold_no_restriction_loses_what_was_said(door: Door, store: Store) -> None:
    consent(store, door, "harbor-0012")
    fact = RightsFact(
        id="r", tenant_id="t", kind=FactKind.RESTRICTION, subject=door.subject("t", "harbor-0012"), reason="art. 18",
        valid_from=PAST, recorded_at=PAST, actor="test",
    )  # fmt: skip
    store.rights.add_facts([fact])
    assert admitted(door.admit("t", [item("harbor-0012")])[0]).content is None
    store.rights.add_facts([fact.model_copy(update={"id": "h", "kind": FactKind.HOLD})])
    assert admitted(door.admit("t", [item("harbor-0012")])[0]).content is not None
    assert admitted(door.admit("t", [item("nobody-knows")])[0]).content is None, "a hold is no right to keep more"


def test_a_span_without_an_id_belongs_to_its_traces_person(door: Door, store: Store) -> None:
    consent(store, door, "harbor-0012")
    results = door.admit("t", [item(None, 2), item("harbor-0012", 1)])
    assert {admitted(one).subject for one in results} == {door.subject("t", "harbor-0012")}
    both = door.admit("t", [item(None, 3), item("harbor-0012", 1), item("harbor-0013", 2)])
    assert admitted(both[0]).subject == "unknown"


def test_an_erased_person_is_refused(door: Door, store: Store, clock: ManualClock) -> None:
    subject = door.subject("t", "harbor-0012")
    store.rights.suppress(Suppression(tenant_id="t", subject=subject, since=clock.now(), request_id="r"))
    results = door.admit("t", [item("harbor-0012"), item("harbor-0013", 2, trace_id=f"{9:032x}")])
    assert results[0] == Refusal("suppressed", f"{1:032x}", f"{1:016x}")
    assert isinstance(results[1], AdmittedSpan)


def test_a_span_of_a_stored_trace_is_its_persons_and_their_id_leaves_its_words(door: Door, store: Store) -> None:
    consent(store, door, "harbor-0012")
    first = [one for one in door.admit("t", [item("harbor-0012")]) if isinstance(one, AdmittedSpan)]
    store.spans.merge(first, lambda old, _: old)
    both = door.admit("t", [item("harbor-0012", 1, trace_id=f"{8:032x}"), item(None, 2, **EVERYWHERE)])
    late = admitted(both[1])
    assert late.subject == door.subject("t", "harbor-0012")
    assert late.content is not None
    assert "harbor-0012" not in late.model_dump_json()


def test_one_audit_event_a_batch_without_names(door: Door, store: Store) -> None:
    consent(store, door, "harbor-0012")
    results = door.admit("t", [item("harbor-0012"), item("harbor-0099", 2, trace_id=f"{9:032x}")])
    assert store.audit.list("t") == ()
    store.audit.append(door.admission("t", "segment:1", tally(results)))
    events = [event for event in store.audit.list("t") if event.action == "admit_spans"]
    assert len(events) == 1
    assert events[0].detail == {"admitted": 1, "withheld": 1}
    assert door.subject("t", "harbor-0012") not in events[0].model_dump_json()


def test_subjects_are_keyed_per_tenant(door: Door) -> None:
    assert door.subject("t", "a") == door.subject("t", "a") != door.subject("u", "a")
    assert door.subject("t", None) == door.subject("t", "") == "unknown"


def test_a_failing_detector_admits_nothing(store: Store, clock: ManualClock) -> None:
    class Broken(Detector):
        def _analyse(self, texts: Any) -> Any:
            raise ConnectionError("down")

    broken = Door(store, PresidioMasker(KEYS, detector=Broken()), KEYS, clock)
    with pytest.raises(MaskingError):
        broken.admit("t", [item("harbor-0012", **EVERYWHERE)])
    assert [event.action for event in store.audit.list("t")] == []


SCHEMA = WorldSchema(
    primary_keys={"customers": "customer_id", "orders": "order_id"},
    subject_fields={"customers": "customer_id", "orders": "customer_id"},
    personal_fields={"customers.name": "PERSON", "customers.email": "EMAIL_ADDRESS"},
)


def world() -> World:
    return World(
        tables={
            "customers": (
                {"customer_id": "harbor-0012", "name": "Clara Barlow", "email": PLANTED},
                {"customer_id": "harbor-0013", "name": "Jonas Draper", "email": "jonas@corp.example"},
            ),
            "orders": (
                {"order_id": "SO-1234", "customer_id": "harbor-0012", "amount": "12.50", "item": "desk lamp"},
                {"order_id": "SO-1235", "customer_id": "harbor-0013", "amount": "9.00", "item": "toaster"},
            ),
            "refunds": (),
        },
        documents={"returns": "Items can be returned within 30 days.", "contact": f"Ask Clara Barlow, {PLANTED}."},
        at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_a_world_is_masked_like_the_texts(door: Door, store: Store, clock: ManualClock) -> None:
    for person in ("harbor-0012", "harbor-0013"):
        consent(store, door, person)
    ref = door.admit_world("t", world(), SCHEMA)
    assert door.admit_world("t", world(), SCHEMA) == ref
    assert ref.source_digest == world().digest()
    held = store.worlds.get(ref.masked_digest, Purpose.COMPLY)
    subject = door.subject("t", "harbor-0012")
    customer = next(row for row in held.tables["customers"] if row["customer_id"] == subject)
    order = next(row for row in held.tables["orders"] if row["customer_id"] == subject)
    assert order == {"order_id": "SO-1234", "customer_id": subject, "amount": "12.50", "item": "desk lamp"}
    assert held.documents["returns"] == "Items can be returned within 30 days."
    assert customer["name"] in held.documents["contact"]
    assert PLANTED not in held.model_dump_json()
    span = admitted(door.admit("t", [item("harbor-0012")])[0])
    assert span.content is not None
    assert customer["name"] in span.content.input[0].text
    assert customer["email"] in span.content.input[0].text


def test_rows_of_erased_people_never_enter_a_world(door: Door, store: Store, clock: ManualClock) -> None:
    subject = door.subject("t", "harbor-0012")
    store.rights.suppress(Suppression(tenant_id="t", subject=subject, since=clock.now(), request_id="r"))
    clock.advance(timedelta(seconds=1))
    ref = door.admit_world("t", world(), SCHEMA)
    held = store.worlds.get(ref.masked_digest, Purpose.COMPLY)
    assert [len(held.tables[name]) for name in ("customers", "orders")] == [1, 1]
    assert subject not in held.model_dump_json()
