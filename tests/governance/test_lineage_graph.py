"""Lineage: descendants and ancestors are the transitive closure, cycles or not."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.store import Store

EXAMPLE = itertools.count()
"""Examples share a database, so each has names of its own."""
pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14)


def reached(edges: list[tuple[int, int]], start: int) -> set[int]:
    found: set[int] = set()
    todo = [start]
    while todo:
        here = todo.pop()
        for source, derived in edges:
            if source == here and derived not in found:
                found.add(derived)
                todo.append(derived)
    return found


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=pairs)
def test_closure(store: Store, edges: list[tuple[int, int]]) -> None:
    name = next(EXAMPLE)

    def at(number: int) -> Node:
        return Node(kind=list(NodeKind)[number % 3], id=f"{name}/{number}")

    added = [LineageEdge(derived=at(derived), source=at(source)) for source, derived in edges]
    store.lineage.add(added)
    store.lineage.add(added)
    back = [(derived, source) for source, derived in edges]
    for start in range(8):
        assert set(store.lineage.descendants(at(start))) == {at(n) for n in reached(edges, start)}
        assert set(store.lineage.ancestors(at(start))) == {at(n) for n in reached(back, start)}
