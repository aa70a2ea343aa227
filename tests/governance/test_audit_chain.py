"""The audit's chain: every single act on one row among ten thousand is told by the rows next to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.policy.audit_chain import START, Head, Line, faults, link
from governance.store.base import dump_json
from tests.governance.store_records import T1
from tests.governance.test_audit import TENANT, event

SIZE = 10_000


@pytest.fixture(scope="module")
def rows() -> list[Line]:
    """A chain as the store writes it."""
    made, root = [], START.root
    for number in range(1, SIZE + 1):
        body = event(number).plain()
        root = link(root, body)
        made.append(Line(TENANT, number, f"e{number}", T1, dump_json(body), root))
    return made


def tampered(rows: list[Line], place: int) -> Iterator[list[Line]]:
    """What one act on the row at ``place`` makes of it and its neighbours: an edit, a deletion, a swap."""
    before, mine, after = rows[place - 1 : place] if place else [], rows[place], rows[place + 1 : place + 2]
    forged = mine.body.replace('"r-17"', '"r-18"')
    previous = before[0].chain if before else START.root
    yield [*before, mine._replace(body=forged), *after]
    yield [*before, mine._replace(body=forged, chain=link(previous, json.loads(forged))), *after]
    yield [*before, *after]
    if after:
        yield [*before, after[0]._replace(position=mine.position), mine._replace(position=after[0].position)]


def tampered_otherwise(rows: list[Line], place: int) -> Iterator[list[Line]]:
    """Single columns, a closed gap, a row from far away, a row put in."""
    before, mine, after = rows[place - 1 : place] if place else [], rows[place], rows[place + 1 : place + 2]
    body = json.loads(mine.body)
    for edited in (body | {"at": "2026-03-01T09:00:01Z"}, body | {"detail": {"n": -1}}, body | {"more": 1}):
        yield [*before, mine._replace(body=dump_json(edited)), *after]
    yield [*before, mine._replace(chain="0" * 64), *after]
    yield [*before, mine._replace(id="x"), *after]
    yield [*before, mine._replace(at=T1 + timedelta(seconds=1)), *after]
    yield [*before, mine._replace(position=SIZE + place + 5), *after]
    yield [*before, *(one._replace(position=one.position - 1) for one in after)]
    if after:
        yield [*before, rows[(place + SIZE // 2) % SIZE]._replace(position=mine.position), *after]
        yield [*before, mine, mine._replace(position=mine.position + 1), after[0]._replace(position=mine.position + 2)]


def seen(rows: list[Line], window: list[Line], place: int) -> bool:
    """Whether the rows next to the act tell it, or the chain's head where it was done to the last row."""
    start = Head(place - 1, rows[place - 2].chain if place > 1 else START.root) if place else START
    if next(faults(window, start), None) is not None:
        return True
    return place == SIZE - 1 and (window[-1].position, window[-1].chain) != (SIZE, rows[-1].chain)


def test_every_single_change_swap_and_deletion_among_ten_thousand_events_is_found(rows: list[Line]) -> None:
    assert list(faults(rows)) == []
    for place in range(SIZE):
        for act, window in enumerate(tampered(rows, place)):
            assert seen(rows, window, place), (place, act)


def test_so_is_every_other_act_on_one_row(rows: list[Line]) -> None:
    for place in [*range(0, SIZE, 50), SIZE - 1]:
        for act, window in enumerate(tampered_otherwise(rows, place)):
            assert seen(rows, window, place), (place, act)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_a_window_shows_the_whole_chain_shows(rows: list[Line], data: st.DataObject) -> None:
    """Nothing that the rows next to a change tell is lost among all the others."""
    some, place = rows[:60], data.draw(st.integers(1, 57))
    window = data.draw(st.sampled_from([*tampered(rows, place), *tampered_otherwise(rows, place)]))
    assert next(faults([*some[: place - 1], *window, *some[place + 2 :]]), None) is not None
