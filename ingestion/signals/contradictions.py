"""``contradiction``: what the agent said or did is contradicted later. Told by structure, never by comparing meanings.

1. ``answer``: the agent had answered, and then a person who took over answered with other words, before the customer
   said anything else. Evidence: the agent's turn and the person's.
2. ``call``: a tool had done what the agent asked, and then a person who took over had it done with other arguments.
   Evidence: both calls.
3. ``feedback``: feedback says what the answer should have been (a correction, or a score that is named or labelled as
   one, with words). Evidence: the agent's last turn before it and the span that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from governance.records.feedback import FeedbackKind, Statement
from governance.records.message import ToolCallPart
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation, Turn
from ingestion.feedback.responses import FROM
from ingestion.signals.case import Case
from ingestion.signals.feedback import meant_span, whose

_CORRECTED: Final = re.compile(r"(^|[^a-z])(correction|corrected|expected|ground[ _-]?truth)([^a-z]|$)", re.IGNORECASE)


def contradictions(case: Case) -> Iterator[Signal]:
    """One for each contradiction."""
    yield from _answers(case)
    yield from _calls(case)
    yield from _corrected(case)


def _answers(case: Case) -> Iterator[Signal]:
    if not any(turn.actor is Actor.HUMAN for turn in case.trajectory.turns):
        return
    said: Turn | None = None
    for turn in (turn for turn in case.trajectory.turns if not turn.earlier):
        asks = any(isinstance(part, ToolCallPart) for part in turn.message.parts)
        if turn.actor is Actor.AGENT and turn.message.text.strip() and not asks:
            said = turn
        elif turn.actor is Actor.CUSTOMER:
            said = None
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
    for one in case.feedback:
        said, corrected = one.current, _correction(one.current)
        turns = [turn for turn in case.trajectory.turns if turn.actor is Actor.AGENT and turn.at <= said.at]
        if corrected is not None and turns:
            signal = case.signal(
                SignalKind.CONTRADICTION,
                said.at,
                tuple(dict.fromkeys((turns[-1].span_id, meant_span(case, said)))),
                label="feedback",
                detail={"name": said.name, "corrected": corrected, FROM: said.key},
                about=(said.key, said.version),
            )
            yield signal.model_copy(update={"subject": whose(case, said)})


def _correction(said: Statement) -> Any:
    """What the answer should have been, where the statement says it."""
    if said.kind is FeedbackKind.CORRECTION:
        return said.content
    named = any(_CORRECTED.search(name) for name in (said.name, said.label or ""))
    return (said.comment or None) if named else None
