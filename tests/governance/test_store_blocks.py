"""Blocks: once by reference, shared by keyed name, gone with the last need."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, func, select

from governance.records.content import SpanContent
from governance.records.message import Message, Role, ToolCallPart, text_message
from governance.records.rights import Purpose
from governance.records.trajectory import UNKNOWN_SUBJECT, Subagent
from governance.store import Store
from governance.store.blocks import SHARED
from governance.store.tables_traces import BlockNameRow, BlockPackRow, BlockRefRow, TrajectoryRow
from tests.governance.store_records import (
    T0,
    T1,
    person,
    span,
    trace_id,
    trajectory,
)
from tests.governance.store_workers import latest, newest
from tests.support.clock import ManualClock

DAY = timedelta(days=1)
LONG = "said at length " * 40
"""Long enough to be shared between traces."""


class Counts(NamedTuple):
    """What the store holds of words."""

    blocks: int
    names: int
    refs: int


def counts(url: str) -> Counts:
    """Blocks in packs, their names, and references between traces; a pack without a block is an error."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        packs = [
            [value for value in body if value is not None] for body in connection.scalars(select(BlockPackRow.body))
        ]
        names, refs = (
            connection.scalar(select(func.count()).select_from(table)) or 0 for table in (BlockNameRow, BlockRefRow)
        )
    engine.dispose()
    assert all(packs)
    return Counts(sum(map(len, packs)), names, refs)


def test_a_shared_block_lives_to_the_last_reference(store: Store, database_url: str) -> None:
    """RET-02."""
    for number in (1, 2, 3):
        store.trajectories.put(trajectory(number, subject=person(number), text=LONG, calls=()))
    assert counts(database_url) == (1, 1, 2)
    for gone, left in ((1, [2, 3]), (2, [3]), (3, [])):
        store.erasable().erase("acme", person(gone))
        found = store.trajectories.list(Purpose.COMPLY, ["acme"], T0, T1 + DAY).rows
        assert [item.turns[0].message.text for item in found] == [LONG] * len(left)
    assert counts(database_url) == (0, 0, 0)
    store.trajectories.put(trajectory(4, subject=person(4), text=LONG, calls=()))
    assert counts(database_url) == (1, 1, 0)


def test_a_long_block_is_kept_once_per_tenant_under_a_keyed_name(store: Store, database_url: str) -> None:
    for tenant in ("acme", "bolt"):
        for number in range(3):
            store.trajectories.put(trajectory(number, subject=person(1), tenant=tenant, text=LONG, calls=()))
    assert counts(database_url) == (2, 2, 4)


def test_a_name_that_another_key_made_goes_with_its_block(store: Store, database_url: str, clock: ManualClock) -> None:
    store.trajectories.put(trajectory(1, subject=person(1), text=LONG, calls=()))
    other = Store.open(database_url, clock=clock, block_key=lambda tenant: f"other {tenant}".encode())
    other.erasable().erase("acme", person(1))
    other.close()
    assert counts(database_url) == (0, 0, 0)
    again = trajectory(2, subject=person(2), text=LONG, calls=())
    store.trajectories.put(again)
    assert store.trajectories.get(again.id, Purpose.COMPLY) == again


def test_what_spans_and_trajectory_of_a_trace_say_is_kept_once(store: Store, database_url: str) -> None:
    said = text_message(Role.USER, "please refund order 1")
    spans = [span(1, n, subject=person(1), content=SpanContent(input=(said,))) for n in range(5)]
    for item in (*spans, spans[0]):
        store.spans.merge([item], latest)
    store.trajectories.put(trajectory(1, subject=person(1), calls=()))
    assert counts(database_url) == (1, 0, 0)
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == spans
    store.erasable().erase("acme", person(1))
    assert counts(database_url) == (0, 0, 0)


