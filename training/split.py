"""The wall between what is learned from and what is measured on: by subject and by time.

Theory. A subject whose sessions all lie at or after the cutoff is measured; one whose sessions all lie before it is
learned from. Of a subject on both sides, the sessions before the cutoff are learned from and the later ones are left
out, because a model that has seen a person is not measured on them. A measured task whose words were already asked
before the cutoff is left out too. Runs without a known subject stand on neither side. The division reads every run,
not only those that become tasks, since a dataset may learn from any run before the cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from governance.records.task import Split
from governance.records.trajectory import UNKNOWN_SUBJECT, Actor, Trajectory
from training.values import normalised

SUBJECT_IN_TRAIN = "subject_in_train"
DUPLICATE_OF_TRAIN = "duplicate_of_train"
UNKNOWN = "unknown_subject"


def instruction_of(trajectory: Trajectory) -> str:
    """What the customer wrote in this run; in all of what is known of the talk, where the run shows none of it."""
    said = [turn for turn in trajectory.turns if turn.actor is Actor.CUSTOMER]
    return "\n".join(turn.message.text for turn in [turn for turn in said if not turn.earlier] or said)


class Wall:
    """The division of a set of runs at a cutoff."""

    def __init__(self, trajectories: Iterable[Trajectory], cutoff: datetime) -> None:
        """Reads who was there before the cutoff, and what they asked."""
        self._cutoff = cutoff
        before = [one for one in trajectories if one.started_at < cutoff]
        self._learned = {(one.tenant_id, one.subject) for one in before}
        self._asked = {(one.tenant_id, normalised(instruction_of(one))) for one in before}

    def side(self, trajectory: Trajectory) -> Split | str:
        """The side a run stands on, or the reason why it stands on none."""
        if trajectory.subject == UNKNOWN_SUBJECT:
            return UNKNOWN
        if trajectory.started_at < self._cutoff:
            return Split.TRAIN
        if (trajectory.tenant_id, trajectory.subject) in self._learned:
            return SUBJECT_IN_TRAIN
        if (trajectory.tenant_id, normalised(instruction_of(trajectory))) in self._asked:
            return DUPLICATE_OF_TRAIN
        return Split.EVAL
