"""The dataset: which runs an adapter learns from, in exact tokens, each with its right; and why each other one is out.

Theory. An adapter is rebuilt from the frozen base each time, so the dataset is everything eligible *now*: the takeovers
of the patterns that were routed to weights (of this cycle and of earlier ones) teach, and confirmed successes of the
agent itself are rehearsed so that old skills stay. Each run is replayed under the candidate's harness, with the facts
of the candidate's context that hold at the run's own time; a row is that replay, read once: the loss applies to each
action with its end-of-turn token, and to nothing else.

Conservation: every run that was considered ends in exactly one place, in rows or in one exclusion with a reason. The
right is checked first, then the wall (nothing at or after the cutoff, so nobody who is measured), then quality.
Rehearsal is
capped by a ratio to the takeovers and each person by a number of runs, since one loud customer is not the company.
Takeovers show only what the agent gets wrong, so a model taught by them alone learns to do always what it did never.
Rehearsal levels that: each success is taken from the family of tools that has the fewest runs so far, inside a family
by a seeded hash. The same inputs give the same rows and the same root.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from governance.ports.runner import AgentRunner
from governance.ports.tools import ToolHost
from governance.records.base import Record, digest_json
from governance.records.context import Context
from governance.records.dataset import DatasetManifest, DatasetRow, Exclusion
from governance.records.harness import Harness
from governance.records.lever import Lever, Pattern
from governance.records.release import BaseModelRef, ReleaseBundle
from governance.records.rights import Contract, Purpose, Reason, Verdict
from governance.records.rollout import Rollout
from governance.records.scope import Scope
from governance.records.task import Split
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.records.world import WorldRef
from training.demonstration import REPLAY_FAILED, WORLD_NOT_HELD, replay
from training.errors import DemonstrationRefused
from training.evidence import ORIGIN_SUCCESS, ORIGIN_TAKEOVER, Demonstrated, demonstrated, taken_over
from training.split import Wall

OTHER_SCOPE: Final = "other_scope"
HELD_OUT: Final = "held_out"
AFTER_CUTOFF: Final = "after_cutoff"
OTHER_LEVER: Final = "other_lever"
TOO_LONG: Final = "too_long"
SUBJECT_CAP: Final = "subject_cap"
REHEARSAL_CAP: Final = "rehearsal_cap"


Shown = tuple[Trajectory, Demonstrated]
"""A run and what it demonstrates."""


class DatasetPolicy(Record):
    """How much of what."""

    rehearsal_ratio: float = Field(default=1.0, ge=0)
    """Rehearsed runs per takeover, at most."""
    runs_per_subject: int = Field(default=8, ge=1)
    max_tokens: int = Field(default=1024, ge=2)
    """A run with a longer step is left out whole, never cut: a cut prompt is another harness."""
    seed: int = 0


@dataclass(frozen=True)
class Sources:
    """What is considered: runs with a right to train weights, and those already left out for want of one."""

    patterns: Sequence[Pattern]
    trajectories: Sequence[Trajectory]
    verdicts: Mapping[str, Verdict]
    """By trajectory id."""
    excluded: Sequence[Exclusion]
    contracts: Mapping[str, Contract | None]
    """Each tenant's contract at the time of the build."""
    wall: Wall
    downs: frozenset[str] = frozenset()
    """Runs with negative feedback (``training.evidence.voted_down``)."""


@dataclass(frozen=True)
class Candidate:
    """Under what the runs are replayed: the candidate's harness and context, and what replays."""

    base: BaseModelRef
    harness: Harness
    context: Context
    runner: AgentRunner
    host: ToolHost
    world: Callable[[str, str], WorldRef | None]
    """The masked world of a tenant's source digest."""

    def bundle(self) -> ReleaseBundle:
        """The candidate without an adapter."""
        return ReleaseBundle.of(self.base, None, self.harness, self.context)


@dataclass(frozen=True)
class Dataset:
    """Rows, their manifest, and everything that is not in them."""

    rows: tuple[DatasetRow, ...]
    manifest: DatasetManifest
    exclusions: tuple[Exclusion, ...]


