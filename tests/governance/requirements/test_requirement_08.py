"""Requirement 8: a fresh install captures no content and exports no training row until someone configures a right."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from governance.door import Door
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.message import Role, text_message
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm, Reason
from governance.records.span import Span
from governance.store import Store, schema
from ingestion.merge import merge
from tests.governance.store_records import T0, T1, trajectory
from tests.ingestion.otlp_bodies import MailMasker
from tests.ingestion.test_consent_taking import SECRET
from tests.support.clock import ManualClock

WORDS = "the zorblax arrived broken"


@pytest.fixture
def door(store: Store, clock: ManualClock) -> Door:
    return Door(store, MailMasker(), SECRET, clock)


def everything(store: Store) -> str:
    with store.transaction():
        connection = store._kit.db._current
        assert connection is not None
        return str([list(connection.execute(select(table))) for table in schema.METADATA.sorted_tables])


def admit(door: Door, number: int) -> AdmittedSpan:
    span = Span(trace_id=f"{number:032x}", span_id=f"{number:016x}", name="chat", start_unix_nano=1, end_unix_nano=2)
    content = SpanContent(operation="chat", input=(text_message(Role.USER, WORDS),))
    (admitted,) = door.admit("acme", [(span, content, "C-1")])
    assert isinstance(admitted, AdmittedSpan)
    return admitted


def test_requirement_08_nothing_that_was_said_is_kept_without_a_right(store: Store, door: Door, tmp_path: Path) -> None:
    kept = admit(door, 1)
    store.spans.merge([kept], merge)
    assert kept.content is None
    assert "zorblax" not in everything(store)


def test_requirement_08_nothing_is_exported_for_training_without_a_right(store: Store) -> None:
    store.trajectories.put(trajectory(1, subject="a" * 64))
    ever = (T0, T1 + timedelta(days=900))
    found = store.trajectories.list(Purpose.TRAIN_WEIGHTS, ["acme"], *ever)
    assert (found.rows, [one.reason for one in found.excluded]) == ((), [Reason.NO_CONTRACT])
    for purpose in set(Purpose) - {Purpose.COMPLY}:
        assert store.trajectories.list(purpose, ["acme"], *ever).rows == ()


def test_requirement_08_a_right_opens_what_it_names_and_nothing_else(
    store: Store, door: Door, clock: ManualClock
) -> None:
    terms = (PurposeTerm(purpose=Purpose.DEBUG, basis=Basis.CONTRACT),)
    now = clock.now()
    store.rights.add_contract(Contract(id="c", tenant_id="acme", terms=terms, valid_from=now, recorded_at=now))
    kept = admit(door, 2)
    assert kept.content is not None
    subject = door.subject("acme", "C-1")
    assert store.rights.verdict(Purpose.DEBUG, "acme", subject, now).allowed
    assert not store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", subject, now).allowed
