"""Apps, worlds and tool sessions: what an agent can do, and to what.

An ``App`` is a company's own tools over a state. A ``ToolHost`` (training's worlds) restores a snapshot copy-on-write
and opens a ``ToolSession`` on it; nothing in a session reaches another session or a production service.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from governance.errors import TidemillError
from governance.records.harness import ToolSpec
from governance.records.world import StateChange, World

Tables = dict[str, list[dict[str, Any]]]


class ToolRefusal(TidemillError):
    """A tool refused a call, as the real one would. ``error_type`` is the ``error.type`` of its span."""

    def __init__(self, error_type: str, text: str) -> None:
        """``text`` is what the agent sees."""
        super().__init__(text)
        self.error_type = error_type


class Unrecorded(TidemillError):
    """Nothing that was recorded says what the real tool would have answered: the run is invalid, never failed."""


class WorldState:
    """The mutable state of one session: tables of rows, documents, and the world's own time."""

    def __init__(self, world: World) -> None:
        """A deep copy of the snapshot."""
        copy = world.model_copy(deep=True)
        self.tables: Tables = {name: [dict(row) for row in rows] for name, rows in copy.tables.items()}
        self.documents: dict[str, str] = dict(copy.documents)
        self.at = world.at


class App(ABC):
    """A set of tools over a state."""

    @abstractmethod
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools with their true schemas."""

    @abstractmethod
    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        """Execute one call against ``state`` and return its JSON result.

        Raises:
            ToolRefusal: as the real tool would refuse.

        """


class ToolSession(ABC):
    """One agent run's hands: calls change this session's state and no other."""

    @abstractmethod
    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Execute one call and return its JSON result.

        Raises:
            ToolRefusal: as the real tool would refuse.
            Unrecorded: when the world was inferred and nothing supports an answer.

        """

    @abstractmethod
    def changes(self) -> tuple[StateChange, ...]:
        """What differs from the restored snapshot, sorted by table and key."""


class ToolHost(ABC):
    """Restores worlds."""

    @abstractmethod
    def open(self, world_digest: str) -> ToolSession:
        """A fresh session on the world of that digest.

        Raises:
            TidemillError: when the world is not held.

        """
