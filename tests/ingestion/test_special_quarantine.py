"""Special categories: the span alone is sealed, its structure stays, a person decides, and the books balance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from governance.door import Door
from governance.errors import MaskingTimeout, NotFound
from governance.masking.presidio_masker import PresidioMasker
from governance.ports.masker import Masked
from governance.records.masking_policy import Action, MaskingPolicy
from governance.records.rights import Purpose
from ingestion.drain import Drain
from ingestion.people import Subjects
from ingestion.quarantine import Quarantine, QuarantineReport
from ingestion.setting_aside import SPECIAL_KEPT
from tests.governance.masking_lists import OnePolicy, PatternDetector
from tests.ingestion.otlp_bodies import MailMasker, span_json
from tests.ingestion.test_drain import KEYS, Mill

A, B = "a" * 32, "b" * 32
SAID = "I have diabetes, says Ann Miller"


def chat(number: int, trace: str, text: str) -> dict[str, Any]:
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": text}]}])
    held = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "gen_ai.request.model": "m-1"}
    return span_json(number, 1, trace, attributes=held)


def root(trace: str) -> dict[str, Any]:
    held = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", "user.id": "cust-0012"}
    return span_json(1, None, trace, attributes=held)


class Ward:
    """A mill with the real masker over a detector of patterns, and its quarantine."""

    def __init__(self, folder: Path) -> None:
        self.mill = Mill(folder)
        self.mill.contract()
        self.policies = OnePolicy()
        mill = self.mill
        mill.door = Door(
            mill.store, PresidioMasker(KEYS, detector=PatternDetector(), policies=self.policies), KEYS, mill.clock
        )
        mill.drain = Drain(mill.spool, mill.door, mill.store, clock=mill.clock, hold=timedelta(0))
        self.quarantine = Quarantine(mill.spool, mill.door, mill.store, Subjects(mill.door.subject), mill.clock)

    def fill(self) -> str:
        """A trace with one special span among three, and another trace; the record's id."""
        self.mill.send(root(A), chat(2, A, SAID), chat(3, A, "Refund me"), root(B), chat(2, B, "Hello"))
        self.mill.drain.run()
        (held,) = self.mill.store.quarantine.list()
        return held.id

    def said(self) -> str:
        return json.dumps([run.plain() for run in self.mill.trajectories(Purpose.DEBUG)])

    def balanced(self) -> bool:
        lines = self.mill.store.ledger.lines()
        waiting = {(line.tenant_id, line.day): line.waiting for line in lines if line.waiting}
        return all(line.balances for line in lines) and waiting == self.mill.store.quarantine.held()


@pytest.fixture
def ward(tmp_path: Path) -> Iterator[Ward]:
    ward = Ward(tmp_path)
    yield ward
    ward.mill.close()