async def build(scope: Scope, sources: Sources, candidate: Candidate, policy: DatasetPolicy, version: str) -> Dataset:
    """Build the dataset of a scope; ``version`` names the rights policy that judged it."""
    builder = _Builder(scope, sources, candidate, policy)
    takeovers, successes = builder.sort_out()
    for trajectory, shown in takeovers:
        await builder.take(trajectory, shown)
    limit = int(policy.rehearsal_ratio * builder.taken[ORIGIN_TAKEOVER])
    waiting = _by_family(successes, policy.seed)
    while waiting:
        family = min(waiting, key=lambda name: (builder.families[name], name))
        trajectory, shown = waiting[family].pop()
        if not waiting[family]:
            del waiting[family]
        if builder.taken[ORIGIN_SUCCESS] >= limit:
            builder.exclude(trajectory, REHEARSAL_CAP)
        else:
            await builder.take(trajectory, shown)
    return builder.dataset(version)


class _Builder:
    """One build: each trajectory passes through ``exclude`` or adds rows, once."""

    def __init__(self, scope: Scope, sources: Sources, candidate: Candidate, policy: DatasetPolicy) -> None:
        self._scope, self._sources, self._candidate, self._policy = scope, sources, candidate, policy
        self._bundle = candidate.bundle()
        self._weights = {
            one for pattern in sources.patterns if pattern.lever is Lever.WEIGHTS for one in pattern.trajectory_ids
        }
        self._rows: list[DatasetRow] = []
        self._exclusions = {one.trajectory_id: one for one in sources.excluded}
        self._subjects: Counter[tuple[str, str]] = Counter()
        self.taken: Counter[str] = Counter()
        self.families: Counter[tuple[str, ...]] = Counter()

    def exclude(self, trajectory: Trajectory, reason: str) -> None:
        """Leave a run out."""
        self._exclusions[trajectory.id] = Exclusion(
            tenant_id=trajectory.tenant_id, trajectory_id=trajectory.id, reason=reason
        )

    def sort_out(self) -> tuple[list[Shown], list[Shown]]:
        """Takeovers and confirmed successes; the others are excluded."""
        takeovers, successes = [], []
        for trajectory in sorted(self._sources.trajectories, key=lambda one: (one.started_at, one.id)):
            if trajectory.id in self._exclusions:
                continue
            shown = self._no_right(trajectory) or self._behind_the_wall(trajectory) or self._shown(trajectory)
            if isinstance(shown, str):
                self.exclude(trajectory, shown)
            elif shown.origin == ORIGIN_TAKEOVER:
                takeovers.append((trajectory, shown))
            else:
                successes.append((trajectory, shown))
        return takeovers, successes

    def _no_right(self, trajectory: Trajectory) -> str | None:
        verdict = self._sources.verdicts.get(trajectory.id)
        if trajectory.subject == UNKNOWN_SUBJECT:
            return Reason.UNKNOWN_SUBJECT.value
        if verdict is None or verdict.purpose is not Purpose.TRAIN_WEIGHTS:
            return Reason.NO_GRANT.value
        if not verdict.allowed:
            return verdict.reasons[0].value if verdict.reasons else Reason.NO_GRANT.value
        contract = self._sources.contracts.get(trajectory.tenant_id)
        if len(self._scope.tenants) > 1 and (contract is None or not contract.shared_adapter):
            return Reason.CONTRACT_FORBIDS_SHARED_ADAPTER.value
        return None

    def _behind_the_wall(self, trajectory: Trajectory) -> str | None:
        if trajectory.tenant_id not in self._scope.tenants or trajectory.agent_name != self._scope.agent_name:
            return OTHER_SCOPE
        side = self._sources.wall.side(trajectory)
        if side is Split.TRAIN:
            return None
        return HELD_OUT if side is Split.EVAL else AFTER_CUTOFF

    def _shown(self, trajectory: Trajectory) -> Demonstrated | str:
        shown = demonstrated(trajectory, self._candidate.harness.answer_tool, self._sources.downs)
        if isinstance(shown, Demonstrated) and taken_over(trajectory) and trajectory.id not in self._weights:
            return OTHER_LEVER
        return shown

    async def take(self, trajectory: Trajectory, shown: Demonstrated) -> None:
        """Replay a run and add its steps, or exclude it."""
        person = (trajectory.tenant_id, trajectory.subject)
        if self._subjects[person] >= self._policy.runs_per_subject:
            self.exclude(trajectory, SUBJECT_CAP)
            return
        try:
            rollout = await self._replayed(trajectory, shown)
        except DemonstrationRefused as refusal:
            self.exclude(trajectory, refusal.reason)
            return
        row = self._row_of(trajectory, rollout, shown.origin)
        if len(row.input_ids) > self._policy.max_tokens:
            self.exclude(trajectory, TOO_LONG)
            return
        self._rows.append(row)
        self._subjects[person] += 1
        self.taken[shown.origin] += 1
        self.families[_family(shown)] += 1

    async def _replayed(self, trajectory: Trajectory, shown: Demonstrated) -> Rollout:
        source = trajectory.world_digest
        world = self._candidate.world(trajectory.tenant_id, source) if source else None
        if world is None:
            raise DemonstrationRefused(WORLD_NOT_HELD, f"{trajectory.id}: its world is not held")
        runner, host = self._candidate.runner, self._candidate.host
        digest = world.masked_digest
        return await replay(self._bundle, trajectory, shown, world_digest=digest, runner=runner, host=host)

    def _row_of(self, trajectory: Trajectory, rollout: Rollout, origin: str) -> DatasetRow:
        input_ids, completion_mask, choices = merged(rollout)
        return DatasetRow(
            tenant_id=trajectory.tenant_id,
            subject=trajectory.subject,
            trajectory_id=trajectory.id,
            step=0,
            input_ids=input_ids,
            completion_mask=completion_mask,
            choices=choices,
            verdict=self._sources.verdicts[trajectory.id],
            origin=origin,
        )

    def dataset(self, version: str) -> Dataset:
        """What came of it, in an order that depends on content alone."""
        exclusions = tuple(sorted(self._exclusions.values(), key=lambda one: one.trajectory_id))
        rows = tuple(sorted(self._rows, key=lambda row: (row.trajectory_id, row.step)))
        return Dataset(rows=rows, manifest=manifest_of(self._scope, rows, exclusions, version), exclusions=exclusions)


