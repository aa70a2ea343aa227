"""``contradiction``: what the agent said or did is contradicted later. Told by structure, never by comparing meanings.

1. ``answer``: the agent had answered, and then a person who took over answered with other words. Evidence: the agent's
   turn and the person's.
2. ``call``: a tool had done what the agent asked, and then a person who took over had it done with other arguments.
   Evidence: both calls.
3. ``feedback``: an evaluation of the trace says what the answer should have been (an evaluation named or labelled as a
   correction, with words). Evidence: the agent's last turn before it and the span that carries it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation, Turn
from ingestion.assembly import feedback
from ingestion.signals.case import Case

_CORRECTED: Final = re.compile(r"(^|[^a-z])(correction|corrected|expected|ground[ _-]?truth)([^a-z]|$)", re.IGNORECASE)


def contradictions(case: Case) -> Iterator[Signal]:
    """One for each contradiction."""
    yield from _answers(case)
    yield from _calls(case)
    yield from _corrected(case)


def _answers(case: Case) -> Iterator[Signal]:
    said: Turn | None = None
    for turn in case.trajectory.turns:
        if turn.actor is Actor.AGENT and turn.message.text.strip():
            said = turn
        elif turn.actor is Actor.HUMAN and said is not None and _folded(turn) not in ("", _folded(said)):
            yield case.signal(SignalKind.CONTRADICTION, turn.at, (said.span_id, turn.span_id), label="answer")
            said = None


def _folded(turn: Turn) -> str:
    return " ".join(turn.message.text.split()).casefold()


def _calls(case: Case) -> Iterator[Signal]:
    done: dict[str, ToolInvocation] = {}
    for call in case.trajectory.calls:
        if call.error is not None or call.arguments is None:
            continue
        if call.actor is Actor.AGENT:
            done[call.name] = call
        elif call.actor is Actor.HUMAN and call.name in done and done[call.name].arguments != call.arguments:
            mine = done.pop(call.name)
            yield case.signal(
                SignalKind.CONTRADICTION,
                call.started_at,
                tuple(dict.fromkeys((mine.span_id, call.span_id))),
                label="call",
                detail={"tool": call.name, "agent": mine.arguments, "human": call.arguments},
            )


def _corrected(case: Case) -> Iterator[Signal]:
    for item, evaluation in feedback(case.tree):
        named = any(_CORRECTED.search(name) for name in (evaluation.name, evaluation.label or ""))
        at = from_unix_nano(evaluation.at_unix_nano or item.span.end_unix_nano)
        said = [turn for turn in case.trajectory.turns if turn.actor is Actor.AGENT and turn.at <= at]
        if named and evaluation.explanation and said:
            span_ids = dict.fromkeys((said[-1].span_id, item.span.span_id))
            detail = {"name": evaluation.name, "corrected": evaluation.explanation}
            yield case.signal(
                SignalKind.CONTRADICTION,
                at,
                tuple(span_ids),
                label="feedback",
                detail=detail,
                position=evaluation.at_unix_nano,
            )
