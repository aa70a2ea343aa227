"""Tasks from traces: what a demonstration changed or told becomes what a later run must change or tell.

Theory. Only runs with evidence become tasks (``training.evidence``). The demonstration's calls are replayed in the
masked world that the run started in; if a replay does not give the recorded results, the world is not faithful and the
run is left out. What the replay changed must be changed by everyone who solves the task, exactly. Where nothing was
changed, the answer must state the values that the person's answer shares with what they read and that the customer did
not already say; and it must avoid what the same document states at another time, since that is known to be wrong at
the task's time. Gold is kept with its answer, as the app's answer tool. Two runs that disagree about one task are both
suspect, and so is a writing demonstration that leaves out a row which the request names. Everything left out is
counted, with its reason; the digest of a set says which tasks it holds, so two sets of different sizes never pass for
one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from governance.errors import EpochCrossed, TidemillError
from governance.policy.epochs import require_one
from governance.ports.tools import ToolRefusal
from governance.records.base import Record, digest_json
from governance.records.dataset import Exclusion
from governance.records.signal import Signal
from governance.records.task import GoldAction, Split, Task
from governance.records.trajectory import Trajectory
from governance.records.verifier import AnswerAvoids, AnswerContains, Answered, StateDiff, VerifierSpec
from governance.records.world import StateChange, WorldRef
from training.admission import WORLD_GONE, Admission
from training.documents import DocumentHistory
from training.evidence import Demonstrated, demonstrated, voted_down
from training.replay import Replay, leaves_out, replay
from training.split import Wall, instruction_of
from training.values import fold, states, values_in
from training.verifiers import judge
from training.worlds import WorldHost

WorldLookup = Callable[[str, str], WorldRef | None]
"""Tenant and source digest to the stored world, as ``store.worlds.by_source``."""

SUSPECT = "suspect_label"


class TaskSet(Record):
    """The admitted tasks, and every run that gave none with the reason."""

    tasks: tuple[Task, ...]
    exclusions: tuple[Exclusion, ...]

    def of(self, split: Split) -> tuple[Task, ...]:
        """The tasks on one side."""
        return tuple(task for task in self.tasks if task.split is split)

    def root(self, split: Split) -> str:
        """The name of one side: two results are comparable only under one root."""
        return digest_json(sorted(task.digest() for task in self.of(split)))

    def counts(self) -> dict[str, int]:
        """Reason to number of runs."""
        found: dict[str, int] = defaultdict(int)
        for exclusion in self.exclusions:
            found[exclusion.reason] += 1
        return dict(sorted(found.items()))

    def replayable(self, host: WorldHost) -> TaskSet:
        """The set without the tasks whose world is no longer held, which are counted as ``world_gone``."""
        kept, gone = [], []
        for task in self.tasks:
            try:
                host.open(task.world_digest)
            except TidemillError:
                gone += [_excluded(task.tenant_id, source, WORLD_GONE) for source in task.sources]
            else:
                kept.append(task)
        return TaskSet(tasks=tuple(kept), exclusions=(*self.exclusions, *gone))


class Candidate(Record):
    """A task before admission, with the answer that its demonstration ended with."""

    task: Task
    answer: str
    changes: tuple[StateChange, ...]


class _Left(Exception):  # a reason that ends the building of one task, not a fault
    """The run gives no task; the message is the reason."""


def _excluded(tenant_id: str, trajectory_id: str, reason: str) -> Exclusion:
    return Exclusion(tenant_id=tenant_id, trajectory_id=trajectory_id, reason=reason)


def build(
    trajectories: Sequence[Trajectory],
    signals: Iterable[Signal],
    host: WorldHost,
    world_ref_lookup: WorldLookup,
    cutoff: datetime,
) -> TaskSet:
    """All tasks that the runs give, admitted and divided at ``cutoff``."""
    wall, admission, downs = Wall(trajectories, cutoff), Admission(host), voted_down(signals)
    builder = _Builder(host, world_ref_lookup, trajectories)
    candidates: list[Candidate] = []
    exclusions: list[Exclusion] = []
    for trajectory in sorted(trajectories, key=lambda one: (one.started_at, one.id)):
        try:
            candidates.append(builder.candidate(trajectory, downs, wall))
        except _Left as left:
            exclusions.append(_excluded(trajectory.tenant_id, trajectory.id, str(left)))
    tasks = []
    for candidate, reason in _agreeing(candidates):
        why = reason or admission.refusal(candidate.task, candidate.answer)
        if why is None:
            tasks.append(candidate.task)
        else:
            exclusions += [_excluded(candidate.task.tenant_id, source, why) for source in candidate.task.sources]
    return TaskSet(tasks=tuple(tasks), exclusions=tuple(exclusions))


def _agreeing(candidates: Sequence[Candidate]) -> list[tuple[Candidate, str | None]]:
    """Each candidate with the reason that its twins give: they disagree, or one of them stands for all."""
    twins: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        twins[candidate.task.key].append(candidate)
    judged: list[tuple[Candidate, str | None]] = []
    for group in twins.values():
        first, *others = group
        differ = any(_disagree(first, other) or _disagree(other, first) for other in others)
        judged.append((first, SUSPECT if differ else None))
        judged += [(other, SUSPECT if differ else "duplicate") for other in others]
    return judged


def _disagree(judging: Candidate, judged: Candidate) -> bool:
    """Whether one demonstration fails the verifiers that another one of the same task gave."""
    return bool(judge(judging.task, judged.answer, judged.changes)[1])


class _Builder:
    """Makes candidates on one host."""

    def __init__(self, host: WorldHost, lookup: WorldLookup, trajectories: Iterable[Trajectory]) -> None:
        self._host = host
        self._lookup = lookup
        self._answer_tool = host.answer_tool.name if host.answer_tool else None
        self._history = DocumentHistory(host)
        for trajectory in trajectories:
            ref = self._ref(trajectory)
            if ref is not None:
                self._history.read(ref)

    def _ref(self, trajectory: Trajectory) -> WorldRef | None:
        source = trajectory.world_digest
        return None if source is None else self._lookup(trajectory.tenant_id, source)

    def candidate(self, trajectory: Trajectory, downs: frozenset[str], wall: Wall) -> Candidate:
        """The task that one run gives."""
        shown = demonstrated(trajectory, self._answer_tool, downs)
        if isinstance(shown, str):
            raise _Left(shown)
        side = wall.side(trajectory)
        if not isinstance(side, Split):
            raise _Left(side)
        instruction = instruction_of(trajectory)
        if not fold(instruction):
            raise _Left("no_instruction")
        ref = self._ref(trajectory)
        if ref is None:
            raise _Left("no_world")
        try:
            require_one(trajectory.epoch, ref.epoch, f"{trajectory.id} in its world")
        except EpochCrossed as crossed:
            raise _Left("epoch_crossed") from crossed
        played = self._replay(ref, shown)
        if played.changes and leaves_out(instruction, self._host, ref.masked_digest, played):
            raise _Left(SUSPECT)
        task = Task(
            tenant_id=trajectory.tenant_id,
            subject=trajectory.subject,
            topic=trajectory.topic,
            instruction=instruction,
            world_digest=ref.masked_digest,
            at=trajectory.started_at,
            verifiers=self._verifiers(instruction, shown, played, ref),
            gold=self._gold(shown),
            split=side,
            sources=(trajectory.id,),
            family="+".join(dict.fromkeys(call.name for call in shown.calls)) or "answer",
        )
        return Candidate(task=task, answer=shown.answer, changes=played.changes)

    def _replay(self, ref: WorldRef, shown: Demonstrated) -> Replay:
        try:
            session = self._host.open(ref.masked_digest)
        except TidemillError as error:
            raise _Left(WORLD_GONE) from error
        try:
            played = replay(session, shown.calls)
        except ToolRefusal as error:
            raise _Left("replay_differs") from error
        if not played.faithful:
            raise _Left("replay_differs")
        return played

    def _gold(self, shown: Demonstrated) -> tuple[GoldAction, ...]:
        actions = [GoldAction(name=call.name, arguments=call.arguments) for call in shown.calls]
        tool = self._host.answer_tool
        if tool is not None:
            field = next(iter(tool.parameters.get("required", ("text",))))
            actions.append(GoldAction(name=tool.name, arguments={field: shown.answer}))
        return tuple(actions)

    def _verifiers(
        self, instruction: str, shown: Demonstrated, played: Replay, ref: WorldRef
    ) -> tuple[VerifierSpec, ...]:
        exact = StateDiff(changes=played.changes)
        if played.changes:
            return (exact, Answered())
        documents = self._host.world(ref.masked_digest).documents
        read = played.results or tuple(documents.values())
        grounded = [value for value in dict.fromkeys(values_in(list(read))) if states(shown.answer, value)]
        asked = [value for value in grounded if not states(instruction, value)] or grounded
        if not asked:
            raise _Left("nothing_to_verify")
        wrong = self._history.elsewhere(ref, read, shown.answer)
        avoided = (AnswerAvoids(values=wrong),) if wrong else ()
        return (exact, AnswerContains(values=tuple(asked)), *avoided, Answered())