def test_a_trajectory_put_again_drops_the_words_that_it_lost(store: Store, database_url: str) -> None:
    store.trajectories.put(trajectory(1, subject=UNKNOWN_SUBJECT, text="first"))
    before = counts(database_url)
    again = trajectory(1, subject=person(1), text="second")
    store.trajectories.put(again)
    assert counts(database_url) == before
    assert store.trajectories.get(again.id, Purpose.COMPLY) == again
    assert store.erasable().count("acme", person(1)) == 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["run", "span", "erase"]),
            st.integers(1, 4),
            st.sampled_from(["a", "b", f"a{LONG}", f"b{LONG}", f"c{LONG}"]),
        ),
        max_size=16,
    )
)
def test_blocks_are_exactly_what_is_referred_to(
    store: Store, database_url: str, acts: list[tuple[str, int, str]]
) -> None:
    runs: dict[int, str] = {}
    said: dict[int, str] = {}
    for number in range(1, 5):
        store.erasable().erase("acme", person(number))
    for act, number, text in acts:
        if act == "run":
            store.trajectories.put(trajectory(number, subject=person(number), text=text, calls=()))
            runs[number] = text
        elif act == "span":
            content = SpanContent(input=(text_message(Role.USER, text),))
            store.spans.merge([span(number, subject=person(number), content=content)], newest)
            said[number] = text
        else:
            store.erasable().erase("acme", person(number))
            runs.pop(number, None)
            said.pop(number, None)
        held = {(text, 0 if len(text) > SHARED else number) for of in (runs, said) for number, text in of.items()}
        found = counts(database_url)
        assert (found.blocks, found.names) == (len(held), sum(not number for _, number in held))
    rows = store.trajectories.list(Purpose.COMPLY, ["acme"], T0, T1 + DAY).rows
    assert {int(item.subject, 16): item.turns[0].message.text for item in rows} == runs
    for number, text in said.items():
        (item,) = store.spans.trace("acme", trace_id(number), Purpose.COMPLY)
        assert item.content is not None
        assert item.content.input[0].text == text


def test_a_slot_that_another_trace_needs_later_is_recorded(store: Store, database_url: str) -> None:
    """Two long texts of one pack: the second is borrowed in a later delivery, and outlives its home."""
    first, second = f"first {LONG}", f"second {LONG}"
    short = text_message(Role.USER, "short")
    said = [text_message(Role.USER, text) for text in (first, second)]
    store.spans.merge([span(1, subject=person(1), content=SpanContent(input=(*said, short)))], latest)
    store.spans.merge([span(2, 1, subject=person(2), content=SpanContent(input=(said[0],)))], latest)
    later = span(2, 2, subject=person(2), content=SpanContent(input=(said[1], short)))
    store.spans.merge([later], latest)
    assert counts(database_url) == (4, 2, 2), "a short text is each trace's own"
    store.erasable().erase("acme", person(1))
    assert store.spans.trace("acme", trace_id(2), Purpose.COMPLY)[1] == later
    assert counts(database_url) == (3, 2, 2)


def test_what_python_calls_equal_is_kept_apart(store: Store) -> None:
    def asked(value: object) -> tuple[Message, ...]:
        call = ToolCallPart(id="1", name="t", arguments={"a": value})
        rest = [text_message(Role.USER, f"{n}") for n in range(4)]
        return (Message(role=Role.ASSISTANT, parts=(call,)), *rest)

    spans = [
        span(1, n, subject=person(1), content=SpanContent(input=asked(value)))
        for n, value in enumerate([1, True, 1.0, 0.0, -0.0])
    ]
    store.spans.merge(spans, latest)
    found = [json.dumps(one.plain()) for one in store.spans.trace("acme", trace_id(1), Purpose.COMPLY)]
    assert found == [json.dumps(one.plain()) for one in spans]


def test_what_subagents_said_is_kept_in_blocks_too(store: Store, database_url: str) -> None:
    alone = trajectory(1, subject=person(1), text="said by both")
    (turn,) = alone.turns
    apart = turn.model_copy(update={"message": text_message(Role.ASSISTANT, "said apart"), "earlier": True})
    whole = alone.model_copy(update={"subagents": (Subagent(span_id="a" * 16, name="expert", turns=(turn, apart)),)})
    store.trajectories.put(alone)
    before = counts(database_url)
    store.trajectories.put(whole)
    assert counts(database_url)[0] == before[0] + 1
    assert store.trajectories.get(whole.id, Purpose.COMPLY) == whole
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        assert "said apart" not in str(connection.execute(select(TrajectoryRow.body)).scalar_one())
    engine.dispose()
    store.erasable().erase("acme", person(1))
    assert counts(database_url)[0] == 0
