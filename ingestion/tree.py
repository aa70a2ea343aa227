"""The tree of a trace, whole at any moment: one root, nothing dangling, original parent ids kept.

1. The root is the earliest span without a parent, an agent's before another's. Until it arrives, an artificial place
   stands for it.
2. Spans whose parent is not there, further roots, and spans in a circle hang under that one place (``ORPHANS``), so
   everything that arrived is reachable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from governance.records.content import AdmittedSpan
from ingestion.dialects import read

ORPHANS: Final = "orphans"
"""The one place of a trace for what hangs nowhere else. Not a span id."""


@dataclass(frozen=True)
class Tree:
    """Children by parent, and how each span hangs."""

    root: AdmittedSpan | None
    spans: dict[str, AdmittedSpan]
    parent: dict[str, str | None]
    """Span id to where it hangs: a span id, ``ORPHANS``, or None for the root."""
    children: dict[str, list[str]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    """Parents that spans name and that are not there."""
    extra_roots: frozenset[str] = frozenset()
    """Further spans without a parent."""
    depths: dict[str, int] = field(default_factory=dict)
    """How many spans stand above each."""
    humans: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    """What was found out about spans on their way up, so that long ways are walked once (``ingestion.actors``)."""
    _operations: dict[str, str | None] = field(default_factory=dict)

    def operation(self, span_id: str) -> str | None:
        """What a span did (``operation``), looked up once."""
        try:
            return self._operations[span_id]
        except KeyError:
            found = self._operations[span_id] = operation(self.spans[span_id])
            return found

    def ancestors(self, span_id: str) -> Iterator[AdmittedSpan]:
        """From the span's parent up to the top."""
        place = self.parent[span_id]
        while place is not None and place != ORPHANS:
            yield self.spans[place]
            place = self.parent[place]

    def depth(self, span_id: str) -> int:
        """How many spans stand above it."""
        return self.depths[span_id]


def build(spans: Sequence[AdmittedSpan]) -> Tree:
    """The tree of a trace's spans, in any order."""
    by_id = {item.span.span_id: item for item in sorted(spans, key=start_order)}
    tops = [item for item in by_id.values() if item.span.parent_span_id is None]
    root = min(tops, key=lambda item: (not is_agent(item), start_order(item)), default=None)
    parent: dict[str, str | None] = {}
    missing, extra, circular = set(), set(), _circular(by_id)
    for span_id, item in by_id.items():
        above = item.span.parent_span_id
        if item is root:
            parent[span_id] = None
        elif above is None:
            extra.add(span_id)
            parent[span_id] = ORPHANS
        elif above not in by_id or span_id in circular:
            missing |= set() if above in by_id else {above}
            parent[span_id] = ORPHANS
        else:
            parent[span_id] = above
    children: dict[str, list[str]] = {}
    for span_id, place in parent.items():
        if place is not None:
            children.setdefault(place, []).append(span_id)
    depths = _depths(parent, children)
    return Tree(root, by_id, parent, children, frozenset(missing), frozenset(extra), depths)


def _circular(by_id: dict[str, AdmittedSpan]) -> set[str]:
    """The spans whose way up comes back to them; each span is walked over once."""
    found: set[str] = set()
    seen: set[str] = set()
    for start in by_id:
        path: dict[str, None] = {}
        place: str | None = start
        while place is not None and place in by_id and place not in seen:
            seen.add(place)
            path[place] = None
            place = by_id[place].span.parent_span_id
        if place in path:
            way = list(path)
            found.update(way[way.index(place) :])
    return found


def _depths(parent: dict[str, str | None], children: dict[str, list[str]]) -> dict[str, int]:
    """How many spans stand above each; each span is looked at once."""
    depths = {span_id: 0 for span_id, place in parent.items() if place is None or place == ORPHANS}
    waiting = list(depths)
    while waiting:
        above = waiting.pop()
        for span_id in children.get(above, ()):
            depths[span_id] = depths[above] + 1
            waiting.append(span_id)
    return depths


def top_first(tree: Tree) -> list[AdmittedSpan]:
    """The root, then the others in order."""
    others = [item for item in tree.spans.values() if item is not tree.root]
    return others if tree.root is None else [tree.root, *others]


def start_order(item: AdmittedSpan) -> tuple[int, str]:
    """By start, then id: the order of everything in a trajectory."""
    return item.span.start_unix_nano, item.span.span_id


def operation(item: AdmittedSpan) -> str | None:
    """What the span did: from its content, or from its structure where the content is withheld."""
    return read(item.span).operation if item.content is None else item.content.operation


def is_agent(item: AdmittedSpan) -> bool:
    """Whether the span is an agent's run."""
    return operation(item) == "invoke_agent"
