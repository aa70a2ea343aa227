"""Quarantine: sealed, tried again through the door, counted once, shown to reviewers only, and gone at its expiry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import MaskingError, NotFound
from governance.ports.masker import Masked
from governance.records.rights import Purpose, Suppression
from ingestion.errors import SpoolError
from ingestion.people import Subjects
from ingestion.quarantine import Quarantine, QuarantineReport
from ingestion.spool import Spool
from tests.ingestion.otlp_bodies import MailMasker, span_json
from tests.ingestion.test_drain import Crash, Mill, run_of

A, B = "a" * 32, "b" * 32


class Detector(MailMasker):
    """Fails on texts that hold one of the words."""

    def __init__(self) -> None:
        self.poison: set[str] = {"poison"}

    def mask(self, tenant_id: str, values: Any) -> list[Masked]:
        text = json.dumps(values)
        if any(word in text for word in self.poison):
            raise MaskingError("a detector failed")
        return [self._one(json.loads(json.dumps(item))) for item in values]

    def _one(self, item: Any) -> Masked:
        return super()._one(json.loads(json.dumps(item).replace("poison", "venom")))


class Ward:
    """A mill whose detector fails on demand, and its quarantine."""

    def __init__(self, folder: Path) -> None:
        self.mill = Mill(folder)
        self.detector = Detector()
        self.mill.door._masker = self.detector
        self.quarantine = self.open()

    def open(self, spool: Spool | None = None) -> Quarantine:
        mill = self.mill
        return Quarantine(spool or mill.spool, mill.door, mill.store, Subjects(mill.door.subject), mill.clock)

    def heal(self) -> None:
        self.detector.poison = set()

    def fill(self, trace: str = A, user: str | None = "ann@example.org") -> str:
        """One trace of two spans in quarantine; its record's id."""
        known = {item.id for item in self.mill.store.quarantine.list()}
        self.mill.send(*run_of(trace, user=user, text="poison"))
        self.mill.drain.run()
        (new,) = {item.id for item in self.mill.store.quarantine.list()} - known
        return new

    def reconciled(self) -> bool:
        """Whether the books and what is sealed say the same."""
        lines = self.mill.store.ledger.lines()
        waiting = {(line.tenant_id, line.day): line.waiting for line in lines if line.waiting}
        return all(line.balances for line in lines) and waiting == self.mill.store.quarantine.held()


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    ward = Ward(tmp_path)
    ward.mill.contract()
    yield ward
    ward.mill.close()


def actions(ward: Ward) -> list[tuple[str, str, str]]:
    events = ward.mill.store.audit.list("acme")
    return [(event.actor, event.role, event.action) for event in events if "quarantine" in event.action]


def test_released_spans_pass_the_door_and_have_an_entry_of_their_own(ward: Ward) -> None:
    ward.fill()
    assert ward.reconciled()
    ward.heal()
    report = ward.quarantine.run()
    assert report == QuarantineReport(released={"stored": 2})
    line = ward.mill.line()
    assert (line.received, line.fates) == (2, {"quarantined": {"masking_failed": 2}})
    assert (line.released, line.waiting) == ({"stored": {"": 2}}, 0)
    assert ward.reconciled()
    assert ward.mill.store.quarantine.list() == ()
    ward.mill.drain.run()
    (trajectory,) = ward.mill.trajectories(Purpose.DEBUG)
    assert trajectory.subject == ward.mill.door.subject("acme", "ann@example.org")
    assert trajectory.calls[0].arguments == {"to": "user15@masked.invalid"}
    assert actions(ward) == [("tester", "reviewer", "release_from_quarantine")]


def test_what_still_fails_stays_and_is_tried_at_growing_intervals(ward: Ward) -> None:
    ward.fill()
    tried = []
    for _ in range(60):
        tried.append(ward.quarantine.run().failed)
        ward.mill.clock.advance(minutes=2)
    assert tried[0] == 2
    assert 4 <= sum(1 for one in tried if one) <= 8
    assert ward.quarantine.run().waiting == 2
    assert ward.reconciled()


def test_who_asks_by_hand_does_not_wait(ward: Ward) -> None:
    one, other = ward.fill(), ward.fill(B)
    assert ward.quarantine.run().failed == 4
    ward.heal()
    assert ward.quarantine.run().waiting == 4
    assert ward.quarantine.run([one]).released == {"stored": 2}
    assert [item.id for item in ward.mill.store.quarantine.list()] == [other]
    with pytest.raises(NotFound):
        ward.quarantine.run([one])


def test_a_record_that_came_again_in_the_meantime_is_a_duplicate(ward: Ward) -> None:
    ward.fill()
    ward.heal()
    ward.mill.send(*run_of(A, text="poison"))
    ward.mill.drain.run()
    assert ward.quarantine.run().released == {"duplicate": 2}
    assert ward.mill.line().received == 4
    assert len(ward.mill.trajectories()) == 1


def test_who_was_erased_meanwhile_stays_out(ward: Ward) -> None:
    ward.fill()
    ward.heal()
    subject = ward.mill.door.subject("acme", "ann@example.org")
    now = ward.mill.clock.now()
    ward.mill.store.rights.suppress(Suppression(tenant_id="acme", subject=subject, since=now, request_id="r"))
    assert ward.quarantine.run().released == {"rejected": 2}
    assert ward.mill.line().released == {"rejected": {"suppressed": 2}}
    assert ward.mill.trajectories() == ()


