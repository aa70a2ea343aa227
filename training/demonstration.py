"""Demonstrations: what a person did, said by an engine that stands where the model stands.

Theory. A demonstration is not rewritten into training text; it is *run*. The engine answers each completion of a run
with the next action of the person, in the one text form of an action, and the agent runner does everything else:
prompt, offered tools, template, tools on the restored world, tokens. So each step of the rollout holds the exact ids
that the served harness would have put in and that the model should have said, up to the end-of-turn token (the runner
writes the ids of an engine that has none, with its own tokenizer). Nothing can differ between training and serving,
because there is no second path.

What the harness would not have let the model say is refused with a reason, and so is a replay whose results differ from
the recorded ones: the demonstration then shows the right thing to do in another world than this one. Results must be
equal to the letter, keys that the app makes up included, since the person's answer may state them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from governance.errors import TidemillError
from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.ports.runner import AgentRunner
from governance.ports.tools import ToolHost
from governance.records.base import canonical_json
from governance.records.harness import Harness
from governance.records.release import ReleaseBundle
from governance.records.rollout import AgentRequest, Rollout, StopReason
from governance.records.trajectory import Trajectory
from training.errors import DemonstrationRefused
from training.evidence import Demonstrated
from training.schemas import violations
from training.split import instruction_of

NOT_PERMITTED: Final = "not_permitted"
SCHEMA_VIOLATION: Final = "schema_violation"
REPLAY_DIFFERS: Final = "replay_differs"
REPLAY_FAILED: Final = "replay_failed"
WORLD_NOT_HELD: Final = "world_not_held"


def action_text(tool: str, arguments: Any) -> str:
    """The one text form of an action: one line of JSON, letters as they are."""
    value = {"tool": tool, "arguments": arguments}
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def answer_arguments(harness: Harness, text: str) -> dict[str, Any]:
    """The answer tool's arguments that say ``text``.

    Raises:
        DemonstrationRefused: when the harness has no answer tool with one text field.

    """
    tool = harness.tool(harness.answer_tool)
    fields = list(tool.parameters.get("properties", {})) if tool else []
    if "text" in fields:
        return {"text": text}
    if len(fields) != 1:
        raise DemonstrationRefused(NOT_PERMITTED, f"{harness.answer_tool} has no single field for an answer")
    return {fields[0]: text}


class DemonstrationEngine(ChatEngine):
    """Answers the completions of one run with a person's actions, in order."""

    def __init__(self, actions: Sequence[tuple[str, Any]]) -> None:
        """``actions`` are tool names with their arguments, the answer last."""
        self._actions = list(actions)
        self._next = 0
        self.refusal: DemonstrationRefused | None = None

    @property
    def done(self) -> bool:
        """Whether each action was said."""
        return self._next == len(self._actions)

    async def complete(self, request: CompletionRequest) -> Completion:
        """The next action.

        Raises:
            DemonstrationRefused: when the harness would not let a model say it here.

        """
        try:
            text = self._say(request)
        except DemonstrationRefused as refusal:
            self.refusal = refusal
            raise
        return Completion(
            text=text,
            token_ids=(),
            finish_reason="stop",
            model=request.model,
            response_id=f"demonstration-{self._next}",
            input_tokens=len(request.prompt_token_ids),
            output_tokens=0,
        )

    def _say(self, request: CompletionRequest) -> str:
        if self.done:
            raise DemonstrationRefused(REPLAY_DIFFERS, "the run goes on after the person's last action")
        tool, arguments = self._actions[self._next]
        if tool not in request.tools:
            raise DemonstrationRefused(NOT_PERMITTED, f"{tool} is not offered here: {', '.join(request.tools)}")
        faults = violations(request.action_schema, {"tool": tool, "arguments": arguments})
        if faults:
            raise DemonstrationRefused(SCHEMA_VIOLATION, f"{tool}: the harness does not allow these arguments")
        self._next += 1
        return action_text(tool, arguments)


async def replay(
    bundle: ReleaseBundle,
    trajectory: Trajectory,
    demonstration: Demonstrated,
    *,
    world_digest: str,
    runner: AgentRunner,
    host: ToolHost,
) -> Rollout:
    """Run the demonstration under the bundle's harness and context, in the world of the trajectory.

    Raises:
        DemonstrationRefused: when it is not permitted, or is not what happens when it is replayed.

    """
    actions = [(call.name, call.arguments) for call in demonstration.calls]
    actions.append((bundle.harness.answer_tool, answer_arguments(bundle.harness, demonstration.answer)))
    engine = DemonstrationEngine(actions)
    try:
        session = host.open(world_digest)
    except TidemillError as error:
        raise DemonstrationRefused(WORLD_NOT_HELD, f"{trajectory.id}: {error}") from error
    rollout = await runner.run(bundle, _request(trajectory, world_digest), session, engine)
    if engine.refusal is not None:
        raise engine.refusal
    _same(trajectory, demonstration, rollout, complete=engine.done)
    return rollout


def _request(trajectory: Trajectory, world_digest: str) -> AgentRequest:
    return AgentRequest(
        tenant_id=trajectory.tenant_id,
        session_id=trajectory.session_id,
        user_id=None,
        topic=trajectory.topic,
        message=instruction_of(trajectory),
        world_digest=world_digest,
        at=trajectory.started_at,
    )


def _same(trajectory: Trajectory, demonstration: Demonstrated, rollout: Rollout, *, complete: bool) -> None:
    """Each result must be the recorded one, and the run must end with the person's words."""
    for recorded, replayed in zip(demonstration.calls, rollout.calls, strict=False):
        if replayed.error is not None or canonical_json(replayed.result) != canonical_json(recorded.result):
            raise DemonstrationRefused(REPLAY_DIFFERS, f"{trajectory.id}: {recorded.name} gives another result")
    if not complete or rollout.stop is not StopReason.ANSWERED or rollout.answer != demonstration.answer:
        text = f"{trajectory.id}: the replay ends {rollout.stop.value}: {rollout.error or 'another answer'}"
        raise DemonstrationRefused(REPLAY_FAILED, text)
