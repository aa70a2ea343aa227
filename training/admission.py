"""Admission: a task is believed only after its verifiers told the gold from everything cheaper.

Theory. The gold must pass, in three replays that leave the same changes. Doing nothing must fail. So must policies that
read no request: saying something friendly, saying the request back, calling one write tool on every row that it takes
(refund everything, escalate everything), and calling random ones. A task that such a policy passes measures nothing,
and training on it would teach the policy. What does not pass is left out, with the reason.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any, Final

from governance.errors import RecordError, TidemillError
from governance.ports.tools import ToolRefusal, ToolSession
from governance.records.base import canonical_json
from governance.records.harness import Effect, ToolSpec
from governance.records.rollout import RolloutCall
from governance.records.task import GoldAction, Task
from governance.records.world import StateChange, World
from training.schemas import valid
from training.state import copy_json
from training.values import leaves
from training.verifiers import judge
from training.worlds import WorldHost

REPLAYS: Final = 3
MOST_CALLS: Final = 24
"""Rows on which a policy that does one thing to everything does it."""
FRIENDLY: Final = "Thank you for your message. I am sorry for the trouble. Your request has been taken care of."

GOLD_FAILS, FLAKY, WORLD_GONE = "gold_fails", "replays_disagree", "world_gone"
UNREADABLE: Final = "unreadable_answer"
"""What a verifier expects cannot be read as what it is said to be."""


def play(session: ToolSession, calls: Iterable[GoldAction]) -> tuple[StateChange, ...]:
    """Make the calls, going on after a refusal, and say what changed."""
    for action in calls:
        try:
            session.call(action.name, copy_json(action.arguments))
        except ToolRefusal:
            continue
    return session.changes()


def fillings(tool: ToolSpec, world: World) -> Iterator[dict[str, Any]]:
    """Arguments that the tool's schema allows, made of the values of the world's rows."""
    names = tuple(tool.parameters.get("required", ()))
    rules = tool.parameters.get("properties", {})
    known = dict.fromkeys(leaf for rows in world.tables.values() for row in rows for leaf in leaves(row))
    options = [list(islice((value for value in known if valid(rules.get(name, {}), value)), 200)) for name in names]
    for values in product(*options):
        arguments = dict(zip(names, values, strict=True))
        if valid(tool.parameters, arguments):
            yield arguments


class Admission:
    """Admits tasks on one host. What the policies leave in a world is worked out once per world."""

    def __init__(self, host: WorldHost) -> None:
        """Nothing is replayed yet."""
        self._host = host
        self._answering = {name for name, tool in host.tools.items() if tool.effect is Effect.ANSWER}
        self._ends: dict[str, dict[str, tuple[StateChange, ...]]] = {}

    def refusal(self, task: Task, answer: str) -> str | None:
        """Why the task is not admitted, or None when it is. ``answer`` is what the demonstration ended with."""
        calls = [action for action in task.gold if action.name not in self._answering]
        try:
            ends = [play(self._host.open(task.world_digest), calls) for _ in range(REPLAYS)]
        except TidemillError:
            return WORLD_GONE
        if len({canonical_json([change.plain() for change in end]) for end in ends}) > 1:
            return FLAKY
        made = [RolloutCall(name=action.name, arguments=action.arguments) for action in calls]
        try:
            if judge(task, answer, ends[0], made)[1]:
                return GOLD_FAILS
        except RecordError:
            return UNREADABLE
        for name, said, changes in self._canned(task):
            if not judge(task, said, changes)[1]:
                return f"passes_by_{name}"
        return None

    def _canned(self, task: Task) -> Iterator[tuple[str, str | None, tuple[StateChange, ...]]]:
        yield "nothing", None, ()
        yield "friendly_answer", FRIENDLY, ()
        yield "echo", task.instruction, ()
        for name, changes in self._left_by_policies(task.world_digest).items():
            yield name, FRIENDLY, changes

    def _left_by_policies(self, world_digest: str) -> dict[str, tuple[StateChange, ...]]:
        if world_digest not in self._ends:
            self._ends[world_digest] = {
                name: play(self._host.open(world_digest), script) for name, script in self._policies(world_digest)
            }
        return self._ends[world_digest]

    def _policies(self, world_digest: str) -> Iterator[tuple[str, Sequence[GoldAction]]]:
        """One thing done to everything, and random things done to one row in a few."""
        world = self._host.world(world_digest)
        rng = random.Random(world_digest)  # noqa: S311  # a policy, not a secret; the same in every run
        choices = []
        for tool in self._host.tools.values():
            if tool.effect is not Effect.WRITE:
                continue
            some = islice(fillings(tool, world), MOST_CALLS)
            everything = [GoldAction(name=tool.name, arguments=arguments) for arguments in some]
            choices += everything
            if len(everything) > 1:
                yield f"{tool.name}_everything", everything
        if len(choices) > 1:
            yield "random_writes", rng.sample(choices, k=max(2, len(choices) // 4))
