"""Signals: the evidence that a trace carries, each piece once.

The id of a signal is the digest of what it is about (trajectory, subject, kind, label, spans, position), so
detecting again stores nothing new.

1. ``takeover``: a person took over. ``feedback``: an evaluation that a customer left; other evaluations are
   ``review``. ``tool_error``: a refused call, labelled by its ``error.type``. ``schema_violation``: arguments that are
   not one JSON value. ``correction``: a person called a tool that had failed for the agent, with other arguments.
   ``retrieval_miss``: a retrieval that found nothing. ``abandonment``: the run ended, was not taken over, and left
   the customer without an answer.
2. Nothing is inferred from withheld content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from governance.records.base import digest_json, from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation, Trajectory
from ingestion import tree as trees
from ingestion.actors import HUMAN_AGENT, takeovers
from ingestion.assembly import feedback
from ingestion.calls import tool_name
from ingestion.dialects.messages import CORRUPT
from ingestion.tree import Tree


def detect(trajectory: Trajectory, spans: Sequence[AdmittedSpan]) -> list[Signal]:
    """Every signal of a trajectory, by time."""
    tree = trees.build(spans)
    found = [
        *_takeovers(trajectory, tree),
        *_evaluations(trajectory, tree),
        *_tool_errors(trajectory),
        *_violations(trajectory, tree),
        *_corrections(trajectory),
        *_misses(trajectory, tree),
        *_abandonment(trajectory, tree),
    ]
    return sorted(found, key=lambda signal: (signal.at, signal.id))


def _signal(
    trajectory: Trajectory,
    kind: SignalKind,
    at: datetime,
    span_ids: tuple[str, ...],
    *,
    label: str = "",
    value: float | None = None,
    detail: dict[str, Any] | None = None,
    position: int = 0,
) -> Signal:
    return Signal(
        id=digest_json([trajectory.id, trajectory.subject, kind.value, label, list(span_ids), position]),
        tenant_id=trajectory.tenant_id,
        trajectory_id=trajectory.id,
        subject=trajectory.subject,
        kind=kind,
        label=label,
        value=value,
        span_ids=span_ids,
        detail=detail or {},
        at=at,
    )


def _takeovers(trajectory: Trajectory, tree: Tree) -> Iterator[Signal]:
    for item in takeovers(tree):
        at = from_unix_nano(item.span.start_unix_nano)
        yield _signal(trajectory, SignalKind.TAKEOVER, at, (item.span.span_id,), label=HUMAN_AGENT)


def _evaluations(trajectory: Trajectory, tree: Tree) -> Iterator[Signal]:
    for item, evaluation in feedback(tree):
        kind = SignalKind.FEEDBACK if "feedback" in evaluation.name else SignalKind.REVIEW
        detail = {"explanation": evaluation.explanation, "label": evaluation.label}
        yield _signal(
            trajectory,
            kind,
            from_unix_nano(evaluation.at_unix_nano or item.span.end_unix_nano),
            (item.span.span_id,),
            label=evaluation.name,
            value=evaluation.score,
            detail={key: text for key, text in detail.items() if text is not None},
            position=evaluation.at_unix_nano,
        )


def _tool_errors(trajectory: Trajectory) -> Iterator[Signal]:
    for call in trajectory.calls:
        if call.error is not None:
            detail = {"tool": call.name, "actor": call.actor.value, "error": call.error}
            yield _signal(
                trajectory,
                SignalKind.TOOL_ERROR,
                call.started_at,
                (call.span_id,),
                label=call.error_type or "error",
                detail=detail,
            )


def _violations(trajectory: Trajectory, tree: Tree) -> Iterator[Signal]:
    for item in tree.spans.values():
        if item.content is not None and CORRUPT in item.content.flags:
            at = from_unix_nano(item.span.start_unix_nano)
            tool = tool_name(item) if trees.operation(item) == "execute_tool" else None
            detail = {} if tool is None else {"tool": tool}
            yield _signal(
                trajectory, SignalKind.SCHEMA_VIOLATION, at, (item.span.span_id,), label=CORRUPT, detail=detail
            )


def _corrections(trajectory: Trajectory) -> Iterator[Signal]:
    """A person's successful call, with the agent's last failed call of the same tool before it."""
    failed: dict[str, ToolInvocation] = {}
    for call in trajectory.calls:
        if call.actor is Actor.AGENT and call.error is not None:
            failed[call.name] = call
        elif call.actor is Actor.HUMAN and call.error is None and call.name in failed:
            wrong = failed[call.name]
            if wrong.arguments is not None and call.arguments is not None and wrong.arguments != call.arguments:
                yield _signal(
                    trajectory,
                    SignalKind.CORRECTION,
                    call.started_at,
                    (wrong.span_id, call.span_id),
                    label=call.name,
                    detail={"agent": wrong.arguments, "human": call.arguments, "error_type": wrong.error_type},
                )


def _misses(trajectory: Trajectory, tree: Tree) -> Iterator[Signal]:
    for item in tree.spans.values():
        if (
            item.content is not None
            and trees.operation(item) == "retrieval"
            and item.content.tool_result in ([], {}, "")
        ):
            at = from_unix_nano(item.span.start_unix_nano)
            yield _signal(trajectory, SignalKind.RETRIEVAL_MISS, at, (item.span.span_id,), label=item.span.name)


def _abandonment(trajectory: Trajectory, tree: Tree) -> Iterator[Signal]:
    root = tree.root
    if root is None or not root.span.end_unix_nano or root.content is None or takeovers(tree):
        return
    actors = {turn.actor for turn in trajectory.turns}
    if Actor.CUSTOMER in actors and Actor.AGENT not in actors:
        label = root.span.attributes.get("tidemill.stop_reason")
        at = from_unix_nano(root.span.end_unix_nano)
        yield _signal(trajectory, SignalKind.ABANDONMENT, at, (root.span.span_id,), label=str(label or ""))
