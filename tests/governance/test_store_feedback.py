"""``store.feedback``: identity, history, order, late joins, tenants, rights."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy import update

from governance.acting import complying
from governance.errors import NotFound, PurposeDenied
from governance.records.base import digest_json
from governance.records.feedback import Feedback, FeedbackKind, Statement, Target, histories
from governance.records.ledger import Fate
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Basis, Purpose, Suppression
from governance.records.signal import Signal
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.store import Store, feedback
from governance.store.feedback import Delivery
from governance.store.spans import Assembled, Traces
from governance.store.tables_traces import TraceVersionRow
from tests.governance.store_records import T0, T1, contract, person, signal, span, trace_id, trajectory
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock

FIRST, SECOND = trace_id(1), trace_id(2)
UP, DOWN = 1.0, -1.0


def say(id_: str = "s1", value: float | None = UP, *, timed: bool = False, at: datetime = T1, **over: Any) -> Statement:
    target = over.pop("target", Target(trace_id=FIRST))
    tenant = over.pop("tenant", "acme")
    said = digest_json([value, target.plain(), over.get("comment"), over.get("subject")])
    fields: dict[str, Any] = {
        "key": digest_json([tenant, id_]),
        "said": said,
        "version": digest_json([said, at.isoformat() if timed else None]),
        "kind": FeedbackKind.THUMBS,
        "name": "thumbs",
    }
    return Statement(tenant_id=tenant, id=id_, target=target, value=value, at=at, timed=timed, **(fields | over))


def put(store: Store, *said: Statement) -> list[Fate]:
    return [fate for fate, _ in store.feedback.put([Delivery(one) for one in said])]


def held(store: Store, tenant: str = "acme") -> tuple[Feedback, ...]:
    return store.feedback.list(Purpose.COMPLY, [tenant], T0 - timedelta(days=9), T1 + timedelta(days=99)).rows


def values(store: Store) -> list[list[float | None]]:
    return [[one.value for one in whole.history] for whole in held(store)]


def on(store: Store, trace: str, *responses: str, tenant: str = "acme") -> list[float | None]:
    found = store.feedback.of_traces({(tenant, trace): responses}, Purpose.COMPLY)
    return [one.current.value for one in found[tenant, trace]]


def dirty(store: Store) -> set[str]:
    return {trace for _, trace in store.spans.dirty_traces()}


def clean(store: Store) -> None:
    with store._kit.db.write() as connection:
        connection.execute(update(TraceVersionRow).values(clean=TraceVersionRow.version))


def arrive(store: Store, *traces: int) -> None:
    """The traces are there, and assembled."""
    store.spans.merge([span(number, subject=person(number)) for number in traces], latest)
    clean(store)


def test_fbk_01_feedback_is_on_its_trace_and_on_no_other_of_the_session(store: Store) -> None:
    arrive(store, 1, 2)
    for number in (1, 2):
        store.trajectories.put(trajectory(number, subject=person(1), session_id="S"))
    said = say(value=0.0, target=Target(trace_id=SECOND, session_id="S"))
    assert put(store, said, said) == [Fate.STORED, Fate.DUPLICATE]
    assert put(store, said.model_copy(update={"at": T1 + timedelta(hours=1)})) == [Fate.DUPLICATE]
    assert (on(store, FIRST), on(store, SECOND)) == ([], [0.0])
    assert dirty(store) == {SECOND}
    (whole,) = held(store)
    assert store.feedback.runs([whole])[whole.current.ref[:2]] == (f"acme/{SECOND}",)


def test_fbk_01_up_then_down_is_one_value_with_history(store: Store) -> None:
    later = T1 + timedelta(seconds=5)
    assert put(store, say(), say(value=DOWN, at=later)) == [Fate.STORED, Fate.UPDATED]
    assert values(store) == [[UP, DOWN]]
    assert [one.at for one in held(store)[0].history] == [T1, later]
    assert on(store, FIRST) == [DOWN]


@pytest.mark.parametrize("timed", [True, False])
def test_fbk_02_the_day_is_no_part_of_the_identity(store: Store, *, timed: bool) -> None:
    first = datetime.fromisoformat("2026-01-01T23:59:59Z")
    second = datetime.fromisoformat("2026-01-02T00:00:01Z")
    assert put(store, say(at=first, timed=timed), say(at=second, timed=timed)) == [Fate.STORED, Fate.DUPLICATE]
    assert values(store) == [[UP]]
    assert held(store)[0].current.at == first


def test_a_retry_that_comes_late_turns_nothing_back(store: Store) -> None:
    first, change = say(), say(value=DOWN, at=T1 + timedelta(minutes=1))
    again = first.model_copy(update={"at": T1 + timedelta(minutes=2)})
    assert put(store, first, change, again) == [Fate.STORED, Fate.UPDATED, Fate.DUPLICATE]
    assert values(store) == [[UP, DOWN]]


def test_who_says_when_can_change_back(store: Store) -> None:
    put(store, *(say(value=v, timed=True, at=T1 + timedelta(minutes=n)) for n, v in enumerate((UP, DOWN, UP))))
    assert values(store) == [[UP, DOWN, UP]]


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "f.db"
    Store.open(f"sqlite:///{path}", clock=ManualClock()).close()
    return path


moments = st.integers(0, 4).map(lambda minutes: T1 + timedelta(minutes=minutes))
said_things = st.builds(
    lambda id_, value, at, timed, trace: say(id_, value, at=at, timed=timed, target=Target(trace_id=trace_id(trace))),
    st.sampled_from("ab"),
    st.sampled_from([UP, DOWN, 0.0]),
    moments,
    st.booleans(),
    st.integers(1, 2),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(said_things, max_size=7), st.randoms(use_true_random=False), st.integers(1, 3))
def test_any_order_and_repetition_ends_in_the_same(
    empty_database: Path, deliveries: list[Statement], random: Any, portions: int
) -> None:
    shuffled = [*deliveries, *deliveries]
    random.shuffle(shuffled)
    with TemporaryDirectory() as folder:
        shutil.copy(empty_database, Path(folder) / "f.db")
        store = Store.open(f"sqlite:///{Path(folder) / 'f.db'}", clock=ManualClock())
        size = max(1, len(shuffled) // portions)
        for start in range(0, len(shuffled), size):
            put(store, *shuffled[start : start + size])
        assert held(store) == histories(deliveries)
        assert put(store, *deliveries) == [Fate.DUPLICATE] * len(deliveries)
        store.close()


def test_every_order_of_three_ends_in_the_same_on_each_database(store: Store) -> None:
    three = [say(value=v, timed=n == 1, at=T1 + timedelta(minutes=n)) for n, v in enumerate((UP, DOWN, UP))]
    expected = [[UP, DOWN]]
    for tenant, order in enumerate(permutations(three)):
        own = [one.model_copy(update={"tenant_id": f"t{tenant}"}) for one in order]
        put(store, *own)
        found = [[one.value for one in whole.history] for whole in held(store, f"t{tenant}")]
        assert found == expected


def test_a_repetition_in_another_order_keeps_the_earliest_receipt(store: Store) -> None:
    put(store, say(at=T1 + timedelta(hours=1)))
    assert put(store, say(at=T1)) == [Fate.UPDATED]
    assert held(store)[0].current.at == T1


def test_what_comes_before_its_trace_joins_when_the_trace_comes(store: Store) -> None:
    put(store, say())
    (whole,) = held(store)
    assert store.feedback.runs([whole]) == {whole.current.ref[:2]: ()}
    assert dirty(store) == set()
    store.spans.merge([span(1, subject=person(1))], latest)
    assert dirty(store) == {FIRST}
    store.trajectories.put(trajectory(1, subject=person(1)))
    assert store.feedback.runs([whole])[whole.current.ref[:2]] == (f"acme/{FIRST}",)


def test_a_response_finds_its_trace_whichever_comes_first(store: Store) -> None:
    arrive(store, 1, 2)
    put(store, say("early", target=Target(response_id="r1")))
    assert dirty(store) == set()
    store.feedback.name_responses({("acme", SECOND): {"r1": "0" * 15 + "1"}})
    store.feedback.name_responses({("acme", SECOND): {"r1": "0" * 15 + "1"}})
    assert on(store, SECOND, "r1") == [UP]
    assert on(store, FIRST) == []
    put(store, say("late", DOWN, target=Target(response_id="r1")))
    assert dirty(store) == {SECOND}
    assert sorted(on(store, SECOND, "r1"), key=str) == [DOWN, UP]
    put(store, say("other", tenant="bolt", target=Target(response_id="r1")))
    assert on(store, SECOND, "r1", tenant="bolt") == [UP]
    assert len(on(store, SECOND, "r1")) == 2


def test_a_session_is_about_no_single_run(store: Store) -> None:
    for number in (1, 2):
        store.trajectories.put(trajectory(number, subject=person(1), session_id="S"))
    put(store, say(target=Target(session_id="S")))
    assert dirty(store) == set()
    assert (on(store, FIRST), on(store, SECOND)) == ([], [])
    (whole,) = held(store)
    assert store.feedback.runs([whole])[whole.current.ref[:2]] == (f"acme/{FIRST}", f"acme/{SECOND}")


def test_feedback_that_moves_leaves_the_trace_that_it_was_on(store: Store) -> None:
    arrive(store, 1, 2)
    put(store, say(timed=True))
    clean(store)
    put(store, say(timed=True, target=Target(trace_id=SECOND), at=T1 + timedelta(minutes=1)))
    assert dirty(store) == {FIRST, SECOND}
    assert (on(store, FIRST), on(store, SECOND)) == ([], [UP])


def test_a_repetition_assembles_nothing_again(store: Store) -> None:
    arrive(store, 1)
    put(store, say())
    assert dirty(store) == {FIRST}
    clean(store)
    put(store, say())
    assert dirty(store) == set()


def test_no_tenant_reaches_the_trace_of_another(store: Store) -> None:
    store.spans.merge([span(1, subject=person(1), tenant="bolt")], latest)
    store.trajectories.put(trajectory(1, subject=person(1), tenant="bolt"))
    clean(store)
    put(store, say(tenant="acme"))
    (mine,) = held(store)
    assert store.feedback.runs([mine]) == {mine.current.ref[:2]: ()}
    assert on(store, FIRST, tenant="bolt") == []
    assert store.spans.dirty_traces() == []
    with pytest.raises(NotFound):
        store.feedback.get("bolt", mine.current.key, Purpose.COMPLY)


def test_a_read_is_judged_by_the_person_of_what_it_is_about(store: Store) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    put(store, say("own", subject=person(2)), say("joined"), say("nobody's", target=Target(trace_id=SECOND)))
    store.trajectories.put(trajectory(1, subject=person(1)))
    listing = store.feedback.list(Purpose.DEBUG, ["acme"], T0, T1 + timedelta(days=1))
    assert sorted(one.current.id for one in listing.rows) == ["joined", "own"]
    assert listing.excluded == {"unknown_subject": 1}
    with pytest.raises(PurposeDenied, match="unknown_subject"):
        store.feedback.get("acme", say("nobody's").key, Purpose.DEBUG)
    assert store.feedback.get("acme", say("own").key, Purpose.DEBUG).current.subject == person(2)


def test_suppressed_people_say_nothing(store: Store) -> None:
    store.rights.suppress(Suppression(tenant_id="acme", subject=person(3), since=T1, request_id="r"))
    done = store.feedback.put([Delivery(say(subject=person(3))), Delivery(say("other"))])
    assert done == [(Fate.REJECTED, "suppressed"), (Fate.STORED, "")]
    assert [whole.current.id for whole in held(store)] == ["other"]


def test_words_wait_for_their_person_and_are_kept_once_they_are_known(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract(basis=Basis.CONTRACT))
    said = say(wordy=True)
    store.feedback.put([Delivery(said, sealed=b"words")])
    (one,) = store.feedback.waiting()
    assert (one.sealed, one.subject) == (b"words", UNKNOWN_SUBJECT)
    assert held(store)[0].current.withheld
    arrive(store, 1)
    store.trajectories.put(trajectory(1, subject=person(1)))
    (one,) = store.feedback.waiting()
    assert one.subject == person(1)
    store.feedback.settle(said.model_copy(update={"comment": "too late", "subject": person(1)}), ["m"])
    assert store.feedback.waiting() == []
    assert dirty(store) == {FIRST}
    current = held(store)[0].current
    assert (current.comment, current.subject, current.withheld) == ("too late", person(1), False)
    assert put(store, said) == [Fate.DUPLICATE], "the retry names nobody and changes nothing"
    assert held(store)[0].current.comment == "too late"
    assert clock.now() >= T0


def test_words_that_find_nobody_expire_and_the_value_stays(store: Store, clock: ManualClock) -> None:
    store.feedback.put([Delivery(say(wordy=True), sealed=b"words")])
    later = clock.advance(RETENTION[RetentionClass.SPOOL])
    assert store.feedback.waiting() == []
    assert store.overdue(later) == {"feedback_sealed": 1}
    assert store.sweep(later) == {"feedback_sealed": 1}
    assert held(store)[0].current.withheld


def test_a_feedback_has_bounds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "MOST_VERSIONS", 3)
    many = [say(value=float(n), timed=True, at=T1 + timedelta(seconds=n)) for n in range(4)]
    done = store.feedback.put([Delivery(one) for one in (*many, many[0])])
    assert [fate for fate, _ in done] == ["stored", "updated", "updated", "rejected", "duplicate"]
    assert done[3] == (Fate.REJECTED, "too_many_versions")


@pytest.mark.parametrize("target", [{}, {"span_id": "1" * 16}, {"span_id": "1" * 16, "session_id": "S"}])
def test_feedback_is_about_something(target: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Target(**target)


def test_statements_die_with_their_clock(store: Store, clock: ManualClock) -> None:
    store.feedback.put([Delivery(say(subject=person(1)), mentions=("m",))])
    store.feedback.name_responses({("acme", FIRST): {"r": "1" * 16}})
    until = clock.advance(RETENTION[RetentionClass.CONTENT])
    assert {"feedback"} <= store.overdue(until).keys()
    store.sweep(until)
    assert store.overdue(until) == {}
    assert store.erasable().count("acme", person(1)) == 0
    assert store.erasable().count("acme", "m") == 0


def test_history_is_a_function_of_the_set() -> None:
    one: Callable[[int], Statement] = lambda n: say(value=float(n % 2), timed=True, at=T1 + timedelta(minutes=n))  # noqa: E731
    (whole,) = histories([one(3), one(1), one(2), one(1)])
    assert [said.at.minute for said in whole.history] == [1, 2, 3]


def signal_of(run: Trajectory, said: Statement, store: Store) -> Signal:
    made = signal(run).model_copy(update={"id": f"from {said.id}"})
    store.signals.put_all([made])
    source = Node(kind=NodeKind.FEEDBACK, id=f"acme/{said.key}")
    store.lineage.add([LineageEdge(derived=Node(kind=NodeKind.SIGNAL, id=made.id), source=source)])
    return made


def test_an_erased_person_leaves_no_feedback_and_the_others_stay(store: Store) -> None:
    alice, bob = person(1), person(2)
    his, hers = trajectory(2, subject=bob, session_id="his"), trajectory(1, subject=alice, session_id="hers")
    store.spans.merge([span(1, subject=alice), span(2, subject=bob)], latest)
    store.trajectories.put_all([his, hers])
    store.feedback.name_responses({("acme", FIRST): {"r1": "1" * 16}})
    about_his = Target(trace_id=SECOND)
    theirs = [
        say("her own", subject=alice, target=about_his),
        say("on her trace"),
        say("bob's on her trace", subject=bob),
        say("on her answer", target=Target(response_id="r1")),
        say("on her session", target=Target(session_id="hers")),
        say("names her", target=about_his, subject=bob, wordy=True),
    ]
    mixed = [
        say("mixed", target=about_his),
        say("mixed", DOWN, subject=alice, target=about_his, at=T1.replace(hour=10)),
    ]
    kept = [say("his", subject=bob, target=about_his), say("on his session", target=Target(session_id="his"))]
    store.feedback.put(
        [Delivery(one, ("m", alice) if one.id == "names her" else ()) for one in [*theirs, *mixed, *kept]]
    )
    made = signal_of(his, theirs[5], store)
    clean(store)
    erasable = store.erasable()
    before = erasable.count("acme", bob)
    assert erasable.count("acme", alice) >= len(theirs) + 1
    artifacts = erasable.erase("acme", alice)
    gone = {one.node.id for one in artifacts if one.node.kind is NodeKind.FEEDBACK}
    assert gone == {f"acme/{one.key}" for one in (*theirs, mixed[1])}
    assert made.id in {one.node.id for one in artifacts if one.node.kind is NodeKind.SIGNAL}
    assert erasable.count("acme", alice) == 0
    assert erasable.erase("acme", alice) == ()
    assert erasable.count("acme", bob) == before - 5, "what she and he said of his run or hers, and the signal of it"
    assert sorted(whole.current.id for whole in held(store)) == ["his", "mixed", "on his session"]
    assert on(store, SECOND) == [UP, UP]
    assert dirty(store) == {SECOND}, "what loses a statement is assembled again"
    assert store.signals.list(Purpose.COMPLY, ["acme"], T0, T1 + timedelta(days=1)) == ()


@pytest.mark.parametrize("by", ["trace", "response"])
def test_whoever_is_first_of_two_writers_the_run_gets_its_feedback(store: Store, by: str) -> None:
    """Of the same traces at once: each feedback is seen in assembly, or its trace is to be assembled again."""
    seen: dict[str, int] = {}
    numbers = range(12)

    def assemble(traces: Traces) -> list[Assembled]:
        responses = {key: {f"r-{key[1]}": "1" * 16} for key in traces}
        store.feedback.name_responses(responses)
        with complying("assembly"):
            found = store.feedback.of_traces(responses, Purpose.COMPLY)
        seen.update({key[1]: len(said) for key, said in found.items()})
        return [Assembled(trajectory(int(key[1], 16) - 1, subject=person(1)), ()) for key in traces]

    def spans_come(number: int) -> None:
        store.spans.merge([span(number, subject=person(1))], latest, assemble)

    def feedback_comes(number: int) -> None:
        named = trace_id(number)
        target = Target(trace_id=named) if by == "trace" else Target(response_id=f"r-{named}")
        put(store, say(f"s{number}", target=target))

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(each, number) for number in numbers for each in (spans_come, feedback_comes)]
        for one in work:
            one.result()
    again = dirty(store)
    lost = [trace_id(number) for number in numbers if not seen[trace_id(number)] and trace_id(number) not in again]
    assert lost == []
