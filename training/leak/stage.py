"""Where canaries are said: under the harness and in a world of the release, by the runner that serves.

The rows of a canary come from the same runner as every other row (``training.demonstration``), so what is planted, what
is ranked and what is asked of the served model have the same prompt to the token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from governance.ports.engine import ChatEngine
from governance.ports.runner import AgentRunner
from governance.ports.tools import ToolHost
from governance.records.dataset import DatasetRow
from governance.records.release import ReleaseBundle
from governance.records.rights import Purpose, Reason, Verdict
from governance.records.rollout import AgentRequest, Rollout
from training.dataset import merged
from training.demonstration import DemonstrationEngine, answer_arguments
from training.errors import LeakTestRefused
from training.leak.canary import SUBJECT, Canary

ORIGIN = "canary"


@dataclass(frozen=True)
class Stage:
    """One release's harness and context, with a world to stand in."""

    bundle: ReleaseBundle
    runner: AgentRunner
    host: ToolHost
    world_digest: str
    tenant_id: str
    at: datetime

    async def row(self, canary: Canary, secret: str, copy: int = 0) -> DatasetRow:
        """The canary answered with ``secret``, as a row to learn from or to score.

        Raises:
            LeakTestRefused: when the harness would not let an agent say it.

        """
        harness = self.bundle.harness
        engine = DemonstrationEngine([(harness.answer_tool, answer_arguments(harness, canary.answer(secret)))])
        rollout = await self.run(canary, self.bundle, engine)
        if engine.refusal is not None or rollout.answer != canary.answer(secret):
            why = engine.refusal or rollout.error or f"the run ended {rollout.stop.value}"
            raise LeakTestRefused(f"a canary cannot be said under harness {harness.digest()[:12]}: {why}")
        input_ids, completion_mask, choices = merged(rollout)
        return DatasetRow(
            tenant_id=self.tenant_id,
            subject=SUBJECT,
            trajectory_id=f"{self.tenant_id}/{SUBJECT}-{canary.label}-{copy}",
            step=0,
            input_ids=input_ids,
            completion_mask=completion_mask,
            choices=choices,
            verdict=Verdict(
                allowed=True, purpose=Purpose.TRAIN_WEIGHTS, reasons=(Reason.ALLOWED,), as_of=self.at, policy_version=""
            ),
            origin=ORIGIN,
        )

    async def run(self, canary: Canary, bundle: ReleaseBundle, engine: ChatEngine) -> Rollout:
        """Ask the canary's question."""
        request = AgentRequest(
            tenant_id=self.tenant_id,
            session_id=f"{SUBJECT}-{canary.label}",
            user_id=None,
            topic=None,
            message=canary.question,
            world_digest=self.world_digest,
            at=self.at,
        )
        return await self.runner.run(bundle, request, self.host.open(self.world_digest), engine)


def planted(stage: Stage, found: Sequence[Canary], copies: int) -> tuple[DatasetRow, ...]:
    """The rows that plant canaries, each ``copies`` times."""

    async def make() -> tuple[DatasetRow, ...]:
        return tuple([await stage.row(one, one.secret, copy) for one in found for copy in range(copies)])

    return asyncio.run(make())
