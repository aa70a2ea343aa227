"""The agent runner: one request through one release. Implemented by serving's harness runtime, used everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod

from governance.ports.engine import ChatEngine
from governance.ports.tools import ToolSession
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout


class AgentRunner(ABC):
    """Runs an agent."""

    @abstractmethod
    async def run(
        self, bundle: ReleaseBundle, request: AgentRequest, tools: ToolSession, engine: ChatEngine
    ) -> Rollout:
        """One run to its end. A run that goes wrong is a rollout that says so, never an exception."""
