"""A champion leaves service for rights' sake: back to what may still serve, and where there is no way back, suspended.

Rights do not wait for an engine. A rollback that cannot be done now (no earlier release, a probe that fails, an engine
that does not start) ends in a suspension: from then on the gateway answers nobody in the name of that release, and the
reason says why there was no rollback. Whoever lets it go tainted it before, so no later rollback goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from governance.errors import TidemillError
from pipelines.operations import ACTOR, start_engine
from pipelines.wiring import Mill


def leave(mill: Mill, scope: str, release: str, reason: str, tell: Callable[[str], None]) -> dict[str, Any]:
    """Roll a scope back from a release; the release that serves then and the seconds, or why it is suspended."""
    try:
        start_engine(mill)
        done = mill.promoter.rollback(scope, reason, ACTOR)
    except (TidemillError, OSError) as error:
        mill.store.releases.suspend(release, f"{reason}: no rollback, {type(error).__name__}: {error}")
        tell(f"{scope}: suspended, since no rollback can be done now: {error}")
        return {"scope": scope, "release": release, "suspended": str(error)}
    tell(f"{scope}: rolled back to {done.deployment.release_digest[:12]} in {done.seconds:.3f} s")
    return {"scope": scope, "release": done.deployment.release_digest, "seconds": round(done.seconds, 3)}
