"""A sender whose clock is wrong: its times are kept, and the fact is flagged all the way to the trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from governance.records.base import to_unix_nano
from ingestion.otlp_fields import SKEW_NANO
from tests.ingestion.otlp_bodies import body, span_json
from tests.ingestion.pipe import Pipe

SECOND = 10**9
DAY = 86_400 * SECOND


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path)
    yield pipe
    pipe.close()


@pytest.mark.parametrize("way", ["json", "protobuf"])
@pytest.mark.parametrize(
    ("start", "length", "skewed"),
    [
        (0, SECOND, False),
        (-30 * DAY, SECOND, False),
        (SKEW_NANO, SECOND, False),
        (SKEW_NANO + 1, SECOND, True),
        (400 * DAY, SECOND, True),
        (0, -1, True),
        (0, -DAY, True),
    ],
)
def test_a_wrong_clock_is_flagged_from_door_to_trajectory(
    pipe: Pipe, way: str, start: int, length: int, skewed: bool
) -> None:
    begun = to_unix_nano(pipe.clock.now()) + start
    times = {"startTimeUnixNano": str(begun), "endTimeUnixNano": str(begun + length)}
    reply = pipe.send(body(span_json(1, attributes={"user.id": "ann"}) | times), way)
    assert reply.content in (b"{}", b"")
    assert pipe.drain().fates == {"stored": 1}
    (item,) = pipe.spans()
    assert (item.span.start_unix_nano, item.span.end_unix_nano) == (begun, begun + length)
    assert ("clock_skew" in item.span.flags) is skewed
    assert ("clock_skew" in pipe.shown()["flags"]) is skewed
    told = pipe.shown()
    assert told["started_at"] <= told["ended_at"]
    (line,) = pipe.store.ledger.lines()
    assert line.day == pipe.clock.now().date().isoformat()


def test_a_retry_of_a_skewed_span_is_a_duplicate(pipe: Pipe) -> None:
    late = to_unix_nano(pipe.clock.now()) + 2 * SKEW_NANO
    sent = body(span_json(1) | {"startTimeUnixNano": str(late), "endTimeUnixNano": str(late + 5)})
    pipe.send(sent)
    pipe.drain()
    pipe.clock.advance(hours=1)  # by now its start lies in the past
    pipe.send(sent)
    assert pipe.drain().fates == {"duplicate": 1}
    assert "clock_skew" in pipe.shown()["flags"]
