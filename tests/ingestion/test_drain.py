from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.records.base import to_unix_nano
from governance.records.ledger import Fate, LedgerLine
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm, Suppression
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.store import Store
from ingestion import signals
from ingestion.drain import Drain
from ingestion.envelope import Envelope
from ingestion.otlp_decode import JSON
from ingestion.people import Subjects
from ingestion.spool import Spool
from ingestion.spool_erasable import spool_erasable
from tests.ingestion.otlp_bodies import MailMasker, body, span_json
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

KEYS = DerivedKeyProvider("drain test")
START = ManualClock().now()


class Mill:
    """Spool, store, door and drain over one folder; opening it again is a restart."""

    def __init__(self, folder: Path, hold: timedelta = timedelta(0)) -> None:
        self.clock = ManualClock()
        self.store = Store.open(f"sqlite:///{folder / 'tidemill.db'}", clock=self.clock, block_key=lambda t: t.encode())
        self.spool = Spool(folder / "spool", KEYS, self.clock, SeededIds())
        self.door = Door(self.store, MailMasker(), KEYS, self.clock)
        self.drain = Drain(self.spool, self.door, self.store, clock=self.clock, hold=hold)

    def close(self) -> None:
        self.spool.close()
        self.store.close()

    def contract(self, tenant_id: str = "acme") -> None:
        terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
        early = START - timedelta(days=1)
        contract = Contract(id=f"c-{tenant_id}", tenant_id=tenant_id, terms=terms, valid_from=early, recorded_at=early)
        self.store.rights.add_contract(contract)

    def send(self, *spans: dict[str, Any], tenant_id: str = "acme") -> None:
        received = to_unix_nano(self.clock.now())
        payload = Envelope(content_type=JSON, received_unix_nano=received, body=body(*spans)).pack()
        self.spool.append(tenant_id, payload)

    def line(self, tenant_id: str = "acme") -> LedgerLine:
        (line,) = [one for one in self.store.ledger.lines() if one.tenant_id == tenant_id]
        assert line.balances, line
        return line

    def trajectories(self, purpose: Purpose = Purpose.COMPLY) -> tuple[Trajectory, ...]:
        span = timedelta(days=3650)
        return self.store.trajectories.list(purpose, ["acme"], START - span, START + span).rows

    def signals(self) -> list[str]:
        span = timedelta(days=3650)
        return sorted(one.kind for one in self.store.signals.list(Purpose.COMPLY, ["acme"], START - span, START + span))


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(tmp_path)
    yield mill
    mill.close()


def run_of(
    trace: str = "a" * 32, user: str | None = "ann@example.org", text: str = "Refund me"
) -> list[dict[str, Any]]:
    who = {} if user is None else {"user.id": user}
    asked = json.dumps([{"role": "user", "content": text}])
    root = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "gen_ai.input.messages": asked}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "refund",
        "gen_ai.tool.call.arguments": '{"to": "ann@example.org"}',
        "error.type": "schema",
    }
    return [
        span_json(2, 1, trace, attributes=tool, status={"code": 2, "message": "no"}),
        span_json(1, None, trace, attributes=root | who),
    ]


def test_spans_become_a_masked_trajectory_and_the_segment_is_gone(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of(), span_json(9) | {"traceId": "0" * 32})
    report = mill.drain.run()
    assert (report.segments, report.received, report.fates) == (1, 3, {"rejected": 1, "stored": 2})
    assert report.balances
    assert mill.line().fates == {"rejected": {"trace_id": 1}, "stored": {"": 2}}
    assert mill.line().withheld == 0
    assert list(mill.spool.sealed()) == []
    (trajectory,) = mill.trajectories(Purpose.DEBUG)
    assert trajectory.subject == mill.door.subject("acme", "ann@example.org")
    assert trajectory.calls[0].arguments == {"to": "user15@masked.invalid"}
    assert trajectory.turns[0].message.text == "Refund me"
    assert mill.signals() == ["abandonment", "tool_error"]


