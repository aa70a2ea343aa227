"""The rescan: what another version of a policy masked is masked again, once, in whole traces, around its surrogates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from governance.door import Door
from governance.errors import MaskingError
from governance.masking.detection import TextDetector, TextKind
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.spans import Hit
from governance.ports.masker import Masker
from governance.records.masking_policy import UNRECORDED, Action, MaskingPolicy
from governance.records.rights import Purpose
from governance.store.tables_traces import SpansRow
from ingestion.drain import Drain
from ingestion.rescan import Rescan, RescanReport
from tests.governance.masking_lists import OnePolicy
from tests.ingestion.test_drain import KEYS, Mill
from tests.ingestion.test_special_quarantine import A, B, chat, root
from tests.support.ids import SeededIds

SAID = "Ann Miller has diabetes, write to ann@corp.example at Acme"
BEFORE = MaskingPolicy(
    actions={"HEALTH": Action.KEEP, "PERSON": Action.KEEP, "ORGANIZATION": Action.KEEP}, detectors="one"
)
NAMES_TOO = MaskingPolicy(actions={"HEALTH": Action.KEEP, "ORGANIZATION": Action.KEEP}, detectors="one")
RULES = {
    "EMAIL_ADDRESS": re.compile(r"[\w.]+@[\w.]+\w"),
    "PERSON": re.compile(r"\b[A-Z][a-z]+ [A-Z]\w+"),
    "HEALTH": re.compile(r"\bdiabetes\b"),
}


class Patterns(TextDetector):
    """Finds mail addresses, two words in capitals (a surrogate of a name is such a thing too), and an illness."""

    calls = 0

    def find(self, texts: Sequence[tuple[str, TextKind]]) -> list[tuple[Hit, ...]]:
        Patterns.calls += len(texts)
        return [
            tuple(
                sorted(
                    (Hit(*match.span(), kind, 0.9) for kind, rule in RULES.items() for match in rule.finditer(text)),
                    key=lambda hit: hit.start,
                )
            )
            for text, _ in texts
        ]


class Home:
    """A mill whose traces were masked under ``BEFORE``."""

    def __init__(self, folder: Path, *said: str) -> None:
        self.mill = Mill(folder)
        self.mill.contract()
        self.policies = OnePolicy(BEFORE)
        self.masker = PresidioMasker(KEYS, detector=Patterns(), policies=self.policies)
        mill = self.mill
        mill.door = Door(mill.store, self.masker, KEYS, mill.clock)
        mill.drain = Drain(mill.spool, mill.door, mill.store, clock=mill.clock, hold=timedelta(0))
        self.mill.send(root(A), *(chat(place, A, text) for place, text in enumerate(said or (SAID,), 2)))
        self.mill.send(root(B), chat(2, B, "Where is my parcel?"))
        self.mill.drain.run()

    def rescan(self, masker: Masker | None = None) -> Rescan:
        mill = self.mill
        return Rescan(mill.store, masker or self.masker, mill.drain.assemble, mill.clock, SeededIds())

    def run(self, policy: MaskingPolicy) -> RescanReport:
        self.policies.held = policy
        return self.rescan().run()

    def said(self) -> str:
        return json.dumps([run.plain() for run in self.mill.trajectories(Purpose.DEBUG)])

    def spans(self) -> list[Any]:
        return self.mill.store.spans.trace("acme", A, Purpose.DEBUG)


Make = Callable[..., Home]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Home] = []

    def home(*said: str) -> Home:
        made.append(Home(tmp_path, *said))
        return made[-1]

    yield home
    for one in made:
        one.mill.close()


def test_what_is_newly_found_is_masked_and_what_was_masked_stays(make: Make) -> None:
    home = make()
    mail = re.search(r"[\w.]+@[\w.]+\w", home.said())
    assert mail is not None
    assert "ann@corp" not in home.said()
    assert "Ann Miller" in home.said()
    before = {mention for one in home.spans() for mention in one.mentions}
    report = home.run(NAMES_TOO)
    assert (report.due, report.done, report.tenants) == (2, 2, 1)
    assert report.masked == {"PERSON": 1}
    assert "Ann Miller" not in home.said()
    assert mail.group() in home.said()
    assert "diabetes" in home.said()
    assert before < {mention for one in home.spans() for mention in one.mentions}
    assert home.rescan().left() == {"due": 0, "unrecorded": 0}
    assert home.mill.store.audit.list("acme")[-1].action == "mask_again"


def test_pieces_of_a_stream_are_joined_around_what_was_masked(make: Make) -> None:
    home = make()
    span = chat(3, A, "streamed")
    said = ("write ann@co", "rp.example, so Ann ", "Miller today")
    span["events"] = [
        {"name": "llm.chunk", "timeUnixNano": str(int(span["startTimeUnixNano"]) + n),
         "attributes": [{"key": "content", "value": {"stringValue": text}}]}
        for n, text in enumerate(said)
    ]  # fmt: skip
    home.mill.send(span)
    home.mill.drain.run()

    def streamed() -> list[str]:
        return [str(event.attributes["content"]) for one in home.spans() for event in one.span.events]

    before = streamed()
    assert before[1:] == [", so Ann ", "Miller today"]
    home.run(NAMES_TOO)
    after = streamed()
    assert after[0] == before[0], "what was masked stays"
    assert (after[1][:5], after[2]) == (", so ", " today")
    assert "Ann" not in after[1]
    home.run(NAMES_TOO.model_copy(update={"detectors": "two"}))
    assert streamed() == after, "its marks went with it"


def test_twice_is_once_and_a_policy_without_news_changes_only_the_version(make: Make) -> None:
    home = make()
    home.run(NAMES_TOO)
    said, calls = home.said(), Patterns.calls
    again = home.run(NAMES_TOO)
    assert (again.due, Patterns.calls) == (0, calls)
    other = home.run(NAMES_TOO.model_copy(update={"detectors": "two"}))
    assert (other.due, other.done, other.masked) == (2, 2, {})
    assert home.said() == said  # a surrogate of a name looks like a name, and stays


def test_the_dry_run_says_what_would_be_done(make: Make) -> None:
    home = make()
    said = home.said()
    home.policies.held = MaskingPolicy()
    report = home.rescan().run(dry=True)
    assert (report.masked, report.dropped) == ({"PERSON": 1, "HEALTH": 1}, {"HEALTH": 1})
    assert home.said() == said
    assert home.rescan().left()["due"] == 2


def test_a_special_category_leaves_with_the_words_around_it(make: Make) -> None:
    home = make(SAID, "Refund me")
    report = home.run(MaskingPolicy())
    assert report.dropped == {"HEALTH": 1}
    assert "diabetes" not in home.said()
    assert "Refund me" in home.said()
    [gone] = [one for one in home.spans() if one.withheld_reason]
    assert (gone.content, gone.withheld_reason) == (None, "special_category")
    assert gone.span.attributes["gen_ai.request.model"] == "m-1"


class Failing(PresidioMasker):
    """Cannot read one trace."""

    def mask_again(self, tenant_id: str, values: Sequence[Any], marks: Any) -> Any:
        if "diabetes" in json.dumps(values):
            raise MaskingError("a detector failed")
        return super().mask_again(tenant_id, values, marks)


def test_a_trace_that_nobody_reads_stays_and_is_tried_again(make: Make) -> None:
    home = make()
    home.policies.held = NAMES_TOO
    failing = Failing(KEYS, detector=Patterns(), policies=home.policies)
    report = home.rescan(failing).run()
    assert (report.done, report.failed) == (1, 1)
    assert "Ann Miller" in home.said()
    assert home.rescan().left()["due"] == 1
    assert home.rescan().run().done == 1
    assert "Ann Miller" not in home.said()


class Interrupting(PresidioMasker):
    """Something is written to the trace while it is masked again, once."""

    home: Home | None = None

    def mask_again(self, tenant_id: str, values: Sequence[Any], marks: Any) -> Any:
        if self.home is not None:
            home, self.home = self.home, None
            home.mill.send(chat(9, A, "Bert Young writes too"))
            home.mill.drain.run()
        return super().mask_again(tenant_id, values, marks)


def test_what_is_written_meanwhile_is_not_lost(make: Make) -> None:
    home = make()
    home.policies.held = NAMES_TOO
    masker = Interrupting(KEYS, detector=Patterns(), policies=home.policies)
    masker.home = home
    home.rescan(masker).run()
    assert "writes too" in home.said()
    assert "Ann Miller" not in home.said()
    assert "Bert Young" not in home.said()
    assert home.rescan().left()["due"] == 0


def test_a_crash_between_traces_leaves_whole_ones(make: Make) -> None:
    home = make()
    home.policies.held = NAMES_TOO
    assemble = home.mill.drain.assemble

    def dies(traces: Any) -> Any:
        if any(trace == B for _, trace in traces):
            raise KeyboardInterrupt
        return assemble(traces)

    mill = home.mill
    with pytest.raises(KeyboardInterrupt):
        Rescan(mill.store, home.masker, dies, mill.clock, SeededIds()).run()
    assert "Ann Miller" not in home.said()
    assert "parcel" in home.said()
    assert home.rescan().left()["due"] == 1
    assert home.rescan().run().done == 1


def test_what_was_masked_before_marks_were_kept_is_told_and_left(make: Make) -> None:
    home = make()
    said = home.said()
    with home.mill.store._kit.db.write() as connection:
        connection.execute(update(SpansRow).where(SpansRow.trace_id == A).values(masked_under=UNRECORDED))
    report = home.run(NAMES_TOO)
    assert (report.due, report.unrecorded) == (1, 1)
    assert home.said() == said
    assert home.rescan().left() == {"due": 0, "unrecorded": 1}
