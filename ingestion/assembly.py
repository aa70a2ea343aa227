"""Assembly: the spans of a trace into one trajectory, usable before the root has arrived.

1. Order of arrival does not matter: everything is taken in order of (start, span id).
2. Calls are the executed tools, each once, whether their spans or the messages around them show them; a call is the
   agent's unless it happened under a person's span (``tidemill.actor`` = ``human``, or the agent named
   ``human_operator``).
3. Turns are the whole conversation, each message once (``ingestion.turns``).
4. Tokens and cost are counted leaf-most: a span counts for what its subtree does not explain (``tokens``).
5. The outcome is what the feedback says (``ingestion.feedback.verdict``), and otherwise unknown.
6. What is missing is said in ``incomplete``; such a trajectory is never trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from governance.policy.epochs import united
from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.feedback import Feedback, histories
from governance.records.trajectory import UNKNOWN_SUBJECT, Actor, Trajectory
from ingestion import tree as trees
from ingestion.actors import HUMAN_AGENT, actor, takeovers
from ingestion.errors import IngestionError
from ingestion.failures import judged
from ingestion.feedback.evaluations import of_spans
from ingestion.feedback.verdict import outcome
from ingestion.gaps import gaps
from ingestion.prices import PriceTable
from ingestion.tokens import MODEL_KEYS, NO_PRICES, usage_of
from ingestion.tree import Tree, operation, top_first
from ingestion.turns import conversation

_SESSION_KEYS: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "conversation.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "langsmith.metadata.session_id",
    "langsmith.metadata.thread_id",
    "langsmith.metadata.conversation_id",
)
_AGENT_KEYS: Final = ("gen_ai.agent.name", "agent.name", "graph.node.id")


def assemble(
    spans: Sequence[AdmittedSpan],
    prices: PriceTable = NO_PRICES,
    feedback: Sequence[Feedback] | None = None,
    tree: Tree | None = None,
) -> Trajectory:
    """The trajectory of one trace of one tenant; ``prices`` cost the tokens whose cost the trace does not state.

    ``tree`` is that of the spans, where it is known.

    Without ``feedback`` it is what the spans themselves carry.

    Raises:
        IngestionError: when there are no spans, or they are of several traces or tenants.

    """
    if len({(item.tenant_id, item.span.trace_id) for item in spans}) != 1:
        raise IngestionError("a trajectory is made from the spans of one trace of one tenant")
    tree = tree or trees.build(spans)
    ordered = list(tree.spans.values())
    heard = histories(of_spans(ordered)) if feedback is None else feedback
    first, session = ordered[0], _attribute(tree, *_SESSION_KEYS)
    said = conversation(tree)
    calls = tuple(judged(call, tree) for call in said.calls)
    ends = [max(item.span.start_unix_nano, item.span.end_unix_nano) for item in ordered]
    return Trajectory(
        tenant_id=first.tenant_id,
        trace_id=first.span.trace_id,
        session_id=session or first.span.trace_id,
        subject=_subject(tree),
        agent_name=_agent_name(tree),
        release=_attribute(tree, "tidemill.release"),
        model=_model(tree),
        topic=_attribute(tree, "tidemill.request.topic"),
        world_digest=_attribute(tree, "tidemill.world.digest"),
        started_at=from_unix_nano(first.span.start_unix_nano),
        ended_at=from_unix_nano(max(ends)),
        turns=said.turns,
        subagents=said.subagents,
        calls=calls,
        usage=usage_of(tree, prices),
        outcome=outcome(heard, taken_over=bool(takeovers(tree))),
        incomplete=gaps(tree, calls, has_session=session is not None),
        epoch=united(item.epoch for item in spans),
    )


def _attribute(tree: Tree, *keys: str) -> str | None:
    """The first text under these keys, the root's before the others'."""
    found = (item.span.attributes.get(key) for item in top_first(tree) for key in keys)
    return next((value for value in found if isinstance(value, str) and value), None)


def _agent_name(tree: Tree) -> str:
    for item in top_first(tree):
        if actor(item, tree) is Actor.AGENT and (trees.is_agent(item) or item is tree.root):
            named = (item.span.attributes.get(key) for key in _AGENT_KEYS)
            found = next((name for name in named if isinstance(name, str) and name), None)
            if found:
                return found
    agents = (_attribute(tree, "gen_ai.agent.name"), top_first(tree)[0].span.resource.get("service.name"))
    return next((str(name) for name in agents if name and name != HUMAN_AGENT), "unknown")


def _subject(tree: Tree) -> str:
    """The one person of the trace; the root's where several are named (``several_subjects`` says so)."""
    known = [item.subject for item in top_first(tree) if item.subject != UNKNOWN_SUBJECT]
    return known[0] if known else UNKNOWN_SUBJECT


def _model(tree: Tree) -> str | None:
    chats = [item for item in tree.spans.values() if operation(item) == "chat" and actor(item, tree) is Actor.AGENT]
    deepest = sorted(chats, key=lambda item: (tree.depth(item.span.span_id), trees.start_order(item)), reverse=True)
    values = (item.span.attributes.get(key) for item in (*deepest, *top_first(tree)) for key in MODEL_KEYS)
    return next((value for value in values if isinstance(value, str) and value), None)
