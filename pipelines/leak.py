"""The tests of an adapter's memory, wired: which rows, which world, which engine.

The control of a leak test is trained on rows of people, so it lies on the shelf like any adapter (an erasure finds it)
and is discarded when the test ends; a test that broke off finds it there and goes on. Nothing promotes it: no release
and no record of the store names it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from governance.acting import INSTALLATION, acting, audited
from governance.errors import NotFound
from governance.records.dataset import DatasetRow
from governance.records.leak import AnonymityFile, LeakReport, MembershipReport
from governance.records.lineage import NodeKind
from governance.records.release import AdapterRef, ReleaseBundle
from governance.records.rights import Purpose, Verdict
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from governance.store.lineage import node
from pipelines.operations import champion, scope_named, start_engine
from pipelines.wiring import Mill
from training import sft
from training.adapters import TRAINING
from training.dataset import merged
from training.demonstration import replay
from training.errors import DemonstrationRefused, LeakTestRefused
from training.evidence import Demonstrated, demonstrated
from training.leak import drill as drills
from training.leak import membership
from training.leak.canary import canaries
from training.leak.drill import Drill, Served
from training.leak.stage import ORIGIN, Stage, planted
from training.sft_config import SftConfig

OTHER: Final = "not_learned"
"""Origin of a row that was made to be scored and is learned from by nobody."""


def leak_test(mill: Mill, release: str | None, seed: str, *, count: int, alternatives: int, copies: int) -> LeakReport:
    """Train the control, measure both adapters as they are served, and store the report.

    Raises:
        LeakTestRefused: when the release has no adapter or none of its rows may be used now.

    """
    bundle = bundle_of(mill, release)
    ref = adapter_of(bundle)
    rows = learned_rows(mill, ref)
    stage = stage_of(mill, bundle, rows)
    drill = Drill(seed=seed, canaries=canaries(seed, count, alternatives), copies=copies)
    control = _control(mill, ref, (*rows, *planted(stage, drill.canaries, copies)))
    served = Served(score=mill.admin.logprobs, engine=mill.engine)
    try:
        with loaded(mill, control), loaded(mill, ref):
            candidate = drills.measure(stage, bundle, drill, served, mill.tell)
            other = ReleaseBundle.of(bundle.release.base, control, bundle.harness, bundle.context)
            known = drills.measure(stage, other, drill, served, mill.tell)
    finally:
        mill.shelf.discard(control.content_digest)
    judged = drills.judge(drill, known, candidate, mill.clock.now())
    report = judged.model_copy(update={"actor": acting().principal.name})
    mill.store.leaks.put_report(report)
    return report


def membership_test(mill: Mill, release: str | None) -> MembershipReport:
    """Score who was learned from and who was not, under the adapter and the base as served, and store the report.

    Raises:
        LeakTestRefused: when the release has no adapter or a side has too few people.

    """
    bundle = bundle_of(mill, release)
    ref = adapter_of(bundle)
    members = learned_rows(mill, ref)
    others = asyncio.run(_others(mill, bundle, members))

    def score(row: DatasetRow) -> float:
        mine = mill.admin.logprobs(ref.served_name, row.input_ids)
        return membership.row_score(row, mine, mill.admin.logprobs(mill.base.name, row.input_ids))

    with loaded(mill, ref):
        measured = membership.measure(ref.content_digest, members, others, score, mill.clock.now())
    report = measured.model_copy(update={"actor": acting().principal.name})
    mill.store.leaks.put_membership(report)
    return report


def bundle_of(mill: Mill, release: str | None) -> ReleaseBundle:
    """The release by its digest or the beginning of it; the champion of the main scope for None.

    Raises:
        LeakTestRefused: when none or several begin so.

    """
    if release is None:
        return champion(mill, scope_named(mill, None))[0]
    found = [one for one in mill.store.releases.list() if one.release.digest().startswith(release)]
    if len(found) != 1:
        raise LeakTestRefused(f"{len(found)} releases begin with {release!r}; see: tidemill release list")
    return found[0]


def adapter_of(bundle: ReleaseBundle) -> AdapterRef:
    """The release's adapter.

    Raises:
        LeakTestRefused: when it has none.

    """
    if bundle.release.adapter is None:
        raise LeakTestRefused(f"{bundle.release.name} has no adapter: it learned from nobody")
    return bundle.release.adapter


def learned_rows(mill: Mill, ref: AdapterRef) -> tuple[DatasetRow, ...]:
    """The rows of the adapter's dataset that may be used now.

    Raises:
        LeakTestRefused: when there is none.

    """
    made_from = mill.store.lineage.ancestors(node(NodeKind.ADAPTER, ref.content_digest))
    roots = {one.id for one in made_from if one.kind is NodeKind.DATASET} & set(mill.store.datasets.roots())
    rows = tuple(row for root in sorted(roots) for row in mill.store.datasets.rows(root, Purpose.TRAIN_WEIGHTS))
    if not rows:
        raise LeakTestRefused(f"no row of adapter {ref.content_digest[:12]} is held that may be used now")
    return rows


def stage_of(mill: Mill, bundle: ReleaseBundle, rows: tuple[DatasetRow, ...]) -> Stage:
    """The release's harness in a world of a run that was learned from.

    Raises:
        LeakTestRefused: when no such world is held.

    """
    for run in mill.store.trajectories.some([row.trajectory_id for row in rows], Purpose.TRAIN_WEIGHTS):
        world = mill.store.worlds.by_source(run.tenant_id, run.world_digest) if run.world_digest else None
        if world is not None:
            host = mill.host(Purpose.TRAIN_WEIGHTS)
            return Stage(bundle, mill.runner, host, world.masked_digest, run.tenant_id, mill.clock.now())
    raise LeakTestRefused("no world of the runs that were learned from is held: the agent has nowhere to stand")


@contextmanager
def loaded(mill: Mill, ref: AdapterRef) -> Iterator[None]:
    """Serve an adapter while inside; what served before goes on to."""
    start_engine(mill)
    fresh = ref.served_name not in mill.admin.names()
    mill.admin.load(ref.served_name, mill.shelf.path(ref.content_digest))
    try:
        yield
    finally:
        if fresh:
            mill.admin.unload(ref.served_name)


def _control(mill: Mill, ref: AdapterRef, rows: tuple[DatasetRow, ...]) -> AdapterRef:
    """An adapter as the candidate was trained, on its rows and the canaries."""
    record = json.loads((Path(mill.shelf.path(ref.content_digest)) / TRAINING).read_bytes())
    config = SftConfig.parse(record["config"], TRAINING)
    mill.tell(f"training the control on {len(rows)} rows, {sum(row.origin == ORIGIN for row in rows)} of canaries")
    trained = sft.train(
        rows,
        base=mill.base,
        base_dir=mill.model_dir,
        shelf=mill.shelf,
        config=config,
        progress=lambda event: mill.tell(f"training: {event}"),
    )
    return trained.ref


async def _others(mill: Mill, bundle: ReleaseBundle, members: tuple[DatasetRow, ...]) -> tuple[DatasetRow, ...]:
    """Rows of people of the same scope who were not learned from, made as training makes them."""
    learned = {(row.tenant_id, row.subject) for row in members}
    tenants = sorted({row.tenant_id for row in members})
    since = min(cycle.window_start for cycle in mill.store.cycles.list())
    found = mill.store.trajectories.list(Purpose.TRAIN_WEIGHTS, tenants, since, mill.clock.now())
    made = []
    for run in found.rows:
        if run.subject != UNKNOWN_SUBJECT and (run.tenant_id, run.subject) not in learned:
            made += await _row(mill, bundle, run, found.verdicts)
    return tuple(made)


async def _row(mill: Mill, bundle: ReleaseBundle, run: Trajectory, verdicts: Mapping[str, Verdict]) -> list[DatasetRow]:
    """The run as a row, where it shows something and its world is held."""
    shown = demonstrated(run, bundle.harness.answer_tool, frozenset())
    world = mill.store.worlds.by_source(run.tenant_id, run.world_digest) if run.world_digest else None
    if world is None or not isinstance(shown, Demonstrated):
        return []
    try:
        host = mill.host(Purpose.TRAIN_WEIGHTS)
        rollout = await replay(bundle, run, shown, world_digest=world.masked_digest, runner=mill.runner, host=host)
        input_ids, completion_mask, choices = merged(rollout)
    except DemonstrationRefused:
        return []
    return [
        DatasetRow(
            tenant_id=run.tenant_id,
            subject=run.subject,
            trajectory_id=run.id,
            step=0,
            input_ids=input_ids,
            completion_mask=completion_mask,
            choices=choices,
            verdict=verdicts[run.id],
            origin=OTHER,
        )
    ]


def declare_anonymous(mill: Mill, release: str | None, *, reason: str, days: int) -> tuple[AnonymityFile, str | None]:
    """Approve, as who acts now, an anonymity file on the adapter's newest tests; and why it counts as personal still.

    Its author is who ran the leak test, as its record says.

    Raises:
        LeakTestRefused: when a test was not made yet, or nobody is on record for one.
        RecordError: when the approver ran one of the tests.

    """
    adapter = adapter_of(bundle_of(mill, release)).content_digest
    leaks, now = mill.store.leaks, mill.clock.now()
    tests, memberships = leaks.reports(adapter), leaks.memberships(adapter)
    if not tests or not memberships:
        missing = "leak test" if not tests else "membership test"
        raise LeakTestRefused(f"adapter {adapter[:12]} has no {missing} yet; run: tidemill leak --help")
    if not tests[-1].actor or not memberships[-1].actor:
        raise LeakTestRefused(f"adapter {adapter[:12]}: a test names nobody who ran it; run: tidemill leak --help")
    value = {
        "id": f"anonymity-{mill.ids.hex(8)}",
        "adapter": adapter,
        "leak": tests[-1],
        "membership": memberships[-1],
        "author": tests[-1].actor,
        "approver": acting().principal.name,
        "reason": reason,
        "valid_from": now,
        "valid_to": now + timedelta(days=days),
    }
    file = AnonymityFile.parse(value, "anonymity file")
    with mill.store.transaction():
        leaks.put_file(file)
        detail = {"adapter": adapter, "author": file.author, "reason": reason, "until": file.valid_to.isoformat()}
        mill.store.audit.append(audited(mill.ids, now, INSTALLATION, "anonymity_declared", file.id, detail))
    return file, leaks.why_personal(adapter)


def revoke_anonymous(mill: Mill, file_id: str, *, reason: str) -> AnonymityFile:
    """Revoke an anonymity file from now on, as who acts now; what revokes it. It stays on record.

    Raises:
        NotFound: when there is no such file, or it was revoked before.

    """
    leaks, now = mill.store.leaks, mill.clock.now()
    files = leaks.files()
    gone = {one.supersedes for one in files}
    found = next((one for one in files if one.id == file_id and one.supersedes is None and one.id not in gone), None)
    if found is None:
        raise NotFound(f"leak: no anonymity file {file_id} stands; see: tidemill leak status")
    changed = {
        "id": f"{file_id}-revoked", "supersedes": file_id, "reason": reason, "approver": acting().principal.name,
        "valid_from": now, "valid_to": max(found.valid_to, now + timedelta(microseconds=1)),
    }  # fmt: skip
    file = AnonymityFile.parse(found.plain() | changed, "anonymity file")
    with mill.store.transaction():
        leaks.put_file(file)
        detail = {"adapter": file.adapter, "reason": reason}
        mill.store.audit.append(audited(mill.ids, now, INSTALLATION, "anonymity_revoked", file_id, detail))
    return file
