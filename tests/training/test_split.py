"""The wall: no subject stands on both sides, whatever the runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from governance.records.message import Role, text_message
from governance.records.task import Split
from governance.records.trajectory import Actor, Trajectory, Turn
from training.split import DUPLICATE_OF_TRAIN, SUBJECT_IN_TRAIN, UNKNOWN, Wall

START = datetime(2026, 6, 1, tzinfo=UTC)
CUTOFF = START + timedelta(hours=50)


def run(number: int, tenant: str, subject: str, hour: int, text: str) -> Trajectory:
    at = START + timedelta(hours=hour)
    return Trajectory(
        tenant_id=tenant, trace_id=f"{number + 1:032x}", session_id="s", subject=subject, agent_name="a", started_at=at,
        ended_at=at, calls=(),
        turns=(Turn(actor=Actor.CUSTOMER, message=text_message(Role.USER, text), span_id="f" * 16, at=at),),
    )  # fmt: skip


runs = st.lists(
    st.tuples(
        st.sampled_from(["t", "u"]), st.sampled_from(["a", "b", "c", "d", "unknown"]), st.integers(0, 100),
        st.sampled_from(["Where is it?", "where is it", "Refund!", "Broken.", "Late 1", "Late 2"]),
    ),
    max_size=14,
)  # fmt: skip


@given(runs)
def test_no_subject_and_no_request_on_both_sides(rows: list[tuple[str, str, int, str]]) -> None:
    all_runs = [run(number, *row) for number, row in enumerate(rows)]
    wall = Wall(all_runs, CUTOFF)
    sides = {one.id: wall.side(one) for one in all_runs}
    learned = [one for one in all_runs if sides[one.id] is Split.TRAIN]
    measured = [one for one in all_runs if sides[one.id] is Split.EVAL]
    assert not {(one.tenant_id, one.subject) for one in learned} & {(one.tenant_id, one.subject) for one in measured}
    assert all(one.started_at < CUTOFF for one in learned)
    assert all(one.started_at >= CUTOFF for one in measured)
    assert all(one.subject != "unknown" for one in (*learned, *measured))
    words = {
        (one.tenant_id, one.turns[0].message.text.lower().strip("?!.")) for one in all_runs if one.started_at < CUTOFF
    }
    assert not words & {(one.tenant_id, one.turns[0].message.text.lower().strip("?!.")) for one in measured}


def test_reasons() -> None:
    rows = [
        ("t", "a", 1, "Hi"),
        ("t", "a", 60, "Again"),
        ("t", "b", 60, "HI!"),
        ("t", "c", 60, "New"),
        ("t", "unknown", 1, "x"),
        ("u", "a", 60, "Hi"),
    ]
    all_runs = [run(number, *row) for number, row in enumerate(rows)]
    wall = Wall(all_runs, CUTOFF)
    assert [wall.side(one) for one in all_runs] == [
        Split.TRAIN, SUBJECT_IN_TRAIN, DUPLICATE_OF_TRAIN, Split.EVAL, UNKNOWN, Split.EVAL,
    ]  # fmt: skip
