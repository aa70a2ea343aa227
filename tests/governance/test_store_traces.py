"""Spans, blocks, trajectories, signals: merged once, words by reference, read by purpose."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, select

from governance.errors import NotFound, PurposeDenied, StoreError
from governance.records.content import Evaluation, SpanContent
from governance.records.erasure import ArtifactState
from governance.records.ledger import Fate
from governance.records.lineage import NodeKind
from governance.records.message import Message, Role, ToolCallPart, text_message
from governance.records.outline import RunOutline
from governance.records.rights import Basis, ConsentStatus, Purpose, Reason, Suppression
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.records.usage import CostBasis, Usage
from governance.store import Store
from governance.store.spans import Assembled, Traces
from governance.store.tables_traces import BlockNameRow, SpansRow, TrajectoryRow
from tests.governance.store_records import (
    T0,
    T1,
    consent,
    consents,
    contract,
    person,
    signal,
    span,
    trace_id,
    trajectory,
)
from tests.governance.store_workers import latest, newest
from tests.support.clock import ManualClock

DAY = timedelta(days=1)


def bodies(url: str) -> str:
    """Everything in the rows of spans and trajectories."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = [str(list(connection.scalars(select(table.body)))) for table in (SpansRow, TrajectoryRow)]
        found += [str(list(connection.scalars(select(BlockNameRow.digest))))]
    engine.dispose()
    return "".join(found)


def test_a_span_comes_back_whole_and_its_words_are_not_in_its_row(store: Store, database_url: str) -> None:
    said = SpanContent(
        operation="execute_tool",
        input=(text_message(Role.USER, "the secret word"),),
        output=(Message(role=Role.ASSISTANT, parts=(ToolCallPart(id="1", name="t", arguments={"a": "secret"}),)),),
        tool_name="t",
        tool_arguments={"$block": "secret"},
        tool_result=["secret", None, "nul \x00 and lone \ud800"],
        evaluations=(Evaluation(name="f", score=1, explanation="secret", at_unix_nano=1),),
    )
    whole = span(1, subject=person(1), content=said, attributes={"big": 2**63, "list": [1.5, None]})
    withheld = span(1, 1, subject=person(1)).model_copy(update={"content": None, "withheld_reason": "no right"})
    assert store.spans.merge([whole, withheld], latest) == [Fate.STORED, Fate.STORED]
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == [whole, withheld]
    assert "secret" not in bodies(database_url)


def test_fates_and_dirty_traces(store: Store) -> None:
    first = span(1, subject=person(1))
    longer = span(1, subject=person(1), end_unix_nano=2_000_000_000_000_000_000)
    assert store.spans.merge([first, first, longer], latest) == [Fate.STORED, Fate.DUPLICATE, Fate.UPDATED]
    assert store.spans.dirty_traces() == [("acme", trace_id(1))]
    seen: list[Traces] = []

    def assembled(traces: Traces) -> list[Assembled]:
        seen.append(traces)
        return [Assembled(trajectory(1, subject=person(1)), [signal(trajectory(1, subject=person(1)))])]

    assert store.spans.assemble(("acme", trace_id(1)), assembled) == 1
    assert seen == [{("acme", trace_id(1)): [longer]}]
    assert store.spans.dirty_traces() == []
    assert store.spans.merge([longer], latest, assembled) == [Fate.DUPLICATE]
    assert store.spans.merge([], latest, assembled) == []
    assert len(seen) == 1
    store.spans.touch([("acme", trace_id(1)), ("acme", trace_id(2))])
    assert store.spans.dirty_traces() == [("acme", trace_id(1))]


def test_a_trace_is_assembled_as_it_is_merged_and_again_when_it_changed(store: Store) -> None:
    run = trajectory(1, subject=person(1))

    def assembled(traces: Traces) -> Iterator[Assembled]:
        ((_, spans),) = traces.items()
        yield Assembled(run, [signal(run, label=f"{len(spans)} spans")])

    def fails(traces: Traces) -> Iterator[Assembled]:
        del traces
        yield from ()

    window = (Purpose.COMPLY, ["acme"], T0, T1 + DAY)
    for number in range(3):
        store.spans.merge([span(1, number, subject=person(1))], latest, assembled)
        assert [one.label for one in store.signals.list(*window)] == [f"{number + 1} spans"]
        assert store.trajectories.list(*window).rows == (run,)
        assert store.spans.dirty_traces() == []
    store.spans.merge([span(1, 3, subject=person(1))], latest, fails)
    assert store.spans.dirty_traces() == [("acme", trace_id(1))]
    assert store.trajectories.list(*window).rows == (run,)