def merged(rollout: Rollout) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The ids of a whole run, the mask of what was said in each step, and the places where a tool was chosen.

    Steps are merged only as token-exact continuations: each step's prompt must begin with the ids of the step before
    it, so a token is read once however many steps follow.

    Raises:
        DemonstrationRefused: when a step does not continue the one before it.

    """
    ids: tuple[int, ...] = ()
    mask: list[int] = []
    choices: list[int] = []
    for number, step in enumerate(rollout.steps):
        if step.prompt_token_ids[: len(ids)] != ids:
            raise DemonstrationRefused(REPLAY_FAILED, f"step {number} does not continue the ids of the one before it")
        choices += [len(step.prompt_token_ids) + place for place in step.choices]
        mask += [0] * (len(step.prompt_token_ids) - len(ids)) + [1] * len(step.output_token_ids)
        ids = (*step.prompt_token_ids, *step.output_token_ids)
    return ids, tuple(mask), tuple(choices)


def manifest_of(
    scope: Scope, rows: Iterable[DatasetRow], exclusions: Iterable[Exclusion], version: str
) -> DatasetManifest:
    """The manifest of rows and exclusions."""
    counts = Counter(one.reason for one in exclusions)
    return DatasetManifest(
        scope=scope.name,
        rows=tuple(sorted(row.digest() for row in rows)),
        exclusions=dict(sorted(counts.items())),
        policy_version=version,
    )


def _family(shown: Demonstrated) -> tuple[str, ...]:
    """The tools that a demonstration used."""
    return tuple(sorted({call.name for call in shown.calls}))


def _by_family(successes: Iterable[Shown], seed: int) -> dict[tuple[str, ...], list[Shown]]:
    """Successes by the tools that they used, each in the order of a seeded hash, the last to be taken first."""
    families: dict[tuple[str, ...], list[Shown]] = defaultdict(list)
    for one in sorted(successes, key=lambda shown: digest_json([seed, shown[0].id]), reverse=True):
        families[_family(one[1])].append(one)
    return dict(families)
