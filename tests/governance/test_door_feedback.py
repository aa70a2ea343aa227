"""Feedback at the door, with the real masker: references as in spans, words masked, own ids hidden."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance.admissions import Heard, Said
from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.masking.presidio_masker import PresidioMasker
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm, Suppression
from governance.records.span import Span
from governance.store import Store
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

KEYS = DerivedKeyProvider("door of feedback tests")
PAST = datetime(2020, 1, 1, tzinfo=UTC)
REFERENCES = (
    "chatcmpl-9xQm3ZKp0aY7", "resp_0a8f3c", "msg_01XFDUDYJgAACzvnptvVoYEL", "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "4155550132", "session of Clara Barlow", "clara.barlow@corp.example/7", "thread-2024-05-01", "192.168.7.12",
)  # fmt: skip


@pytest.fixture(scope="module")
def masker() -> PresidioMasker:
    return PresidioMasker(KEYS)


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[Store]:
    opened = Store.open(f"sqlite:///{tmp_path / 'door.db'}", clock=clock)
    terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
    opened.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=PAST, recorded_at=PAST))
    yield opened
    opened.close()


@pytest.fixture
def door(store: Store, masker: PresidioMasker, clock: ManualClock, ids: SeededIds) -> Door:
    return Door(store, masker, KEYS, clock, ids=ids)


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("key", ["gen_ai.response.id", "gen_ai.conversation.id", "session.id"])
def test_a_reference_is_masked_as_the_spans_is(door: Door, reference: str, key: str) -> None:
    attributes = {key: reference, "gen_ai.request.model": "m-1", "user.id": "harbor-0012", "gen_ai.agent.name": "shop"}
    span = Span(trace_id="1" * 32, span_id="1" * 16, name="chat", start_unix_nano=5, attributes=attributes)
    (admitted,) = door.admit("t", [(span, SpanContent(), "harbor-0012")])
    assert isinstance(admitted, AdmittedSpan)
    named = "gen_ai.response.id" if key == "gen_ai.response.id" else "gen_ai.conversation.id"
    (heard,) = door.admit_said("t", [Said({"attributes": {named: reference}}, None, "unknown")])
    assert isinstance(heard, Heard)
    assert heard.structure["attributes"][named] == admitted.span.attributes[key]


def test_words_are_masked_kept_or_refused_by_whose_they_are(door: Door, store: Store) -> None:
    words = {"comment": "I am Clara Barlow, clara.barlow@corp.example, customer harbor-0012"}
    gone = door.subject("t", "harbor-0099")
    store.rights.suppress(Suppression(tenant_id="t", subject=gone, since=PAST, request_id="r"))
    mine = door.subject("t", "harbor-0012")
    kept, withheld, refused = door.admit_said(
        "t", [Said({}, words, mine, "harbor-0012"), Said({}, words, "unknown"), Said({}, words, gone, "harbor-0099")]
    )
    assert isinstance(kept, Heard)
    assert not any(name in kept.words["comment"] for name in ("Clara", "Barlow", "corp.example", "harbor-0012"))
    assert mine in kept.words["comment"]
    assert kept.mentions
    assert isinstance(withheld, Heard)
    assert (withheld.words, withheld.mentions) == (None, ())
    assert refused is None
    (event,) = store.audit.list("t")
    assert (event.action, event.detail) == ("admit_feedback", {"admitted": 2, "suppressed": 1})
