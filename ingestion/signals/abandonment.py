"""``abandonment``: a run that has ended, that nobody took over, and that left the customer without an answer.

1. Where the last thing that the agent did is a tool that ends a run by its name (``submit``, ``final_answer``, ...) and
   worked, the answer was in it: nothing is abandoned. Neither is a run that speaks to nobody (an embedding, a search).
2. ``tidemill.stop_reason`` where the run states one, else ``no_answer``: nothing was said to the customer at all. A run
   that states why it stopped, and no answer, held back what its model said.
3. ``ends_on_customer``: the last words are the customer's, and they are no farewell.
4. ``ends_on_tool_call``: the last thing that the agent said asks for a tool, and no answer came after.
Only of a run whose root is there and has ended, and whose words are all there: an answer that was withheld, dropped, or
written as the repr of an object is no missing one. Evidence: the root, and the span of the last turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from governance.records.base import from_unix_nano
from governance.records.message import ToolCallPart
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation, Turn
from ingestion import actors
from ingestion.signals.case import Case

NO_ANSWER: Final = "no_answer"
_UNHEARD: Final = frozenset({"withheld", "dropped_attributes", "dropped_events", "missing_index", "python_repr"})
"""Gaps in which an answer may have been lost."""
_TALKING: Final = ("invoke_agent", "invoke_workflow", "chat", None)
_ENDING: Final = frozenset(
    {"submit", "final", "answer", "finish", "reply", "respond", "done", "complete", "completion", "transfer", "handoff",
     "escalate"}
)  # fmt: skip
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_FAREWELLS: Final = (
    "thanks?", "thank you", "thx", "bye", "goodbye", "great", "perfect", "ok(ay)?", "got it", "cheers", "stop",
    "###stop###", "(no,? )?that('s| is) (all|it)", "감사", "고마", "고맙", "네", "넵", "예", "알겠", "수고", "괜찮",
)  # fmt: skip
_FAREWELL: Final = re.compile(rf"\W*({'|'.join(_FAREWELLS)})", re.IGNORECASE)
_FAREWELL_LENGTH: Final = 80


def abandonment(case: Case) -> Iterator[Signal]:
    """At most one."""
    root = case.tree.root
    if root is None or not root.span.end_unix_nano or root.content is None:
        return
    if not _UNHEARD.isdisjoint(case.trajectory.incomplete):
        return
    if actors.takeovers(case.tree):
        return
    held_back = "tidemill.stop_reason" in root.span.attributes and not root.content.output
    left = _left(case.trajectory.turns, held_back=held_back)
    if left is None or case.tree.operation(root.span.span_id) not in _TALKING or _handed_over(case.trajectory.calls):
        return
    label, last = left
    if label == NO_ANSWER:
        label = str(root.span.attributes.get("tidemill.stop_reason") or NO_ANSWER)
    span_ids = dict.fromkeys((root.span.span_id, last.span_id))
    yield case.signal(
        SignalKind.ABANDONMENT, from_unix_nano(root.span.end_unix_nano), tuple(span_ids), label=label
    )  # fmt: skip


def _handed_over(calls: tuple[ToolInvocation, ...]) -> bool:
    """Whether the run ended with a tool that ends runs."""
    if not calls or calls[-1].error is not None:
        return False
    return not _ENDING.isdisjoint(word.lower() for word in _WORDS.findall(calls[-1].name))


def _left(turns: tuple[Turn, ...], *, held_back: bool) -> tuple[str, Turn] | None:
    """How the customer was left, and the last turn; None where they have an answer, or said nothing.

    ``held_back``: what the model said did not reach the customer.
    """
    spoken = [turn for turn in turns if turn.actor in (Actor.CUSTOMER, Actor.AGENT, Actor.HUMAN)]
    if not any(turn.actor is Actor.CUSTOMER for turn in spoken):
        return None
    last = spoken[-1]
    if held_back:
        return NO_ANSWER, last
    if last.actor is Actor.CUSTOMER:
        answered = any(turn.actor is not Actor.CUSTOMER and turn.message.text.strip() for turn in spoken)
        if not answered:
            return NO_ANSWER, last
        return None if _farewell(last) else ("ends_on_customer", last)
    if last.message.text.strip():
        return None
    asked = any(isinstance(part, ToolCallPart) for part in last.message.parts)
    return ("ends_on_tool_call", last) if asked else (NO_ANSWER, last)


def _farewell(turn: Turn) -> bool:
    text = turn.message.text.strip()
    return len(text) <= _FAREWELL_LENGTH and _FAREWELL.match(text) is not None
