"""Who acted: everything under a person's span is the person's, everything else the agent's."""

from __future__ import annotations

from typing import Final

from governance.records.content import AdmittedSpan
from governance.records.trajectory import Actor
from ingestion.tree import Tree

HUMAN_AGENT: Final = "human_operator"


def actor(item: AdmittedSpan, tree: Tree) -> Actor:
    """Who acted in a span: a person where the span or anything above it is a person's."""
    known = tree.humans.get(item.span.span_id)
    return Actor.HUMAN if known or (known is None and _is_humans(item.span.span_id, tree)) else Actor.AGENT


def _is_humans(span_id: str, tree: Tree) -> bool:
    """Whether the span or one above it is a person's; what is found out holds for the whole way up to it."""
    way: list[str] = []
    human = False
    place: str | None = span_id
    while place is not None and place in tree.spans:
        known = tree.humans.get(place)
        human = is_human(tree.spans[place]) if known is None else known
        way.append(place)
        if human or known is not None:
            break
        place = tree.parent[place]
    tree.humans.update(dict.fromkeys(way, human))
    return human


def is_human(item: AdmittedSpan) -> bool:
    """Whether a span is marked as a person's."""
    attributes = item.span.attributes
    return attributes.get("tidemill.actor") == "human" or attributes.get("gen_ai.agent.name") == HUMAN_AGENT


def takeovers(tree: Tree) -> list[AdmittedSpan]:
    """The spans in which a person took over, topmost ones only."""
    return [
        item
        for item in tree.spans.values()
        if is_human(item) and not any(is_human(above) for above in tree.ancestors(item.span.span_id))
    ]
