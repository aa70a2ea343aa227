"""What was measured of an adapter's memory: the leak test, the membership test, and the file that rests on both.

A model counts as holding personal data (EDPB Opinion 28/2024, 34-43) unless an ``AnonymityFile`` that is approved and
unexpired says otherwise of this very adapter (``governance.policy.anonymity``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from governance.records.base import Digest, Record, UtcTime
from governance.records.gate import Interval


class LeakVerdict(StrEnum):
    """What a leak test says."""

    LEAK = "leak"
    """The adapter knows what was planted."""
    NO_LEAK_FOUND = "no_leak_found"
    """The same test found what a control had learned, and nothing here."""
    TOO_WEAK = "too_weak"
    """The test did not find what the control had learned, or cannot tell the two apart: it says nothing."""


class LeakArm(Record):
    """One adapter under the test."""

    adapter: Digest
    ranks: tuple[int, ...]
    """For each canary the place of its secret among the alternatives by likelihood; 1 is the likeliest."""
    exposure: float
    """Mean over the canaries, in bits: log2(places) - log2(rank); 0 to log2(places)."""
    p_value: float
    """How likely ranks as low as these are where no secret was learned."""
    extracted: int
    """Canaries whose secret the agent said when it was asked."""


class LeakReport(Record):
    """One leak test of one adapter."""

    candidate: LeakArm
    control: LeakArm
    """Trained on the same rows and the canaries: the test must find them here."""
    canaries: int
    copies: int
    """How often each canary stood in the control's training set."""
    places: int
    """Alternatives and the secret."""
    apart_p: float
    """How likely the two arms' ranks are where the candidate knows as much as the control."""
    alpha: float
    seed: str
    """Canaries and alternatives are drawn from it."""
    verdict: LeakVerdict
    reason: str
    at: UtcTime
    actor: str = ""
    """Who ran it; empty where that was not recorded."""


class MembershipReport(Record):
    """Whether the people who were learned from can be told from others by what the adapter finds likely."""

    adapter: Digest
    members: int
    """People who were learned from."""
    others: int
    """People of the same scope who were not."""
    auc: float
    """How often a member scores above another person; 0.5 is chance."""
    interval: Interval
    at: UtcTime
    actor: str = ""
    """Who ran it; empty where that was not recorded."""


class AnonymityFile(Record):
    """Who answers for it that an adapter holds no personal data, on which tests, until when.

    One that ``supersedes`` another revokes it, whoever wrote that.
    """

    id: str
    adapter: Digest
    leak: LeakReport
    membership: MembershipReport
    author: str
    approver: str
    reason: str = Field(min_length=1)
    """The assessment by its number; never personal data."""
    valid_from: UtcTime
    valid_to: UtcTime
    supersedes: str | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        tested = {self.leak.candidate.adapter, self.membership.adapter}
        if tested != {self.adapter}:
            raise ValueError("the tests are of another adapter")
        if self.supersedes is None and self.approver in {self.author, self.leak.actor, self.membership.actor}:
            raise ValueError("who wrote the file or ran one of its tests does not approve it")
        if self.valid_to <= self.valid_from:
            raise ValueError("the file ends before it begins")
        return self
