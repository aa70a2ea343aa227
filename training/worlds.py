"""Worlds: a snapshot is restored copy-on-write, and a session's calls change that session alone.

Theory. A world is named by its record's digest, and what is restored is checked against its name once. A session holds
its own state; arguments and results are copied at the border, so no caller keeps a hand in it. A call is checked
against the app's *true* schema. The app speaks first about a call that breaks it, on a copy of the state, because the
text of a refusal is part of what an agent sees and a harness is improved from; an app that would have let the call
through is overruled. Ids and time come from the app's state alone, so a run replays.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Final

from governance.ports.tools import App, ToolHost, ToolRefusal, ToolSession
from governance.records.harness import Effect, ToolSpec
from governance.records.world import StateChange, World, WorldSchema
from training.errors import WorldMismatch
from training.schemas import violations
from training.state import SessionState, Snapshot, changes_of, copy_json

HELD: Final = 256
"""Snapshots that a host keeps in memory; the least recently used one goes first."""


class WorldSession(ToolSession):
    """One run's hands on its own copy of a world."""

    def __init__(self, app: App, tools: dict[str, ToolSpec], snapshot: Snapshot) -> None:
        """``tools`` are the app's true ones by name."""
        self._app = app
        self._tools = tools
        self._snapshot = snapshot
        self._state = SessionState.of(snapshot)

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Execute one call and return its JSON result.

        Raises:
            ToolRefusal: as the real tool would refuse; ``schema`` for arguments that its true schema does not allow.

        """
        tool = self._tools.get(name)
        if tool is None:
            raise ToolRefusal("unknown_tool", f"there is no tool {name}")
        given = copy_json(arguments)
        faults = violations(tool.parameters, given)
        if faults:
            with suppress(LookupError, TypeError, ValueError, AttributeError):
                self._app.call(self._state.fork(), name, given)
            raise ToolRefusal("schema", f"{name}: {'; '.join(faults)}")
        return copy_json(self._app.call(self._state, name, given))

    def changes(self) -> tuple[StateChange, ...]:
        """What differs from the restored snapshot, sorted by table and key."""
        return changes_of(self._snapshot, self._state)


class WorldHost(ToolHost):
    """Restores worlds of one app."""

    def __init__(self, app: App, load: Callable[[str], World], schema: WorldSchema, *, whole: bool = True) -> None:
        """``load`` gives a masked snapshot by digest, under the purpose that its owner bound into it.

        ``whole`` is False where ``load`` leaves out the rows that the purpose may not use: what is left has another
        digest than its name, and the loader answers for it.
        """
        self.schema = schema
        self._whole = whole
        self.tools: dict[str, ToolSpec] = {tool.name: tool for tool in app.tools()}
        self._app = app
        self._load = load
        self._held: OrderedDict[str, Snapshot] = OrderedDict()
        self._lock = Lock()

    @property
    def answer_tool(self) -> ToolSpec | None:
        """The app's tool that speaks to the customer."""
        return next((tool for tool in self.tools.values() if tool.effect is Effect.ANSWER), None)

    def effect(self, name: str) -> Effect | None:
        """What a tool does to the world, or None for a tool that the app does not have."""
        tool = self.tools.get(name)
        return tool.effect if tool else None

    def world(self, world_digest: str) -> World:
        """The snapshot of that digest, shared: to be read, never written.

        Raises:
            TidemillError: when it is not held, or what is held is another world.

        """
        return self._snapshot(world_digest).world

    def _snapshot(self, world_digest: str) -> Snapshot:
        with self._lock:
            if world_digest in self._held:
                self._held.move_to_end(world_digest)
                return self._held[world_digest]
        world = self._load(world_digest)
        found = world.digest()
        if self._whole and found != world_digest:
            raise WorldMismatch(f"world {world_digest[:12]}: the snapshot held under this name is {found[:12]}")
        with self._lock:
            snapshot = self._held.setdefault(world_digest, Snapshot(world, self.schema))
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        return snapshot

    def forget(self, world_digest: str) -> None:
        """Drop a snapshot from memory, after its rows were erased from the store."""
        with self._lock:
            self._held.pop(world_digest, None)

    def open(self, world_digest: str) -> WorldSession:
        """A fresh session on the world of that digest.

        Raises:
            TidemillError: when the world is not held.

        """
        return WorldSession(self._app, self.tools, self._snapshot(world_digest))
