"""How a run ended, as far as anybody said so.

1. Where outcomes are stated, they decide: the one outcome that all of them state. Where they differ it is unknown, and
   a stated ``unknown`` is a statement like the others, so it is never rounded up.
2. Else a run that a person took over has failed.
3. Else the sign of what customers say decides: of thumbs, and of scores named ``customer_feedback``. Where some are
   positive and some negative it is unknown; nought says nothing.
4. Else it is unknown. What is said of a whole session decides of none of its runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from governance.records.feedback import Feedback, FeedbackKind, Statement
from governance.records.trajectory import Outcome

CUSTOMER: Final = "customer_feedback"


def outcome(feedback: Iterable[Feedback], *, taken_over: bool) -> Outcome:
    """The outcome of the run that the feedback is about."""
    said = [one.current for one in feedback]
    stated = {one.outcome for one in said if one.outcome is not None}
    if stated:
        return (stated.pop() if len(stated) == 1 else None) or Outcome.UNKNOWN
    if taken_over:
        return Outcome.FAILURE
    signs = {one.value > 0 for one in said if is_vote(one) and one.value}
    if len(signs) != 1:
        return Outcome.UNKNOWN
    return Outcome.SUCCESS if signs.pop() else Outcome.FAILURE


def is_vote(said: Statement) -> bool:
    """Whether the sign of a statement's value says how the run was."""
    return said.kind is FeedbackKind.THUMBS or (said.kind is FeedbackKind.SCORE and said.name == CUSTOMER)
