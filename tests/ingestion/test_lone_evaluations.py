"""Evaluations in logs that name no span: feedback on a trace, a response or a session."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from governance.records.base import to_unix_nano
from governance.records.ledger import Fate
from governance.records.rights import Purpose
from ingestion.envelope import Envelope
from ingestion.feedback.item import Item
from ingestion.feedback.lone_evaluations import read_lone
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.telemetry import Telemetry
from tests.ingestion.log_bodies import as_protobuf, logs, record
from tests.ingestion.otlp_bodies import span_json
from tests.ingestion.test_drain import START, Mill, run_of

EVALUATION = "gen_ai.evaluation.result"
EVER = (datetime(2020, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture
def mill(tmp_path: Path) -> Any:
    made = Mill(tmp_path)
    yield made
    made.close()


def send_body(mill: Mill, body: bytes, content_type: str = JSON) -> None:
    received = to_unix_nano(mill.clock.now())
    envelope = Envelope(telemetry=Telemetry.LOGS, content_type=content_type, received_unix_nano=received, body=body)
    mill.spool.append("acme", envelope.pack())


def lone(number: int, **held: Any) -> dict[str, Any]:
    """An evaluation that names no span."""
    given = {"gen_ai__evaluation__name": "quality", "gen_ai__evaluation__score__value": 0.5} | held
    made = record(number, EVALUATION, **{key: value for key, value in given.items() if value is not None})
    made["timeUnixNano"] = str(to_unix_nano(START) + number)
    return {key: value for key, value in made.items() if key not in {"traceId", "spanId"}}


def feedback(mill: Mill) -> list[Any]:
    return [one.current for one in mill.store.feedback.list(Purpose.COMPLY, ["acme"], *EVER).rows]


@pytest.mark.parametrize("encode", [lambda body: body, as_protobuf])
def test_an_evaluation_that_names_only_a_response_joins_its_span(mill: Mill, encode: Any) -> None:
    mill.contract()
    chat = span_json(3, 1, "a" * 32, attributes={"gen_ai.operation.name": "chat", "gen_ai.response.id": "resp-1"})
    mill.send(*run_of(), chat)
    body = logs(lone(40, gen_ai__response__id="resp-1", gen_ai__evaluation__explanation="ann@example.org was glad"))
    for _ in range(2):
        send_body(mill, encode(body), PROTOBUF if encode is as_protobuf else JSON)
        mill.drain.run()
    (said,) = feedback(mill)
    assert (said.kind, said.name, said.value, said.target.response_id) == ("score", "quality", 0.5, "resp-1")
    assert "ann@" not in (said.comment or "")
    (trajectory,) = mill.trajectories(Purpose.COMPLY)
    found = mill.store.signals.list(Purpose.COMPLY, ["acme"], *EVER)
    assert {signal.trajectory_id for signal in found if "feedback" in signal.detail} == {trajectory.id}
    assert mill.line().fates[Fate.DUPLICATE] == {"": 1}
    assert mill.line().received == sum(sum(by.values()) for by in mill.line().fates.values())


def test_an_evaluation_may_name_a_trace_or_a_session(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of())
    of_trace = lone(40, gen_ai__evaluation__name="task") | {"traceId": "a" * 32}
    of_session = lone(41, gen_ai__conversation__id="S", gen_ai__evaluation__score__label="good")
    nameless = lone(43, gen_ai__response__id="r", gen_ai__evaluation__name=None)
    send_body(mill, logs(of_trace, of_session, lone(42), nameless))
    mill.drain.run()
    assert {said.target.model_dump_json(exclude_none=True) for said in feedback(mill)} == {
        '{"trace_id":"' + "a" * 32 + '"}',
        '{"session_id":"S"}',
        '{"response_id":"r"}',
    }
    assert mill.line().fates[Fate.REJECTED] == {"trace_id": 1}, "one names nothing at all"


def test_two_evaluations_of_a_session_are_two_and_one_that_comes_again_is_one(mill: Mill) -> None:
    mill.contract()
    first, later = (lone(40 + n, session__id="S", gen_ai__evaluation__score__value=0.9 - n / 2) for n in (0, 1))
    for _ in range(2):
        send_body(mill, logs(first, later))
        mill.drain.run()
    assert sorted(said.value for said in feedback(mill)) == [0.4, 0.9]
    assert mill.line().fates[Fate.DUPLICATE] == {"": 2}


@pytest.mark.parametrize("place", [{"gen_ai__response__id": "r"}, {"session__id": "S", "tidemill__feedback__id": "f"}])
def test_a_later_grade_of_a_response_and_one_under_the_same_id_change_it(mill: Mill, place: dict[str, str]) -> None:
    mill.contract()
    send_body(mill, logs(*(lone(40 + 5000 * n, gen_ai__evaluation__score__value=0.9 - n / 2, **place) for n in (0, 1))))
    mill.drain.run()
    assert [said.value for said in feedback(mill)] == [0.4]


def test_evaluations_without_a_time_are_known_by_what_they_say() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    held = {"session.id": "S", "gen_ai.evaluation.name": "q"}
    items = [read_lone("", held | {"gen_ai.evaluation.score.value": value}, 0, now) for value in (1, 0, 1)]
    first, other, again = (one.id for one in items if isinstance(one, Item))
    assert first == again
    assert first != other
