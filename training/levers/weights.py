"""The weights lever: an adapter from the frozen base, for judgement that repeats and can be checked."""

from __future__ import annotations

from datetime import datetime

from governance.records.lever import Lever, Pattern, Proposal, WeightsChange
from training.errors import LeverRefused


def propose(pattern: Pattern, dataset_digest: str, created_at: datetime, adapter_digest: str | None = None) -> Proposal:
    """Train on the dataset of that digest; ``adapter_digest`` is None until it is trained.

    Raises:
        LeverRefused: when the pattern is not of this lever, or nothing checks it.

    """
    if pattern.lever is not Lever.WEIGHTS:
        raise LeverRefused(f"{pattern.key}: its lever is {pattern.lever.value}, not weights")
    if not pattern.evidence.get("checkable"):
        raise LeverRefused(f"{pattern.key}: no verifier checks it, so weights must not learn it")
    change = WeightsChange(dataset_digest=dataset_digest, adapter_digest=adapter_digest)
    return Proposal(
        pattern_key=pattern.key, scope=pattern.scope, change=change, reason=pattern.reason, created_at=created_at
    )
