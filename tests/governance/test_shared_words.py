"""RET-02: words that several runs share live until the last of them, by whatever way each goes."""

from __future__ import annotations

from datetime import timedelta

from governance.records.content import SpanContent
from governance.records.message import Role, text_message
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import Purpose
from governance.rescan.needles import Needles
from governance.rescan.search import search
from governance.store import Store
from tests.governance.store_records import person, span, trace_id
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock

SHARED = "the terms of delivery that everybody is shown before they order anything: " + "clause after clause, " * 20
NEEDLES = Needles.of(person(99), texts=[SHARED])


def say(store: Store, number: int) -> None:
    said = SpanContent(operation="chat", input=(text_message(Role.SYSTEM, SHARED),))
    store.spans.merge([span(number, subject=person(number), content=said)], latest)


def reads(store: Store, number: int) -> bool:
    found = store.spans.trace("acme", trace_id(number), Purpose.COMPLY)
    return [one.content.input[0].text for one in found if one.content is not None] == [SHARED]


def test_ret_02_shared_words_die_with_the_last_and_can_be_said_again(store: Store, clock: ManualClock) -> None:
    place, begun = store.erasable(), clock.now()
    for number in (1, 2, 3):
        say(store, number)
        clock.advance(days=1)
    place.erase("acme", person(1))
    assert (reads(store, 1), reads(store, 2), reads(store, 3)) == (False, True, True)
    store.sweep(begun + timedelta(days=1) + RETENTION[RetentionClass.CONTENT])
    assert (reads(store, 2), reads(store, 3)) == (False, True)
    assert search("store", place.contents(), NEEDLES).total > 0
    place.erase("acme", person(3))
    place.scrub()
    assert search("store", place.contents(), NEEDLES).total == 0
    say(store, 4)
    assert reads(store, 4)
