"""Feedback: what somebody said about a run, with what it was before it changed.

1. A ``Statement`` is one thing that was said. Its identity is the tenant and the sender's id (``key``), never the day
   and never the value: what is said under an id again is the same feedback, changed.
2. ``version`` names a statement by what was said, and by when where the sender says when. Delivering it again adds
   nothing, so a retry changes nothing. A sender who says no time can change a value, and changes it back with a time.
3. The history of a feedback is a function of the set of its statements: in order of (time, version), a statement that
   says what the one before says is no change, and the last one counts. So the order of delivery does not matter.
4. A statement is about the most exact thing that it names: a trace (and a span in it), else the span of a response id,
   else a session. What is said of a session belongs to the session and to none of its runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

from pydantic import model_validator

from governance.records.base import Digest, Record, UtcTime
from governance.records.span import SpanId, TraceId
from governance.records.trajectory import UNKNOWN_SUBJECT, Outcome

StatementRef = tuple[str, str, str]
"""(tenant_id, key, version)."""


class FeedbackKind(StrEnum):
    """What somebody said."""

    THUMBS = "thumbs"
    """``value`` is +1 or -1."""
    SCORE = "score"
    """``value`` is a number, ``label`` a word for it."""
    COMMENT = "comment"
    CORRECTION = "correction"
    """``content`` is what the answer should have been."""
    DEMONSTRATION = "demonstration"
    """``content`` shows how it is done."""
    OUTCOME = "outcome"
    """``outcome`` says how the run ended; unknown is an answer too."""


class Target(Record):
    """What a statement is about."""

    trace_id: TraceId | None = None
    span_id: SpanId | None = None
    """In the trace."""
    response_id: str | None = None
    """``gen_ai.response.id``, masked as the spans' is."""
    session_id: str | None = None
    """``gen_ai.conversation.id`` or ``session.id``, masked as the spans' is."""

    @model_validator(mode="after")
    def _about_something(self) -> Self:
        if self.span_id is not None and self.trace_id is None:
            raise ValueError("a span is named by its trace and its own id")
        if self.trace_id is None and self.response_id is None and self.session_id is None:
            raise ValueError("feedback is about a trace, a response or a session")
        return self


class Statement(Record):
    """One thing that was said, after the door. What is in it is masked; words that no right keeps are not in it."""

    tenant_id: str
    key: Digest
    """Keyed digest of the sender's id: with the tenant, the identity."""
    said: Digest
    """Keyed digest of everything that was said, as it was said."""
    version: Digest
    """``said``, together with the time where the sender says one."""
    id: str
    """The sender's id, masked."""
    kind: FeedbackKind
    name: str
    target: Target
    value: float | None = None
    outcome: Outcome | None = None
    label: str | None = None
    comment: str | None = None
    content: Any = None
    wordy: bool = False
    """Whether there were words: a label, a comment, a content."""
    subject: str = UNKNOWN_SUBJECT
    """Whose data it is by its own word; ``unknown`` is the person of what it is about."""
    at: UtcTime
    nanoseconds: int = 0
    """Of ``at``, below its microseconds: grades in spans are that exact."""
    timed: bool = False
    """Whether ``at`` is the sender's; otherwise it is when the intake first had it."""

    @property
    def ref(self) -> StatementRef:
        """What names the statement in the store."""
        return self.tenant_id, self.key, self.version

    @property
    def withheld(self) -> bool:
        """Whether there were words that are not kept, or not yet."""
        return self.wordy and self.label is None and self.comment is None and self.content is None


class Feedback(Record):
    """What holds now, and what was said before, oldest first."""

    current: Statement
    earlier: tuple[Statement, ...] = ()

    @property
    def history(self) -> tuple[Statement, ...]:
        """Everything that was said, oldest first."""
        return (*self.earlier, self.current)


def in_order(statements: Iterable[Statement]) -> list[Statement]:
    """Statements by time."""
    return sorted(statements, key=lambda one: (one.at, one.nanoseconds, one.version))


def histories(statements: Iterable[Statement]) -> tuple[Feedback, ...]:
    """The feedback that these statements are, by the time of what holds now."""
    groups: dict[tuple[str, str], dict[str, Statement]] = defaultdict(dict)
    for one in in_order(statements):
        groups[one.tenant_id, one.key].setdefault(one.version, one)
    found = [_history(list(group.values())) for group in groups.values()]
    return tuple(sorted(found, key=lambda one: (one.current.at, one.current.tenant_id, one.current.key)))


def _history(ordered: list[Statement]) -> Feedback:
    changes = [ordered[0], *(new for old, new in pairwise(ordered) if new.said != old.said)]
    return Feedback(current=changes[-1], earlier=tuple(changes[:-1]))