def test_the_person_of_a_trace_stays_known(tmp_path: Path) -> None:
    ward = Ward(tmp_path)
    ward.mill.contract()
    child, root = run_of(A, text="fine")
    child["attributes"].append({"key": "gen_ai.tool.description", "value": {"stringValue": "poison"}})
    ward.mill.send(child)
    ward.mill.spool.seal()
    ward.mill.send(root)
    assert ward.mill.drain.run().fates == {"quarantined": 1, "stored": 1}
    ward.heal()
    report = ward.quarantine.run()
    assert report.withheld == 0
    ward.mill.drain.run()
    assert {one.subject for one in ward.mill.trajectories()} == {ward.mill.door.subject("acme", "ann@example.org")}
    ward.mill.close()


def test_expiry_destroys_unread_and_is_in_the_books(ward: Ward) -> None:
    name = ward.fill()
    ward.mill.clock.advance(days=2)
    ward.heal()
    for act in (lambda: ward.quarantine.run([name]), lambda: ward.quarantine.show(name, "rev")):
        with pytest.raises(NotFound):
            act()
    assert ward.quarantine.run() == QuarantineReport()
    line = ward.mill.line()
    assert (line.expired, line.waiting, line.released) == ({"masking_failed": 2}, 0, {})
    assert ward.reconciled()
    assert ward.mill.trajectories() == ()


def test_the_sweep_enters_what_it_destroys(ward: Ward) -> None:
    ward.fill()
    now = ward.mill.clock.advance(days=2)
    assert ward.mill.store.sweep(now)["quarantine"] == 1
    assert ward.mill.line().expired == {"masking_failed": 2}
    assert ward.reconciled()


def test_a_look_is_in_the_audit_before_anything_is_opened(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    name = ward.fill()
    shown = ward.quarantine.show(name, "reviewer-7")
    assert "poison" in json.dumps(shown)
    assert (shown["tenant"], len(shown["spans"])) == ("acme", 2)
    assert actions(ward) == [("reviewer-7", "reviewer", "view_quarantine")]
    monkeypatch.setattr(ward.mill.spool, "open_aside", lambda *_: pytest.fail("opened before the audit"))
    monkeypatch.setattr(ward.mill.store.audit, "append", lambda _: (_ for _ in ()).throw(Crash))
    with pytest.raises(Crash):
        ward.quarantine.show(name, "reviewer-7")


def test_nothing_in_the_database_is_in_clear(ward: Ward, tmp_path: Path) -> None:
    ward.fill()
    ward.mill.close()
    held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"poison" not in held
    assert b"ann@example.org" not in held


def test_without_the_key_it_stays_closed(ward: Ward, tmp_path: Path) -> None:
    from governance.keys import DerivedKeyProvider
    from tests.support.ids import SeededIds

    name = ward.fill()
    other = Spool(tmp_path / "other", DerivedKeyProvider("another"), ward.mill.clock, SeededIds())
    assert ward.open(other).run().failed == 2
    with pytest.raises(SpoolError, match="does not open"):
        ward.open(other).show(name, "rev")
    assert ward.reconciled()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("place", "name"),
    [("quarantine", "remove"), ("spans", "merge"), ("ledger", "record_release"), ("audit", "append")],
)
def test_a_crash_leaves_it_sealed_or_released_never_both(
    ward: Ward, monkeypatch: pytest.MonkeyPatch, place: str, name: str, after: bool
) -> None:
    ward.fill()
    ward.heal()
    target = getattr(ward.mill.store, place)
    real: Callable[..., Any] = getattr(target, name)

    def crash(*arguments: Any, **named: Any) -> None:
        if after:
            real(*arguments, **named)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(target, name, crash)
        with pytest.raises(Crash):
            ward.quarantine.run()
    assert ward.reconciled()
    ward.quarantine.run()
    assert ward.mill.line().released == {"stored": {"": 2}}
    assert ward.reconciled()


STEPS = st.lists(st.sampled_from(["fill", "heal", "sicken", "run", "hour", "day", "again", "sweep"]), max_size=14)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_happens_the_books_balance(steps: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    ward = Ward(tmp_path_factory.mktemp("ward"))
    ward.mill.contract()
    for number, step in enumerate(steps):
        if step in ("fill", "again"):
            trace = f"{number if step == 'fill' else 1:032x}" if number else A
            ward.mill.send(span_json(1, trace=trace, attributes={"text": "poison", "user.id": "u"}))
            ward.mill.drain.run()
        elif step == "run":
            ward.quarantine.run()
        elif step == "sweep":
            ward.mill.store.sweep(ward.mill.clock.now())
        elif step in ("heal", "sicken"):
            ward.detector.poison = {"poison"} if step == "sicken" else set()
        else:
            ward.mill.clock.advance(timedelta(hours=1) if step == "hour" else timedelta(days=1))
        assert ward.reconciled()
    assert sum(line.received for line in ward.mill.store.ledger.lines()) == sum(s in ("fill", "again") for s in steps)
    ward.mill.close()
