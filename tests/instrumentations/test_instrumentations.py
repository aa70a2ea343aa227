"""Real instrumentations send to the real intake: the same conversation is the same trajectory from each.

Every customer is a process in an environment of its own. It has the conversation twice, its answers whole and as a
stream; each question is a trace, so each customer makes four. What arrived is drained once, with real masking.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from governance.records.rights import Purpose
from governance.records.trajectory import Trajectory
from ingestion.drain import DrainReport
from tests.instrumentations.clients.shop import QUESTIONS
from tests.instrumentations.conftest import Intake
from tests.instrumentations.conversation import STEPS, WORDS, expected
from tests.instrumentations.customers import CUSTOMERS, PERSON, TENANT, WAYS, finish
from tests.instrumentations.trajectories import comparable, mask, of_session, shown, without_ids

BOTH = [(name, way) for name in CUSTOMERS for way in WAYS]


@dataclass(frozen=True)
class Traffic:
    """What came of all customers."""

    intake: Intake
    errors: Mapping[str, str]
    """Customer to what its process complained of."""
    report: DrainReport

    def of(self, name: str, way: str) -> list[Trajectory]:
        """The trajectories of a customer's conversation, in order."""
        return of_session(self.intake, f"{_session(name)}-{way}")


def _session(name: str) -> str:
    return f"s{list(CUSTOMERS).index(name)}"


@pytest.fixture(scope="module")
def traffic(intake: Intake) -> Traffic:
    def visit(name: str) -> str:
        return finish(intake.shop.open(name, _session(name)))

    with ThreadPoolExecutor(2) as pool:
        errors = dict(zip(CUSTOMERS, pool.map(visit, CUSTOMERS), strict=True))
    return Traffic(intake, errors, intake.mill.drain(patient=False).run())


@pytest.mark.parametrize("name", CUSTOMERS)
def test_the_customer_was_served_and_could_send(traffic: Traffic, name: str) -> None:
    assert traffic.errors[name] == ""
    asked = [(path, stream) for key, path, stream in traffic.intake.script.requests if key == _session(name)]
    steps = sum(len(steps) for steps in STEPS.values())
    assert [stream for _, stream in asked] == [False] * steps + [True] * steps
    assert (_session(name), QUESTIONS[1]) in traffic.intake.script.refused


@pytest.mark.parametrize(("name", "way"), BOTH)
def test_the_same_conversation_is_the_same_trajectory(traffic: Traffic, name: str, way: str) -> None:
    found = traffic.of(name, way)
    assert len(found) == len(QUESTIONS)
    for turn, trajectory in enumerate(found):
        told = shown(traffic.intake, trajectory)
        wanted = mask(traffic.intake, expected(turn))
        held = comparable(told)
        wanted["usage"] |= dict.fromkeys(CUSTOMERS[name].untold, 0)
        if CUSTOMERS[name].names_items:
            wanted, held = without_ids(wanted), without_ids(held)
        assert held == wanted
        assert told["subject"] == traffic.intake.mill.door.subject(TENANT, PERSON)


def test_nothing_is_lost_refused_or_doubled(traffic: Traffic) -> None:
    report = traffic.report
    assert report.balances
    assert (report.waiting, report.corrupt, report.withheld) == (0, 0, 0)
    assert report.fates == {"stored": report.received}
    assert sum(len(traffic.of(name, way)) for name, way in BOTH) == len(QUESTIONS) * len(BOTH)
    assert all(line.balances for line in traffic.intake.mill.store.ledger.lines())


@pytest.mark.parametrize("name", CUSTOMERS)
def test_no_word_of_the_conversation_stands_in_the_structure(traffic: Traffic, name: str) -> None:
    store = traffic.intake.mill.store
    for trajectory in (*traffic.of(name, "plain"), *traffic.of(name, "stream")):
        for item in store.spans.trace(TENANT, trajectory.trace_id, Purpose.DEBUG):
            structure = json.dumps(item.span.plain(), ensure_ascii=False)
            assert not [word for word in WORDS if word in structure], item.span.name