def test_a_segment_is_destroyed_after_its_spans_are_on_the_disk(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    transaction = mill.store.transaction

    def spied(*, durable: bool = False) -> AbstractContextManager[None]:
        asked.append(durable)
        return transaction(durable=durable)

    monkeypatch.setattr(mill.store, "transaction", spied)
    mill.contract()
    mill.send(*run_of())
    assert mill.drain.run().segments == 1
    assert asked[0]


def test_replaying_any_batch_changes_nothing(mill: Mill) -> None:
    mill.contract()
    for _ in range(3):
        mill.send(*run_of())
        mill.drain.run()
    line = mill.line()
    assert line.received == 6
    assert line.fates == {"stored": {"": 2}, "duplicate": {"": 4}}
    assert len(mill.trajectories()) == 1
    assert mill.signals() == ["abandonment", "tool_error"]


def test_ing_07_a_retry_changes_nothing_and_an_end_updates(mill: Mill) -> None:
    mill.contract()
    ended, begun = span_json(1), span_json(1) | {"endTimeUnixNano": "0"}
    fates = []
    for span in (begun, begun, ended, begun):
        mill.send(span)
        fates.append(mill.drain.run().fates)
    assert fates == [{"stored": 1}, {"duplicate": 1}, {"updated": 1}, {"duplicate": 1}]
    (trajectory,) = mill.trajectories()
    assert "open_span" not in trajectory.incomplete


def test_a_fresh_install_keeps_structure_and_withholds_content(mill: Mill, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for trace in ("a", "b"):
            mill.send(*run_of(trace * 32))
            mill.drain.run()
    assert [record.message for record in caplog.records if "no contract" in record.message] == [
        (
            "tenant acme has no contract: its spans are kept as structure, what was said in them is withheld "
            "(an agent's contracts are recorded by `tidemill up`)"
        )
    ]
    assert mill.line().withheld == 4
    assert len(mill.trajectories()) == 2
    assert all("withheld" in one.incomplete and one.turns == () for one in mill.trajectories())
    assert mill.trajectories(Purpose.DEBUG) == ()


def test_ing_23_consent_from_the_wire_is_no_consent(mill: Mill) -> None:
    mill.send(span_json(1, attributes={"consent.training": "granted", "tenant_id": "bolt", "user.id": "u"}))
    mill.drain.run()
    assert mill.line().withheld == 1
    assert mill.trajectories(Purpose.TRAIN_WEIGHTS) == ()


def test_what_masking_cannot_read_is_sealed_and_its_neighbours_are_stored(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of("a" * 32), *run_of("b" * 32, text="poison"))
    report = mill.drain.run()
    assert report.fates == {"quarantined": 2, "stored": 2}
    assert mill.line().fates[Fate.QUARANTINED] == {"masking_failed": 2}
    (aside,) = mill.store.quarantine.list()
    assert b"poison" not in aside.sealed
    assert b"poison" in mill.spool.open_aside(f"tidemill quarantine {aside.id}", aside.sealed)
    assert aside.expires_at > mill.clock.now()
    assert [one.trace_id for one in mill.trajectories()] == ["a" * 32]


def test_erased_people_do_not_come_back_and_the_ledger_says_so(mill: Mill) -> None:
    mill.contract()
    subject = mill.door.subject("acme", "ann@example.org")
    suppression = Suppression(tenant_id="acme", subject=subject, since=START, request_id="r1")
    mill.store.rights.suppress(suppression)
    mill.send(*run_of())
    mill.drain.run()
    assert mill.line().fates == {"rejected": {"suppressed": 2}}
    assert mill.trajectories() == ()


def test_the_spool_answers_for_the_people_in_it(mill: Mill) -> None:
    mill.contract()
    subject = mill.door.subject("acme", "ann@example.org")
    erasable = spool_erasable(mill.spool, Subjects(mill.door.subject), mill.drain.run)
    mill.send(*run_of("a" * 32), *run_of("b" * 32, user="bob"))
    assert erasable.claims == {"spool"}
    assert (erasable.count("acme", subject), erasable.count("bolt", subject)) == (2, 0)
    mill.store.rights.suppress(Suppression(tenant_id="acme", subject=subject, since=START, request_id="r1"))
    (artifact,) = erasable.erase("acme", subject)
    assert artifact.state.value == "deleted"
    assert erasable.count("acme", subject) == 0
    assert erasable.erase("acme", subject) == ()
    assert [one.trace_id for one in mill.trajectories()] == ["b" * 32]


def test_a_segment_waits_for_the_root_that_names_the_person(tmp_path: Path) -> None:
    mill = Mill(tmp_path, hold=timedelta(seconds=30))
    mill.contract()
    child, root = run_of()
    mill.send(child)
    report = mill.drain.run()
    assert (report.waiting, report.received) == (1, 0)
    mill.send(root)
    report = mill.drain.run()
    assert (report.waiting, report.fates, report.withheld) == (0, {"stored": 2}, 0)
    mill.send(span_json(5, 4, "c" * 32))
    assert mill.drain.run().waiting == 1
    mill.clock.advance(seconds=31)
    report = mill.drain.run()
    assert (report.waiting, report.withheld) == (0, 1)
    mill.close()


def test_two_tenants_and_two_days_have_lines_of_their_own(mill: Mill) -> None:
    mill.contract()
    mill.send(span_json(1))
    mill.send(span_json(1), tenant_id="bolt")
    mill.clock.advance(days=1)
    mill.send(span_json(2))
    mill.drain.run()
    lines = [(line.tenant_id, line.day, line.received) for line in mill.store.ledger.lines()]
    assert lines == [("acme", "2026-03-02", 1), ("acme", "2026-03-03", 1), ("bolt", "2026-03-02", 1)]
    assert all(line.balances for line in mill.store.ledger.lines())


def test_a_run_over_midnight_keeps_its_person(mill: Mill) -> None:
    mill.contract()
    child, root = run_of()
    mill.send(child)
    mill.clock.advance(days=1)
    mill.send(root)
    mill.drain.run()
    assert [line.withheld for line in mill.store.ledger.lines()] == [0, 0]


class Crash(RuntimeError):
    """The process ends here."""


STEPS: list[tuple[str, str]] = [
    ("spool", "read"),
    ("door", "admit"),
    ("store.spans", "merge"),
    ("store.ledger", "record"),
    ("store.segments", "finish"),
    ("spool", "destroy"),
    ("store.spans", "dirty_traces"),
]


def _crashing(real: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        if after:
            real(*arguments, **named)
        raise Crash

    return call


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("place", "name"), STEPS)
def test_a_crash_at_any_step_and_a_rerun_lose_and_double_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, name: str, after: bool
) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    mill.send(*run_of(), span_json(9) | {"traceId": "0" * 32})
    target: Any = mill
    for part in place.split("."):
        target = getattr(target, part)
    with monkeypatch.context() as patch:
        patch.setattr(target, name, _crashing(getattr(target, name), after=after))
        with pytest.raises(Crash):
            mill.drain.run()
    mill.close()
    again = Mill(tmp_path)
    again.drain.run()
    again.drain.run()
    assert again.line().fates == {"rejected": {"trace_id": 1}, "stored": {"": 2}}
    assert len(again.trajectories()) == 1
    assert again.signals() == ["abandonment", "tool_error"]
    assert list(again.spool.sealed()) == []
    again.close()


_KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.ingestion.test_drain import Mill
mill, place, name = Mill(Path(sys.argv[2])), sys.argv[3], sys.argv[4]
target = mill
for part in place.split("."):
    target = getattr(target, part)
real = getattr(target, name)
def killed(*arguments, **named):
    real(*arguments, **named)
    os.kill(os.getpid(), 9)
setattr(target, name, killed)
mill.drain.run()
"""


@pytest.mark.parametrize(
    ("place", "name"),
    [("store.ledger", "record"), ("store.segments", "finish"), ("spool", "destroy"), ("store.spans", "merge")],
)
def test_a_killed_process_and_a_rerun_lose_and_double_nothing(
    root: Path, tmp_path: Path, place: str, name: str
) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    mill.send(*run_of())
    mill.close()
    done = subprocess.run([sys.executable, "-c", _KILLED, str(root), str(tmp_path), place, name], check=False)
    assert done.returncode == -9
    again = Mill(tmp_path)
    again.drain.run()
    assert again.line().fates == {"stored": {"": 2}}
    assert len(again.trajectories()) == 1
    assert again.signals() == ["abandonment", "tool_error"]
    again.close()


def test_ing_22_two_drains_at_once_count_once(tmp_path: Path) -> None:
    import threading

    mill = Mill(tmp_path)
    mill.contract()
    for number in range(1, 9):
        mill.send(*(span_json(number * 100 + n, attributes={"user.id": "ann"}) for n in range(40)))
    other = Drain(mill.spool, mill.door, mill.store, clock=mill.clock)
    threads = [threading.Thread(target=one.run) for one in (mill.drain, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mill.drain.run()
    assert mill.line().fates == {"stored": {"": 320}}
    assert list(mill.spool.sealed()) == []
    mill.close()


def test_an_unknown_person_is_withheld_in_a_tenant_with_a_contract(mill: Mill) -> None:
    mill.contract()
    mill.send(*run_of(user=None))
    mill.drain.run()
    assert mill.line().withheld == 2
    (trajectory,) = mill.trajectories()
    assert trajectory.subject == UNKNOWN_SUBJECT


@pytest.mark.parametrize("damage", ["bytes", "key", "other spool key"])
def test_a_segment_that_cannot_be_read_costs_no_other(tmp_path: Path, damage: str) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    mill.send(*run_of("a" * 32))
    mill.send(*run_of("b" * 32))
    mill.spool.seal()
    (first,) = mill.spool.sealed()
    path = mill.spool.folder / (f"{first}.key" if damage == "key" else f"{first}.seg")
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    if damage == "other spool key":
        mill.spool.close()
        mill.spool = mill.drain._spool = Spool(tmp_path / "spool", DerivedKeyProvider("new"), mill.clock, SeededIds())
    else:
        path.write_bytes(bytes(data))
    mill.send(*run_of("c" * 32))
    report = mill.drain.run()
    assert (report.corrupt, report.fates) == (1, {"stored": 2})
    assert list(mill.spool.sealed()) == [first]
    assert [one.trace_id for one in mill.trajectories()] == ["c" * 32]
    mill.close()


def test_a_deep_chain_of_spans_is_walked_once(mill: Mill) -> None:
    """A sender's nesting costs as many steps as it has spans: 3,000 deep in seconds."""
    import time

    mill.contract()
    mill.send(*(span_json(number, number - 1 or None, attributes={"user.id": "ann"}) for number in range(1, 3001)))
    started = time.process_time()
    mill.drain.run()
    assert len(mill.trajectories()) == 1
    assert time.process_time() - started < 30


def test_costs_beyond_reason_are_none_and_keep_no_trace_from_being_assembled(mill: Mill) -> None:
    mill.contract()
    cost = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.cost": 1e308,
        "gen_ai.usage.input_tokens": 1,
        "user.id": "ann",
    }
    mill.send(*(span_json(number, attributes=cost) for number in range(1, 4)))
    mill.drain.run()
    (run,) = mill.trajectories()
    assert run.usage.cost is None
    assert mill.store.spans.dirty_traces() == []


def test_a_trace_whose_detection_fails_costs_no_other_and_stays_dirty(
    mill: Mill, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    detect = signals.detect

    def broken(trajectory: Trajectory, *rest: Any, **judged_by: Any) -> Any:
        if trajectory.trace_id == "b" * 32:
            raise OverflowError("a schema")
        return detect(trajectory, *rest, **judged_by)

    mill.contract()
    with monkeypatch.context() as patched:
        patched.setattr(signals, "detect", broken)
        for trace in ("a" * 32, "b" * 32, "c" * 32):
            mill.send(*run_of(trace))
        mill.drain.run()
        assert {run.trace_id for run in mill.trajectories()} == {"a" * 32, "c" * 32}
        assert mill.drain.run().trajectories == 0, "nor does it when it is tried again"
    assert [one.trace_id for one in mill.store.spans.dirty_traces()] == ["b" * 32]
    assert "b" * 32 in caplog.text
    mill.drain.run()
    assert len(mill.trajectories()) == 3
    assert mill.store.spans.dirty_traces() == []
