"""Whether an adapter counts as holding personal data: yes, unless a file with both tests says otherwise.

The bound on membership is for the upper end of its interval: a wide interval never passes. A file is disproved by any
test of its adapter that is not older than the file's own and says leak, or whose membership does not end below the
bound; another file on newer tests may take its place. A file that another one supersedes is revoked. Source: EDPB
Opinion 28/2024 (34-43): the likelihood of extraction, and that of learning by queries whose data it was, must both be
insignificant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from governance.records.leak import AnonymityFile, LeakReport, LeakVerdict, MembershipReport

MEMBERSHIP_BOUND: Final = 0.6
"""The interval of the membership test's AUC must end below."""

NO_FILE: Final = "no anonymity file"


def why_personal(
    adapter: str,
    files: Iterable[AnonymityFile],
    now: datetime,
    leaks: Sequence[LeakReport] = (),
    memberships: Sequence[MembershipReport] = (),
) -> str | None:
    """Why the adapter counts as holding personal data; None when a file says that it does not.

    ``leaks`` and ``memberships`` are every test that was made of it.
    """
    mine = [one for one in files if one.adapter == adapter]
    revoked = {one.supersedes: one for one in mine if one.supersedes is not None}
    reasons = [
        f"anonymity file {one.id} was revoked ({revoked[one.id].reason})"
        if one.id in revoked
        else _fault(one, now) or _disproof(one, leaks, memberships)
        for one in mine
        if one.supersedes is None
    ]
    if None in reasons:
        return None
    return next((reason for reason in reversed(reasons) if reason), NO_FILE)


def _disproof(file: AnonymityFile, leaks: Sequence[LeakReport], memberships: Sequence[MembershipReport]) -> str | None:
    """What a later test says against a file."""
    since, told = file.leak.at, file.membership.at
    if any(
        one.verdict is LeakVerdict.LEAK and one.at >= since for one in leaks if one.candidate.adapter == file.adapter
    ):
        return f"anonymity file {file.id}: a later leak test says {LeakVerdict.LEAK.value}"
    highs = [one.interval.high for one in memberships if one.adapter == file.adapter and one.at >= told]
    if not all(high < MEMBERSHIP_BOUND for high in highs):
        return f"anonymity file {file.id}: by a later test membership may be told (AUC up to {max(highs):.2f})"
    return None


def _fault(file: AnonymityFile, now: datetime) -> str | None:
    """What keeps one file from saying so."""
    if not file.valid_from <= now < file.valid_to:
        return f"anonymity file {file.id} is not valid at this time"
    if file.leak.verdict is not LeakVerdict.NO_LEAK_FOUND:
        return f"anonymity file {file.id}: the leak test says {file.leak.verdict.value}"
    if not file.membership.interval.high < MEMBERSHIP_BOUND:
        return f"anonymity file {file.id}: membership may be told (AUC up to {file.membership.interval.high:.2f})"
    return None
