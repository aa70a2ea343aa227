"""A conversation that is drained while it goes on: a customer stands inside a tool, and the roots are still to come."""

from __future__ import annotations

import time
from collections.abc import Callable

from ingestion.drain import DrainReport
from tests.instrumentations.conftest import Intake
from tests.instrumentations.conversation import expected
from tests.instrumentations.customers import PERSON, TENANT, finish
from tests.instrumentations.trajectories import comparable, mask, of_session, shown

SECONDS = 60.0


def drained_until(intake: Intake, done: Callable[[DrainReport], bool], *, patient: bool) -> DrainReport:
    """Drain until it shows; what a customer sends comes in batches."""
    deadline = time.monotonic() + SECONDS
    while True:
        report = intake.mill.drain(patient=patient).run()
        if done(report):
            return report
        assert time.monotonic() < deadline, report
        time.sleep(0.1)


def test_a_trajectory_is_usable_before_its_root_and_right_after_it(intake: Intake) -> None:
    """Every span names the person, so nothing has to wait for the root."""
    customer = intake.shop.open("openinference-openai", "early", SHOP_WAYS="plain", SHOP_HOLD="yes")
    assert customer.stdout is not None
    assert customer.stdout.readline() == "held\n"
    drained_until(intake, lambda _: len(of_session(intake, "early-plain")) == 2, patient=False)
    before = shown(intake, of_session(intake, "early-plain")[1])
    assert "missing_root" in before["incomplete"]
    assert [turn["content"] for turn in before["turns"] if turn["role"] == "user"]
    assert finish(customer, "go on\n") == ""
    intake.mill.drain(patient=False).run()
    for turn, trajectory in enumerate(of_session(intake, "early-plain")):
        assert comparable(shown(intake, trajectory)) == mask(intake, expected(turn))


def test_where_only_the_root_names_the_person_the_drain_waits_for_it(intake: Intake) -> None:
    customer = intake.shop.open("pydantic-ai", "late", SHOP_WAYS="plain", SHOP_HOLD="yes")
    assert customer.stdout is not None
    assert customer.stdout.readline() == "held\n"
    report = drained_until(intake, lambda report: report.waiting > 0, patient=True)
    assert report.withheld == 0
    assert finish(customer, "go on\n") == ""
    report = intake.mill.drain(patient=True).run()
    assert (report.waiting, report.withheld) == (0, 0)
    found = of_session(intake, "late-plain")
    for turn, trajectory in enumerate(found):
        told = shown(intake, trajectory)
        assert comparable(told) == mask(intake, expected(turn))
        assert told["subject"] == intake.mill.door.subject(TENANT, PERSON)
    assert len(found) == 2
