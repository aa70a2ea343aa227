"""The spans of a trace in the order in which they were told something and said something.

1. A span hears its input when it starts and says its output when it ends, or when the last span inside of it did, if
   that is later. An agent that a person inside of its span took over from had said its answer before. Of what happens
   in the same nanosecond, the outer span hears first and says last.
2. Model calls, agents, the root and log events that stand for themselves speak. Chains speak only where nothing else
   does: they repeat what is inside.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Final, NamedTuple

from governance.records.content import AdmittedSpan
from governance.records.trajectory import Actor
from ingestion.actors import actor, takeovers
from ingestion.conversation.scopes import AGENT, CHAT
from ingestion.log_records import LOG_EVENT
from ingestion.tree import Tree

_WORKFLOW: Final = "invoke_workflow"


class Moment(NamedTuple):
    """A span that hears its input, or says its output."""

    item: AdmittedSpan
    says: bool
    at: int


def speakers(tree: Tree) -> list[AdmittedSpan]:
    """The spans that speak."""
    talking = [item for item in tree.spans.values() if _talks(item)]
    first = [
        item
        for item in talking
        if item is tree.root or tree.operation(item.span.span_id) in (AGENT, CHAT) or LOG_EVENT in item.span.flags
    ]
    return first or [item for item in talking if tree.operation(item.span.span_id) == _WORKFLOW]


def _talks(item: AdmittedSpan) -> bool:
    return item.content is not None and bool(item.content.input or item.content.output)


def moments(tree: Tree, spoken: list[AdmittedSpan]) -> Iterator[Moment]:
    """Every hearing and saying, in order."""
    depths = tree.depths
    ends = _ends(tree, spoken)
    waiting: list[tuple[int, int, str, AdmittedSpan]] = []
    for item in sorted(spoken, key=lambda one: (one.span.start_unix_nano, depths[one.span.span_id], one.span.span_id)):
        span, id_ = item.span, item.span.span_id
        while waiting and _over(tree, waiting[0], item):
            yield _said(heapq.heappop(waiting))
        yield Moment(item, says=False, at=span.start_unix_nano)
        heapq.heappush(waiting, (ends[id_], -depths[id_], id_, item))
    while waiting:
        yield _said(heapq.heappop(waiting))


def _said(one: tuple[int, int, str, AdmittedSpan]) -> Moment:
    return Moment(one[3], says=True, at=one[0])


def _over(tree: Tree, one: tuple[int, int, str, AdmittedSpan], item: AdmittedSpan) -> bool:
    """Whether a span has ended when another one starts, and is not around it."""
    start = item.span.start_unix_nano
    return one[0] < start or (
        one[0] == start and all(above is not one[3] for above in tree.ancestors(item.span.span_id))
    )


def _ends(tree: Tree, spoken: list[AdmittedSpan]) -> dict[str, int]:
    """When each span says: at its end, and not before the spans inside of it; but before a person in it took over."""
    ends = {item.span.span_id: max(item.span.start_unix_nano, item.span.end_unix_nano) for item in spoken}
    for span_id, item in tree.spans.items():
        end = max(item.span.start_unix_nano, item.span.end_unix_nano)
        for above in tree.ancestors(span_id):
            if ends.get(above.span.span_id, end) < end:
                ends[above.span.span_id] = end
    for human in takeovers(tree):
        start = human.span.start_unix_nano
        for above in tree.ancestors(human.span.span_id):
            if above.span.span_id in ends and not _goes_on(tree, above, spoken, start):
                ends[above.span.span_id] = start - 1
    return ends


def _goes_on(tree: Tree, item: AdmittedSpan, spoken: list[AdmittedSpan], moment: int) -> bool:
    """Whether an agent speaks inside of a span after a moment."""
    return any(
        one.span.start_unix_nano > moment
        and actor(one, tree) is Actor.AGENT
        and any(above is item for above in tree.ancestors(one.span.span_id))
        for one in spoken
    )
