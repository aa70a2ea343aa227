"""Verifiers, as data: what must be true after a run, and how a reward is made of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from governance.records.base import Record
from governance.records.world import StateChange


class StateDiff(Record):
    """The world must have changed in exactly these rows, whatever the order."""

    kind: Literal["state_diff"] = "state_diff"
    changes: tuple[StateChange, ...]


class AnswerContains(Record):
    """The final answer must state each of these values (case and white space folded)."""

    kind: Literal["answer_contains"] = "answer_contains"
    values: tuple[str, ...]


class AnswerAvoids(Record):
    """The final answer must state none of these values (they are known to be wrong at the task's time)."""

    kind: Literal["answer_avoids"] = "answer_avoids"
    values: tuple[str, ...]


class Answered(Record):
    """The run must end with an answer to the customer."""

    kind: Literal["answered"] = "answered"


class AnswerForm(StrEnum):
    """As what two answers are compared."""

    EXACT = "exact"
    """The same words, whatever their case and white space."""
    NUMBER = "number"
    """The same quantity, in whichever unit of its kind."""
    DATE = "date"
    SET = "set"
    """The same items, whatever their order."""
    JSON = "json"
    MATH = "math"
    """The same expression, however it is written."""


class AnswerEquals(Record):
    """The final answer must equal the expected one, compared in its form."""

    kind: Literal["answer_equals"] = "answer_equals"
    form: AnswerForm
    expected: str
    tolerance: float = Field(default=1e-6, ge=0)
    """Relative, for numbers."""


class How(StrEnum):
    """How a row changed."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class SideEffect(Record):
    """A kind of change: rows of a table that changed so and hold these values (afterwards; before, where deleted)."""

    table: str
    how: How | None = None
    """None: in any way."""
    where: dict[str, Any] = {}


class SideEffects(Record):
    """Each expected change must be there, and none of the forbidden ones; what else changed does not count."""

    kind: Literal["side_effects"] = "side_effects"
    expected: tuple[SideEffect, ...] = ()
    forbidden: tuple[SideEffect, ...] = ()


class Calls(Record):
    """A process rule: these tools must not be called, and those must have been before any write. Never bought off."""

    kind: Literal["calls"] = "calls"
    forbidden: tuple[str, ...] = ()
    before_writing: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    """Which tools write, for the order."""


VerifierSpec = Annotated[
    StateDiff | AnswerContains | AnswerAvoids | Answered | AnswerEquals | SideEffects | Calls,
    Field(discriminator="kind"),
]


class RewardVector(Record):
    """What a run was worth, each side for itself, from 0 to 1; None where nothing says."""

    outcome: float | None = None
    """Whether what was asked for is so."""
    policy: float | None = None
    """Whether the rules were kept on the way."""
    satisfaction: float | None = None
    """What a person or a calibrated judge says of it."""
    cost: float | None = None
    """1 for what costs nothing, 0 for what costs all that may be spent."""


class Reduction(Record):
    """How one number is made of a vector: a weighted mean of what is there, and nothing for a broken rule.

    A policy below ``floor`` makes the reward 0, whatever the outcome: success buys off no rule.
    """

    outcome: float = Field(default=1.0, ge=0)
    satisfaction: float = Field(default=0.0, ge=0)
    cost: float = Field(default=0.0, ge=0)
    floor: float = Field(default=1.0, ge=0, le=1)