def test_a_suppressed_person_does_not_come_back_in(store: Store) -> None:
    store.rights.suppress(Suppression(tenant_id="acme", subject=person(1), since=T1, request_id="1"))
    assert store.spans.merge([span(1, subject=person(1)), span(2, subject=person(2))], latest) == [
        Fate.REJECTED,
        Fate.STORED,
    ]
    store.trajectories.put(trajectory(1, subject=person(1)))
    store.signals.put_all([signal(trajectory(1, subject=person(1)))])
    assert store.erasable().count("acme", person(1)) == 0


def test_spans_of_nobody_belong_to_the_one_person_of_their_trace(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    mine = [span(1, 0, subject=person(1)), span(1, 1, subject=UNKNOWN_SUBJECT)]
    lost = [span(2, 0, subject=UNKNOWN_SUBJECT)]
    mixed = [span(3, n, subject=s) for n, s in enumerate((person(1), person(2), UNKNOWN_SUBJECT))]
    store.spans.merge([*mine, *lost, *mixed], latest)
    assert store.spans.trace("acme", trace_id(1), Purpose.DEBUG) == mine
    assert store.spans.trace("acme", trace_id(2), Purpose.DEBUG) == []
    assert store.spans.trace("acme", trace_id(3), Purpose.DEBUG) == mixed[:2]


def test_a_span_that_turns_out_to_be_somebodys_moves_to_them(store: Store, database_url: str) -> None:
    nobodys = [span(1, n, subject=UNKNOWN_SUBJECT) for n in range(3)]
    store.spans.merge(nobodys, newest)
    hers = nobodys[1].model_copy(update={"subject": person(1)})
    assert store.spans.merge([hers], newest) == [Fate.UPDATED]
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == [nobodys[0], hers, nobodys[2]]
    engine = create_engine(database_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        rows = connection.execute(select(SpansRow.subject, SpansRow.size).order_by(SpansRow.size)).all()
    engine.dispose()
    assert [tuple(row) for row in rows] == [(person(1), 1), (UNKNOWN_SUBJECT, 2)]


def test_a_row_without_a_right_is_named_and_not_returned(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents(consents(person(1)))
    runs = [trajectory(n, subject=s) for n, s in ((3, person(1)), (2, person(2)), (1, UNKNOWN_SUBJECT))]
    store.trajectories.put_all(runs)
    found = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme", "acme"], T0, T1 + DAY)
    assert found.rows == (runs[0],)
    assert [(e.trajectory_id, e.reason) for e in found.excluded] == [
        (runs[2].id, Reason.UNKNOWN_SUBJECT),
        (runs[1].id, Reason.NO_GRANT),
    ]
    assert set(found.verdicts) == {item.id for item in runs}
    assert store.trajectories.get(runs[0].id, Purpose.TRAIN_WEIGHTS) == runs[0]
    with pytest.raises(PurposeDenied, match="no_grant"):
        store.trajectories.get(runs[1].id, Purpose.TRAIN_WEIGHTS)
    with pytest.raises(NotFound):
        store.trajectories.get("acme/none", Purpose.COMPLY)
    assert store.trajectories.list(Purpose.SERVE, ["acme"], T1 + DAY, T1 + 2 * DAY).rows == ()
    assert store.trajectories.list(Purpose.SERVE, [], T0, T1 + DAY).rows == ()


def test_weights_that_tenants_share_need_every_contract(store: Store) -> None:
    store.rights.add_contract(contract("acme", basis=Basis.CONTRACT, shared=True))
    store.rights.add_contract(contract("bolt", basis=Basis.CONTRACT))
    store.trajectories.put_all([trajectory(1, subject=person(1), tenant=t) for t in ("acme", "bolt")])
    both = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme", "bolt"], T0, T1 + DAY)
    assert [row.tenant_id for row in both.rows] == ["acme"]
    assert [e.reason for e in both.excluded] == [Reason.CONTRACT_FORBIDS_SHARED_ADAPTER]
    assert len(store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["bolt"], T0, T1 + DAY).rows) == 1
    assert len(store.trajectories.list(Purpose.EVALUATE, ["acme", "bolt"], T0, T1 + DAY).rows) == 2


def test_the_past_replays_but_the_suppressed_stay_out(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents([consent(person(1)), consent(person(2))])
    store.rights.add_consent(consent(person(1), status=ConsentStatus.WITHDRAWN, at=T1))
    store.trajectories.put_all([trajectory(n, subject=person(n)) for n in (1, 2)])
    window = (Purpose.TRAIN_WEIGHTS, ["acme"], T0, T1 + DAY)
    assert len(store.trajectories.list(*window).rows) == 1
    assert len(store.trajectories.list(*window, as_of=T1 - DAY).rows) == 2
    store.rights.suppress(Suppression(tenant_id="acme", subject=person(2), since=T1, request_id="1"))
    then = store.trajectories.list(*window, as_of=T1 - DAY)
    assert [row.subject for row in then.rows] == [person(1)]
    assert [e.reason for e in then.excluded] == [Reason.SUPPRESSED]


def test_signals_follow_their_person(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents(consents(person(1)))
    signals = [signal(trajectory(n, subject=person(n))) for n in (1, 2)]
    store.signals.put_all([*signals, signals[0]])
    store.signals.put_all(signals)
    window = (["acme"], T0, T1 + DAY)
    assert store.signals.list(Purpose.IMPROVE_HARNESS, *window) == (signals[0],)
    assert store.signals.list(Purpose.COMPLY, *window) == tuple(signals)


def test_outlines_are_the_newest_runs_without_their_words(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents([*consents(person(1)), *consents(person(2))])
    usage = Usage(input_tokens=9, cost=0.5, currency="EUR", cost_basis=CostBasis.PRICED)
    runs = [trajectory(n, subject=person(min(n, 3)), usage=usage, incomplete=("open_span",)) for n in (1, 2, 3)]
    store.trajectories.put_all([*runs, trajectory(4, subject=person(1), tenant="bolt")])
    known = store.trajectories.outlines(Purpose.DEBUG, "acme", 9)
    assert known == (RunOutline.of(runs[0]), RunOutline.of(runs[1])), "nobody may read the third person's"
    assert store.trajectories.outlines(Purpose.COMPLY, "acme", 2) == tuple(map(RunOutline.of, runs[1:]))
    assert runs[0].turns[0].message.text not in str(known)


def test_a_read_to_comply_is_always_logged(store: Store) -> None:
    store.trajectories.put(trajectory(1, subject=person(1)))
    store.trajectories.list(Purpose.COMPLY, ["acme", "bolt"], T0, T1 + DAY)
    assert [(e.tenant_id, e.action, e.role) for e in store.audit.list()] == [
        ("acme", "read_for_comply", "reviewer"),
        ("bolt", "read_for_comply", "reviewer"),
    ]
    store.trajectories.list(Purpose.SERVE, ["acme"], T0, T1 + DAY)
    assert len(store.audit.list("acme")) == 1


def test_naive_times_are_refused(store: Store) -> None:
    with pytest.raises(Exception, match="naive") as error:
        store.trajectories.list(Purpose.SERVE, ["acme"], T0.replace(tzinfo=None), T1)
    assert isinstance(error.value, StoreError) or isinstance(error.value.__cause__, StoreError)


def test_a_day_of_traffic_is_fast(store: Store) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consents([consent(person(n)) for n in range(0, 500, 2)])
    spans = [span(trace, n, subject=person(trace)) for trace in range(500) for n in range(6)]
    store.spans.merge(spans, latest)
    store.trajectories.put_all([trajectory(n, subject=person(n)) for n in range(500)])
    times = []
    for _ in range(3):
        start = time.perf_counter()
        found = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme"], T0, T1 + DAY)
        times.append(time.perf_counter() - start)
    assert (len(found.rows), len(found.excluded)) == (250, 250)
    assert min(times) < 1


def test_a_shared_trace_is_made_again_without_the_one_who_left(store: Store) -> None:
    mine, theirs = span(1, 0, subject=person(1)), span(1, 1, subject=person(2))
    run = trajectory(1, subject=person(1), text="words of both")

    def assembled(traces: Traces) -> Iterator[Assembled]:
        yield Assembled(run, [])

    store.spans.merge([mine, theirs], latest, assembled)
    artifacts = store.erasable().erase("acme", person(2))
    states = [item.state for item in artifacts if item.node.kind is NodeKind.TRAJECTORY]
    assert states == [ArtifactState.PENDING_REBUILD]
    assert store.trajectories.list(Purpose.COMPLY, ["acme"], T0, T1 + DAY).rows == ()
    assert store.spans.dirty_traces() == [("acme", trace_id(1))]
    assert store.spans.trace("acme", trace_id(1), Purpose.COMPLY) == [mine]
    assert store.erasable().count("acme", person(2)) == 0


def test_words_live_no_longer_than_the_earliest_span_that_carried_them(store: Store, clock: ManualClock) -> None:
    run = trajectory(1, subject=person(1))

    def assembled(traces: Traces) -> Iterator[Assembled]:
        yield Assembled(run, [])

    store.spans.merge([span(1, 0, subject=person(1))], latest, assembled)
    clock.advance(days=100)
    store.spans.merge([span(1, 1, subject=person(1))], latest, assembled)
    first_over = clock.advance(days=80)
    swept = store.sweep(first_over)
    assert (swept["spans"], swept["trajectories"]) == (2, 1), "a run goes whole, never half"
    assert store.overdue(first_over) == {}
    assert store.spans.dirty_traces() == []
    assert store.trajectories.list(Purpose.COMPLY, ["acme"], T0, T1 + DAY).rows == ()
