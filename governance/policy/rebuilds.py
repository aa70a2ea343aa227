"""What becomes of weights that learned from rows whose right ended since: pure, from what dropped, when, and a policy.

A candidate is stopped unless the policy lets it go on with every reason, and then only until the deadline, which counts
from the loss. A champion serves until the deadline, or leaves at once: by the policy, and whatever the policy says for
the reasons of the floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from governance.policy.terms_file import STOPS
from governance.records.manifest import UseOutcome
from governance.records.rights_policy import InService, RebuildTerms


class Word(NamedTuple):
    """What a use comes to, and until when."""

    outcome: UseOutcome
    deadline: datetime | None = None


def of_candidate(dropped: Mapping[str, int], lost_at: datetime | None, now: datetime, terms: RebuildTerms) -> Word:
    """Whether a release that learned from what dropped may pass a gate or be promoted at ``now``."""
    if not dropped:
        return Word(UseOutcome.WENT_ON)
    if lost_at is None or not set(dropped) <= set(terms.goes_on):
        return Word(UseOutcome.STOPPED)
    return _until(lost_at + terms.term, now)


def of_champion(dropped: Mapping[str, int], lost_at: datetime | None, now: datetime, terms: RebuildTerms) -> Word:
    """Whether a release that learned from what dropped may go on serving at ``now``."""
    if not dropped or lost_at is None:
        return Word(UseOutcome.WENT_ON)
    if terms.in_service is InService.AT_ONCE or set(dropped) & STOPS:
        return Word(UseOutcome.STOPPED, lost_at)
    return _until(lost_at + terms.term, now)


def _until(deadline: datetime, now: datetime) -> Word:
    return Word(UseOutcome.PENDING_REBUILD if now < deadline else UseOutcome.STOPPED, deadline)
