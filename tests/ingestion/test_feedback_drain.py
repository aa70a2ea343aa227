"""Feedback from the spool to the run that it is about: joined in any order, masked, withheld, counted, erased."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from governance.door import Door
from governance.ports.masker import Masked
from governance.records.base import to_unix_nano
from governance.records.feedback import Feedback
from governance.records.ledger import Fate
from governance.records.rights import Purpose, Suppression
from governance.records.signal import Signal
from governance.records.trajectory import UNKNOWN_SUBJECT, Outcome, Trajectory
from governance.store import Store
from ingestion.drain import Drain
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.people import Subjects
from ingestion.quarantine import Quarantine
from tests.ingestion.otlp_bodies import T0, MailMasker, span_json
from tests.ingestion.test_drain import KEYS, START, Mill, run_of

FIRST, SECOND = "a" * 32, "b" * 32
ANN = "ann@example.org"
YEARS = timedelta(days=3650)


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(tmp_path)
    mill.contract()
    yield mill
    mill.close()


@pytest.fixture
def anywhere(tmp_path: Path, database_url: str) -> Iterator[Mill]:
    """A mill on SQLite and on PostgreSQL."""
    mill = Mill(tmp_path)
    mill.store.close()
    mill.store = Store.open(database_url, clock=mill.clock, block_key=lambda tenant: tenant.encode())
    mill.door = Door(mill.store, MailMasker(), KEYS, mill.clock)
    mill.drain = Drain(mill.spool, mill.door, mill.store, clock=mill.clock, hold=timedelta(0))
    mill.contract()
    yield mill
    mill.close()


def item(
    id_: str = "s1", kind: str = "thumbs", value: Any = 1, trace: str | None = FIRST, **over: Any
) -> dict[str, Any]:
    target = {} if trace is None else {"trace_id": trace}
    return {"id": id_, "kind": kind, **target, **({} if value is None else {"value": value}), **over}


def say(mill: Mill, *items: Any, tenant: str = "acme") -> None:
    received = to_unix_nano(mill.clock.advance(seconds=1))
    mill.spool.append(tenant, FeedbackEnvelope(received_unix_nano=received, body=json.dumps(items).encode()).pack())


def held(mill: Mill, purpose: Purpose = Purpose.COMPLY, tenant: str = "acme") -> dict[str, Feedback]:
    rows = mill.store.feedback.list(purpose, [tenant], START - YEARS, START + YEARS).rows
    return {one.current.id: one for one in rows}


def run(mill: Mill, trace: str = FIRST, tenant: str = "acme") -> Trajectory:
    return mill.store.trajectories.get(f"{tenant}/{trace}", Purpose.COMPLY)


def signals(mill: Mill, trace: str = FIRST) -> list[Signal]:
    found = mill.store.signals.list(Purpose.COMPLY, ["acme"], START - YEARS, START + YEARS)
    return [one for one in found if one.trajectory_id == f"acme/{trace}" and "feedback" in one.detail]


def test_feedback_changes_how_a_run_ended_whichever_comes_first(anywhere: Mill) -> None:
    mill = anywhere
    say(mill, item())
    mill.drain.run()
    assert held(mill)["s1"].current.value == 1.0
    mill.send(*run_of(FIRST))
    mill.drain.run()
    assert run(mill).outcome is Outcome.SUCCESS
    say(mill, item(value=-1))
    mill.drain.run()
    assert run(mill).outcome is Outcome.FAILURE
    (one,) = signals(mill)
    assert (one.kind, one.value, one.span_ids) == ("feedback", -1.0, ("0" * 15 + "1",))
    assert [said.value for said in held(mill)["s1"].history] == [1.0, -1.0]


def test_fbk_01_only_the_second_trace_of_the_session_is_scored(mill: Mill) -> None:
    for trace in (FIRST, SECOND):
        spans = run_of(trace)
        spans[1]["attributes"].append({"key": "session.id", "value": {"stringValue": "S"}})
        mill.send(*spans)
    for _ in range(2):
        say(mill, item(kind="score", value=0, trace=SECOND, session_id="S", name="quality"))
        mill.drain.run()
    assert signals(mill, FIRST) == []
    (one,) = signals(mill, SECOND)
    assert (one.kind, one.value, one.label) == ("review", 0.0, "quality")
    assert mill.line().fates[Fate.DUPLICATE] == {"": 1}


def test_what_is_said_of_a_session_lands_on_none_of_its_runs(mill: Mill) -> None:
    for trace in (FIRST, SECOND):
        spans = run_of(trace)
        spans[1]["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": "S"}})
        mill.send(*spans)
    say(mill, item(trace=None, session_id="S", value=-1, comment="all of it"))
    mill.drain.run()
    assert {run(mill, trace).outcome for trace in (FIRST, SECOND)} == {Outcome.UNKNOWN}
    one = held(mill, Purpose.DEBUG)["s1"]
    assert one.current.comment == "all of it", "the session has one person"
    assert mill.store.feedback.runs([one])[one.current.ref[:2]] == (f"acme/{FIRST}", f"acme/{SECOND}")


def test_a_response_id_finds_its_span(anywhere: Mill) -> None:
    mill = anywhere
    chat = span_json(3, 1, FIRST, attributes={"gen_ai.operation.name": "chat", "gen_ai.response.id": "resp-1"})
    say(mill, item("early", trace=None, response_id="resp-1"))
    mill.drain.run()
    mill.send(*run_of(FIRST), chat)
    mill.drain.run()
    say(mill, item("late", trace=None, response_id="resp-1"))
    mill.drain.run()
    assert [one.span_ids for one in signals(mill)] == [("0" * 15 + "3",)] * 2
    assert run(mill).outcome is Outcome.SUCCESS


PARTS = ("trace", "comment", "thumb", "correction")


@pytest.mark.parametrize(("order", "together"), [(o, n % 2 == 0) for n, o in enumerate(permutations(PARTS))])
def test_any_order_of_arrival_ends_in_the_same(tmp_path: Path, order: tuple[str, ...], together: bool) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    for part in order:
        if part == "trace":
            mill.send(*run_of(FIRST))
        elif part == "comment":
            say(mill, item("c", "comment", None, comment=f"write to {ANN}"))
        elif part == "thumb":
            say(mill, item("t", value=-1, at="2026-01-01T00:00:00Z"))
        else:
            say(mill, item("k", "correction", None, content={"answer": "14 days"}), item("k", "correction", 7))
        if not together:
            mill.drain.run()
    mill.drain.run()
    mill.drain.run()
    found = held(mill, Purpose.DEBUG)
    assert found["c"].current.comment == "write to user15@masked.invalid"
    assert found["k"].current.content == {"answer": "14 days"}
    assert {one.current.subject for one in found.values() if one.current.wordy} == {mill.door.subject("acme", ANN)}
    assert run(mill).outcome is Outcome.FAILURE
    assert sorted((one.kind, one.label) for one in signals(mill)) == [
        ("correction", "correction"),
        ("feedback", "comment"),
        ("feedback", "thumbs"),
    ]
    assert mill.store.feedback.waiting() == []
    line = mill.line()
    assert (line.received, line.fates[Fate.REJECTED]) == (6, {"feedback_content": 1})
    mill.close()


def test_no_word_rests_in_clear_while_its_person_is_not_known(mill: Mill, tmp_path: Path) -> None:
    say(mill, item("c", "comment", None, comment="quinquagesima", label="sexagesima"))
    mill.drain.run()
    (waiting,) = mill.store.feedback.waiting()
    assert waiting.subject == UNKNOWN_SUBJECT
    assert held(mill)["c"].current.withheld
    mill.close()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"gesima" not in path.read_bytes(), path


def test_without_a_right_the_value_stays_and_the_words_do_not(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    mill.send(*run_of(FIRST))
    say(mill, item(comment="secret words", user_id=ANN), item("s2", comment="secret words"))
    mill.drain.run()
    found = held(mill)
    assert [(one.current.value, one.current.comment, one.current.withheld) for one in found.values()] == [
        (1.0, None, True)
    ] * 2
    assert mill.store.feedback.waiting() == []
    assert mill.line().withheld == 2 + 1, "the spans, and the words of whom the feedback names"
    mill.close()


def test_an_erased_person_says_nothing_by_their_name_or_on_their_trace(anywhere: Mill) -> None:
    mill = anywhere
    mill.send(*run_of(FIRST))
    say(mill, item("before", "comment", None, comment="hello"))
    mill.drain.run()
    assert len(held(mill)) == 1
    subject = mill.door.subject("acme", ANN)
    mill.store.rights.suppress(Suppression(tenant_id="acme", subject=subject, since=START, request_id="r"))
    mill.store.erasable().erase("acme", subject)
    assert held(mill) == {}
    say(mill, item("named", user_id=ANN), item("late", "comment", None, comment="bye"))
    mill.drain.run()
    assert list(held(mill)) == ["late"]
    assert held(mill)["late"].current.withheld
    assert mill.line().fates[Fate.REJECTED] == {"suppressed": 1}
    mill.send(*run_of(FIRST))
    mill.drain.run()
    assert held(mill)["late"].current.comment is None


def test_what_masking_cannot_read_is_set_aside_alone(mill: Mill, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        say(mill, item("bad", "comment", None, comment="poison pill", user_id=ANN), item("good", user_id=ANN))
        mill.drain.run()
    assert list(held(mill)) == ["good"]
    (sealed,) = mill.store.quarantine.list()
    assert (sealed.tenant_id, b"poison" in sealed.sealed) == ("acme", False)
    assert mill.line().fates == {"quarantined": {"masking_failed": 1}, "stored": {"": 1}}
    assert "poison" not in caplog.text


def test_feedback_leaves_quarantine_through_the_door(mill: Mill, tmp_path: Path) -> None:
    mill.send(*run_of(FIRST))
    say(mill, item("bad", "comment", None, comment="poison pill", user_id=ANN, at="2026-01-01T00:00:00Z"))
    mill.drain.run()
    (sealed,) = mill.store.quarantine.list()
    keeper = Quarantine(mill.spool, mill.door, mill.store, Subjects(mill.door.subject), mill.clock)
    assert keeper.run([sealed.id]).failed == 1
    shown = keeper.show(sealed.id, "reviewer")
    assert (shown["person"], shown["feedback"][0]["comment"]) == (ANN, "poison pill")
    mill.door = Door(mill.store, Unpoisoned(), KEYS, mill.clock)
    healed = Quarantine(mill.spool, mill.door, mill.store, Subjects(mill.door.subject), mill.clock)
    assert healed.run([sealed.id]).released == {"stored": 1}
    assert held(mill)["bad"].current.comment == "poison pill"
    mill.drain.run()
    assert [one.label for one in signals(mill)] == ["comment"]
    assert mill.line().waiting == 0


class Unpoisoned(MailMasker):
    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        return [Masked(value=value) for value in values]


def test_words_that_masking_cannot_read_stay_sealed(mill: Mill) -> None:
    say(mill, item("bad", "comment", None, comment="poison pill"), item("good", "comment", None, comment="fine"))
    mill.send(*run_of(FIRST))
    mill.drain.run()
    assert {id_: one.current.comment for id_, one in held(mill).items()} == {"bad": None, "good": "fine"}
    assert [one.statement.id for one in mill.store.feedback.waiting()] == ["bad"]


def test_a_crash_between_storing_and_joining_costs_nothing(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    mill.send(*run_of(FIRST))
    mill.drain.run()
    say(mill, item("t", value=-1), item("c", "comment", None, comment="no"))

    def dies(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    for place, name in (mill.store.feedback, "put"), (mill.store.segments, "finish"), (mill.store.spans, "assemble"):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, dies)
            with pytest.raises(RuntimeError, match="killed"):
                mill.drain.run()
    mill.drain.run()
    assert run(mill).outcome is Outcome.FAILURE
    assert sorted(one.label for one in signals(mill)) == ["comment", "thumbs"]
    assert held(mill)["c"].current.comment == "no"
    assert mill.line().fates == {"stored": {"": 4}}


def test_no_tenant_reaches_the_run_of_another(mill: Mill) -> None:
    mill.contract("bolt")
    mill.send(*run_of(FIRST))
    say(mill, item(value=-1, comment="from bolt"), item("r", trace=None, session_id="S"), tenant="bolt")
    mill.drain.run()
    assert run(mill).outcome is Outcome.UNKNOWN
    assert signals(mill) == []
    assert held(mill) == {}
    assert held(mill, Purpose.DEBUG, "bolt") == {}, "whose it is, bolt's own traces do not say"
    say(mill, item(value=1), tenant="acme")
    mill.drain.run()
    assert held(mill)["s1"].current.value == 1.0
    assert held(mill, tenant="bolt")["s1"].current.value == -1.0


def scored(trace: str, *scores: float, at: int = T0, **more: Any) -> list[dict[str, Any]]:
    spans = run_of(trace, **more)
    spans[1]["events"] = [
        {
            "name": "gen_ai.evaluation.result",
            "timeUnixNano": str(at + number),
            "attributes": [
                {"key": "gen_ai.evaluation.name", "value": {"stringValue": "customer_feedback"}},
                {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": score}},
                {"key": "gen_ai.evaluation.explanation", "value": {"stringValue": f"as {ANN} said"}},
            ],
        }
        for number, score in enumerate(scores)
    ]
    return spans


def test_a_grade_in_a_span_is_feedback_and_twice_is_once(mill: Mill) -> None:
    for _ in range(2):
        mill.send(*scored(FIRST, -1.0))
        mill.drain.run()
    (one,) = held(mill, Purpose.DEBUG).values()
    assert (one.current.value, one.earlier, one.current.comment) == (-1.0, (), "as user15@masked.invalid said")
    assert one.current.target.span_id == "0" * 15 + "1"
    assert run(mill).outcome is Outcome.FAILURE
    assert [signal.kind for signal in signals(mill)] == ["feedback"]
    assert mill.store.spans.dirty_traces() == []


def test_a_later_grade_of_a_name_changes_the_earlier_one(mill: Mill) -> None:
    mill.send(*scored(FIRST, 1.0, -1.0, at=T0))
    mill.drain.run()
    (one,) = held(mill).values()
    assert [said.value for said in one.history] == [1.0, -1.0]
    assert run(mill).outcome is Outcome.FAILURE


def test_the_score_of_a_withheld_span_is_kept_as_structure(tmp_path: Path) -> None:
    mill = Mill(tmp_path)
    mill.send(*scored(FIRST, -1.0))
    mill.drain.run()
    (one,) = held(mill).values()
    assert (one.current.value, one.current.comment) == (-1.0, None)
    mill.close()
