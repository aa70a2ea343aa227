"""Tokens of a trace, counted once: of a span and its subtree, whichever says more."""

from __future__ import annotations

from collections.abc import Iterable

from governance.records.content import AdmittedSpan
from governance.records.trajectory import Usage
from ingestion.dialects import read
from ingestion.tree import ORPHANS, Tree


def usage_of(tree: Tree) -> Usage:
    """Leaf-most: a parent counts only for what its subtree does not explain."""
    totals: dict[str, tuple[int, int]] = {}
    for span_id in sorted(tree.spans, key=tree.depth, reverse=True):
        below = _added(totals[child] for child in tree.children.get(span_id, ()))
        own = _own(tree.spans[span_id])
        totals[span_id] = max(own[0], below[0]), max(own[1], below[1])
    tops = [span_id for span_id, place in tree.parent.items() if place is None or place == ORPHANS]
    root_id = None if tree.root is None else tree.root.span.span_id
    orphans = _added(totals[span_id] for span_id in tops if span_id != root_id)
    whole = totals[root_id] if root_id is not None else (0, 0)
    return Usage(input_tokens=whole[0] + orphans[0], output_tokens=whole[1] + orphans[1])


def _added(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    found = list(pairs)
    return sum(pair[0] for pair in found), sum(pair[1] for pair in found)


def _own(item: AdmittedSpan) -> tuple[int, int]:
    """The span's own tokens; of a span whose content is withheld, from its structure."""
    usage = item.content.usage if item.content is not None else None
    if usage is None:
        usage = read(item.span).usage
    return (0, 0) if usage is None else (usage.input_tokens, usage.output_tokens)
