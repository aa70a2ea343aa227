"""People on both sides of an agent: the customer who was helped or not, the operator who takes over."""

from __future__ import annotations

from abc import ABC, abstractmethod

from governance.ports.tools import ToolSession
from governance.records.base import Record
from governance.records.rollout import AgentRequest, Rollout, RolloutCall


class Demonstration(Record):
    """What a person did: their calls, in order, and what they told the customer."""

    calls: tuple[RolloutCall, ...]
    answer: str


class Feedback(Record):
    """What a customer left: +1, -1, or nothing."""

    score: int | None
    comment: str | None = None


class Customer(ABC):
    """The person who wrote in."""

    @abstractmethod
    def helped(self, request: AgentRequest, rollout: Rollout, tools: ToolSession) -> bool:
        """Whether the agent's run did what they came for, as they can see it. False calls for a person."""

    @abstractmethod
    def feedback(self, request: AgentRequest, *, helped_by_agent: bool) -> Feedback:
        """What they leave behind afterwards."""


class Operator(ABC):
    """The person who takes over."""

    @abstractmethod
    def take_over(self, request: AgentRequest, tools: ToolSession) -> Demonstration:
        """Do it right with the same tools, and answer the customer."""
