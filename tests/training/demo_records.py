"""Records for the tests of datasets, training and gates."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from governance.records.base import digest_json
from governance.records.dataset import DatasetRow
from governance.records.lever import Lever, Pattern
from governance.records.release import BaseModelRef
from governance.records.rights import Contract, Purpose, Reason, Verdict
from governance.records.scope import Scope
from governance.records.trajectory import UNKNOWN_SUBJECT, Trajectory
from serving.runtime import HarnessRuntime
from tests.serving.byte_tokenizer import ByteTokenizer
from tests.support.clock import ManualClock
from tests.training.shop_week import START, TENANTS, Week
from training.dataset import Candidate, Dataset, DatasetPolicy, Sources, build
from training.evidence import taken_over
from training.split import Wall

AT = datetime(2026, 6, 8, tzinfo=UTC)
BASE = BaseModelRef(name="base", content_digest="b" * 64)
CUTOFF = START + timedelta(days=5)


def verdict(allowed: bool = True, reason: Reason = Reason.ALLOWED) -> Verdict:
    return Verdict(allowed=allowed, purpose=Purpose.TRAIN_WEIGHTS, reasons=(reason,), as_of=AT, policy_version="1")


def contract(tenant: str, shared: bool) -> Contract:
    return Contract(
        id=f"c-{tenant}", tenant_id=tenant, terms=(), shared_adapter=shared, valid_from=START, recorded_at=START
    )


def problems(week: Week) -> Pattern:
    """The pattern that goes to weights: takeovers of problem letters."""
    members = [one for one in week.trajectories if one.topic == "problem" and taken_over(one)]
    return Pattern(
        key="takeover:problem", scope="s", lever=Lever.WEIGHTS, reason="judgement", evidence={},
        trajectory_ids=tuple(one.id for one in members), subjects=len({one.subject for one in members}),
    )  # fmt: skip


def sources(week: Week, **changes: Any) -> Sources:
    known = [one for one in week.trajectories if one.subject != UNKNOWN_SUBJECT]
    parts: dict[str, Any] = {
        "patterns": [problems(week)],
        "trajectories": known,
        "verdicts": {one.id: verdict() for one in known},
        "excluded": [],
        "contracts": {tenant: contract(tenant, True) for tenant in TENANTS},
        "wall": Wall(week.trajectories, CUTOFF),
    }
    return Sources(**{**parts, **changes})


def candidate(week: Week, **changes: Any) -> Candidate:
    parts: dict[str, Any] = {
        "base": BASE,
        "harness": week.harness,
        "context": week.context,
        "runner": HarnessRuntime(ByteTokenizer(), None, ManualClock()),
        "host": week.host,
        "world": week.lookup,
    }
    return Candidate(**{**parts, **changes})


def built(week: Week, given: Sources, tenants: tuple[str, ...] = TENANTS, **policy: Any) -> Dataset:
    policy = {"max_tokens": 4000, **policy}
    scope = Scope(agent_name="shop-support", tenants=tenants)
    return asyncio.run(build(scope, given, candidate(week), DatasetPolicy(**policy), "1"))


def row(prompt: tuple[int, ...], output: tuple[int, ...], name: str = "t/1", subject: str = "s1") -> DatasetRow:
    return DatasetRow(
        tenant_id="t", subject=subject, trajectory_id=name, step=0, input_ids=(*prompt, *output),
        completion_mask=(0,) * len(prompt) + (1,) * len(output), verdict=verdict(), origin="takeover",
    )  # fmt: skip


def trajectory_ids(considered: list[Trajectory]) -> set[str]:
    return {one.id for one in considered}


def digest(text: str) -> str:
    return digest_json(text)