def test_the_span_alone_is_sealed_and_its_neighbours_go_on(ward: Ward, tmp_path: Path) -> None:
    ward.fill()
    line = ward.mill.line()
    assert line.fates == {"stored": {"": 4}, "quarantined": {"special_category": 1}}
    assert (line.received, line.withheld, line.waiting) == (5, 0, 1)
    assert ward.balanced()
    (held,) = ward.mill.store.quarantine.list()
    assert (held.reason, held.expires_at) == ("special_category", ward.mill.clock.now() + SPECIAL_KEPT)
    one, other = sorted(ward.mill.trajectories(Purpose.DEBUG), key=lambda run: run.trace_id)
    assert one.incomplete == ("withheld",), "a run that misses what was said is never trained on"
    assert other.incomplete == ()
    assert "Refund me" in ward.said()
    spans = {one.span.span_id[-1]: one for one in ward.mill.store.spans.trace("acme", A, Purpose.COMPLY)}
    assert (spans["2"].content, spans["2"].withheld_reason) == (None, "special_category")
    assert spans["2"].span.attributes["gen_ai.request.model"] == "m-1"
    assert not any(b"diabetes" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_reviewer_releases_it_masked_and_kept_by_their_decision(ward: Ward) -> None:
    name = ward.fill()
    assert "diabetes" in json.dumps(ward.quarantine.show(name, "r-17"))
    assert ward.quarantine.release(name, "r-17") == QuarantineReport(released={"updated": 1})
    line = ward.mill.line()
    assert (line.released, line.waiting) == ({"updated": {"": 1}}, 0)
    assert ward.balanced()
    ward.mill.drain.run()
    assert "says" in ward.said()
    assert not any(word in ward.said() for word in ("diabetes", "Miller"))
    assert {run.incomplete for run in ward.mill.trajectories()} == {()}
    acts = [(one.actor, one.role, one.action) for one in ward.mill.store.audit.list("acme") if one.actor == "r-17"]
    assert acts == [("r-17", "reviewer", "view_quarantine"), ("r-17", "reviewer", "release_from_quarantine")]
    with pytest.raises(NotFound):
        ward.quarantine.release(name, "r-17")


def test_a_reviewer_destroys_it(ward: Ward) -> None:
    name = ward.fill()
    assert ward.quarantine.destroy(name, "r-17").expired == 1
    assert ward.mill.line().expired == {"destroyed_by_review": 1}
    assert ward.balanced()
    assert "says" not in ward.said()
    with pytest.raises(NotFound):
        ward.quarantine.destroy(name, "r-17")


def test_it_is_not_tried_by_itself_and_its_expiry_destroys_it(ward: Ward) -> None:
    name = ward.fill()
    assert ward.quarantine.run().waiting == 1
    assert ward.quarantine.run([name]).failed == 1, "asked by hand, the same policy says the same"
    assert [held.id for held in ward.mill.store.quarantine.list()] == [name]
    ward.mill.clock.advance(SPECIAL_KEPT)
    assert ward.quarantine.run().expired == 1
    assert ward.mill.line().expired == {"special_category": 1}
    assert ward.balanced()


def test_a_policy_that_masks_the_category_lets_it_through_by_hand(ward: Ward) -> None:
    name = ward.fill()
    ward.policies.held = MaskingPolicy(actions={"HEALTH": Action.MASK})
    assert ward.quarantine.run([name]).released == {"updated": 1}
    assert ward.balanced()
    assert "diabetes" not in ward.said()


class Moody(MailMasker):
    """Takes too long until it is well, then masks with the masker that it was given."""

    def __init__(self, well: PresidioMasker) -> None:
        self.well: PresidioMasker | None = None
        self.given = well

    def mask(self, tenant_id: str, values: Any) -> list[Masked]:
        if self.well is None:
            raise MaskingTimeout("the detector took longer than 60 s")
        return self.well.mask(tenant_id, values)


def test_what_took_too_long_is_told_apart_and_what_is_special_in_it_stays(ward: Ward) -> None:
    moody = Moody(PresidioMasker(KEYS, detector=PatternDetector()))
    ward.mill.door._masker = moody
    ward.mill.send(root(A), chat(2, A, SAID), chat(3, A, "Refund me"))
    assert ward.mill.drain.run().fates == {"quarantined": 3}
    assert ward.mill.line().fates == {"quarantined": {"masking_timeout": 3}}
    assert ward.quarantine.run().failed == 3
    moody.well = moody.given
    since = ward.mill.clock.now()
    ward.mill.clock.advance(hours=1)
    report = ward.quarantine.run()
    assert (report.released, report.failed) == ({"stored": 2}, 1)
    assert ward.balanced()
    (rest,) = ward.mill.store.quarantine.list()
    assert (rest.reason, rest.spans, rest.expires_at) == ("special_category", 1, since + SPECIAL_KEPT)
    assert ward.quarantine.release(rest.id, "r-17").released == {"updated": 1}
    assert ward.mill.line().waiting == 0
    assert ward.balanced()


def test_who_has_no_right_leaves_nothing_to_seal(tmp_path: Path) -> None:
    ward = Ward(tmp_path)
    ward.mill.send(*(span | {"traceId": B} for span in (root(A), chat(2, A, SAID))), tenant_id="nobody")
    ward.mill.drain.run()
    assert ward.mill.store.quarantine.list() == ()
    assert ward.mill.line("nobody").withheld == 2
    ward.mill.close()
