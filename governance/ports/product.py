"""What a company brings to the loop: its agent, its app, its worlds, its tenants' contracts.

``AgentProduct`` is all that a cycle needs. ``DemoProduct`` adds the people who write in, so that a week of production
can be played on a machine that has no production.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime

from governance.ports.engine import ChatEngine
from governance.ports.people import Customer, Operator
from governance.ports.tools import App
from governance.records.base import Record
from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.rights import ConsentEvent, Contract
from governance.records.rollout import AgentRequest
from governance.records.world import World, WorldSchema


class AgentProduct(ABC):
    """One agent of a company, as the loop sees it."""

    @property
    @abstractmethod
    def agent_name(self) -> str:
        """``gen_ai.agent.name`` of its traces."""

    @property
    @abstractmethod
    def tenants(self) -> tuple[str, ...]:
        """The customer organisations that it serves."""

    @property
    def subject_attributes(self) -> tuple[str, ...]:
        """Span attributes that name the person, first match wins."""
        return ("user.id", "enduser.id")

    @abstractmethod
    def app(self) -> App:
        """The tools, over a state."""

    @abstractmethod
    def world_schema(self) -> WorldSchema:
        """Keys, people and personal fields of its snapshots."""

    @abstractmethod
    def harness(self) -> Harness:
        """The harness in production before the first cycle."""

    @abstractmethod
    def context(self) -> Context:
        """The context in production before the first cycle."""

    @abstractmethod
    def contracts(self) -> tuple[Contract, ...]:
        """What the tenants agreed to."""

    @abstractmethod
    def snapshots(self, start: datetime, end: datetime) -> Iterable[tuple[str, World]]:
        """``(tenant, world)`` for each snapshot that runs in the window started from."""


class PlayedRequest(Record):
    """One customer's message in a played week, and whether the real champion answers it."""

    request: AgentRequest
    real: bool
    """Answered by the champion through vLLM; the others by the scripted incumbent, named as simulated."""


class DemoProduct(AgentProduct):
    """An agent with a played production: everything synthetic, generated at run time, marked so."""

    @property
    @abstractmethod
    def span(self) -> tuple[datetime, datetime]:
        """Start and end of the played week."""

    @property
    @abstractmethod
    def troubles(self) -> frozenset[str]:
        """What is wrong in the played world, by name."""

    @abstractmethod
    def week(self) -> Sequence[PlayedRequest]:
        """The week's requests in order of time."""

    @abstractmethod
    def consents(self) -> tuple[ConsentEvent, ...]:
        """What the customers said when asked; ``subject`` holds the raw user id, which the door hashes."""

    @abstractmethod
    def source_world(self, world_digest: str) -> World:
        """The unmasked snapshot that a request starts from: the company's own.

        Raises:
            KeyError: when the played week has no such snapshot.
        """

    @abstractmethod
    def customer(self) -> Customer:
        """The people who write in."""

    @abstractmethod
    def operator(self) -> Operator:
        """The people who take over."""

    @abstractmethod
    def incumbent(self) -> ChatEngine:
        """The scripted incumbent."""
