"""A task: a world, an instruction, what must be true afterwards, and where all of it came from."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records.base import Digest, Record, UtcTime, digest_json
from governance.records.verifier import VerifierSpec


class Split(StrEnum):
    """Which side of the wall a task stands on. Sides are divided by subject and by time."""

    TRAIN = "train"
    EVAL = "eval"


class GoldAction(Record):
    """One call of the demonstration that the task was built from."""

    name: str
    arguments: Any


class Task(Record):
    """One thing to get done, replayable."""

    tenant_id: str
    subject: str
    topic: str | None
    instruction: str
    world_digest: Digest
    at: UtcTime
    verifiers: tuple[VerifierSpec, ...]
    gold: tuple[GoldAction, ...]
    split: Split
    sources: tuple[str, ...]
    """Trajectory ids."""
    family: str
    """Which tools the demonstration used; reports group by it."""

    @property
    def key(self) -> str:
        """What the task asks: equal for the same instruction in the same world."""
        return digest_json([self.tenant_id, self.instruction, self.world_digest])
