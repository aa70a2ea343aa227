"""Consent is judged when a span comes through the door: given later, it brings nothing back that was withheld."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from governance.records.content import AdmittedSpan
from governance.records.rights import (
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    Purpose,
    PurposeTerm,
)
from ingestion.errors import SpoolError
from tests.ingestion.test_drain import START, Mill, run_of
from tests.ingestion.test_quarantine import Ward

SAID = "Refund my kettle"
A, B, C = "a" * 32, "b" * 32, "c" * 32


def contract(mill: Mill) -> None:
    """Everything needs the person's consent."""
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONSENT) for purpose in Purpose)
    early = START - timedelta(days=1)
    mill.store.rights.add_contract(Contract(id="c", tenant_id="acme", terms=terms, valid_from=early, recorded_at=early))


def consent(mill: Mill, valid_from: timedelta = timedelta(0)) -> None:
    now = mill.clock.now()
    for purpose in (Purpose.DEBUG, Purpose.TRAIN_WEIGHTS):
        mill.store.rights.add_consent(
            ConsentEvent(
                id=f"{purpose}-{now}",
                tenant_id="acme",
                subject=mill.door.subject("acme", "ann@example.org"),
                purpose=purpose,
                status=ConsentStatus.GIVEN,
                notice_digest="0" * 64,
                valid_from=now + valid_from,
                recorded_at=now,
                actor="subject",
            )
        )


def spans(mill: Mill, trace: str) -> list[AdmittedSpan]:
    return mill.store.spans.trace("acme", trace, Purpose.COMPLY)


def words_on_disk(folder: Path) -> bool:
    return any(SAID.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def mill(tmp_path: Path) -> Iterator[Mill]:
    mill = Mill(tmp_path)
    contract(mill)
    yield mill
    mill.close()


def test_structure_is_kept_and_content_is_counted_as_withheld(mill: Mill, tmp_path: Path) -> None:
    mill.send(*run_of(A, text=SAID))
    assert mill.drain.run().withheld == 2
    found = spans(mill, A)
    assert [(item.content, item.withheld_reason) for item in found] == [(None, "content_withheld")] * 2
    assert [(item.span.name, item.span.parent_span_id) for item in found] == [
        ("span 1", None),
        ("span 2", f"{1:016x}"),
    ]
    assert found[1].span.attributes["gen_ai.tool.name"] == "refund"
    (trajectory,) = mill.trajectories()
    assert ("withheld" in trajectory.incomplete, trajectory.turns) == (True, ())
    assert SAID not in json.dumps([item.plain() for item in found])
    assert not words_on_disk(tmp_path)


@pytest.mark.parametrize("valid_from", [timedelta(0), timedelta(days=-1)])
def test_consent_given_later_brings_nothing_back(mill: Mill, tmp_path: Path, valid_from: timedelta) -> None:
    mill.send(*run_of(A, text=SAID))
    mill.spool.seal()
    (segment_id,) = mill.spool.sealed()
    mill.drain.run()
    with pytest.raises(SpoolError, match="gone"):  # the key is destroyed: nobody can read it again
        mill.spool.read(segment_id)
    mill.clock.advance(hours=1)
    consent(mill, valid_from)
    for _ in range(2):
        mill.drain.run()
    assert mill.store.rights.verdict(
        Purpose.TRAIN_WEIGHTS, "acme", mill.door.subject("acme", "ann@example.org"), mill.clock.now()
    ).allowed
    assert all(item.content is None for item in spans(mill, A))
    (trajectory,) = mill.trajectories(Purpose.TRAIN_WEIGHTS)
    assert ("withheld" in trajectory.incomplete, trajectory.turns) == (True, ())
    assert not words_on_disk(tmp_path)
    mill.send(*run_of(B, text=SAID))
    assert mill.drain.run().withheld == 0
    assert spans(mill, B)[0].content is not None
    assert mill.line().withheld == 2


def test_what_waits_in_the_spool_is_judged_when_it_is_drained(mill: Mill) -> None:
    mill.send(*run_of(A, text=SAID))
    consent(mill)
    assert mill.drain.run().withheld == 0


def test_a_sender_that_sends_again_after_consent_sends_anew(mill: Mill) -> None:
    mill.send(*run_of(A, text=SAID))
    mill.drain.run()
    consent(mill)
    mill.send(*run_of(A, text=SAID))
    assert mill.drain.run().fates == {"updated": 2}
    assert all(item.content is not None for item in spans(mill, A))


def test_quarantine_is_judged_at_its_release_and_ends_with_its_expiry(tmp_path: Path) -> None:
    ward = Ward(tmp_path)
    contract(ward.mill)
    ward.detector.poison = {"refund"}
    ward.mill.send(*run_of(A, text=SAID))
    ward.mill.send(*run_of(C, text=SAID))
    assert ward.mill.drain.run().fates == {"quarantined": 4}
    ward.heal()
    (first, second) = (item.id for item in ward.mill.store.quarantine.list())
    assert ward.quarantine.run([first]).withheld == 2
    ward.mill.clock.advance(days=2)
    consent(ward.mill)
    assert ward.quarantine.run().released == {}
    assert all(item.content is None for trace in (A, C) for item in spans(ward.mill, trace))
    assert second not in {item.id for item in ward.mill.store.quarantine.list()}
    assert ward.reconciled()
    ward.mill.close()
