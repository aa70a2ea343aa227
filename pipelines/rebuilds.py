"""Champions that learned from what may not be used any more, and the deadline of their rebuild."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance.records.manifest import UseOutcome

if TYPE_CHECKING:
    from governance.rights_at_use import ReleaseRights
    from pipelines.ground import Ground


def rebuilds(ground: Ground) -> dict[str, dict[str, Any]]:
    """Scope to its champion, where that learned from what may not be used any more."""
    found = {}
    for scope in ground.store.deployments.scopes():
        rights = champion_rights(ground, scope)
        if rights is not None and rights.dropped:
            found[scope] = {
                "release": rights.release,
                "dropped": rights.dropped,
                "since": rights.lost_at.isoformat() if rights.lost_at else None,
                "deadline": rights.deadline.isoformat() if rights.deadline else None,
                "overdue": rights.outcome is UseOutcome.STOPPED,
                "suspended": ground.store.releases.suspended(rights.release),
            }
    return found


def champion_rights(ground: Ground, scope: str) -> ReleaseRights | None:
    """Whether a scope's champion may go on serving now; None before the first promotion."""
    current = ground.store.deployments.current(scope)
    if current is None:
        return None
    return ground.rights_at_use.of_champion(ground.store.releases.get(current.release_digest))
