"""An unlawful source in a running installation: what derives from it is retired, and no champion of it goes on."""

from __future__ import annotations

from typing import Any

from governance.acting import acting
from governance.records.descent import Source, Taint
from governance.unlawful import Unlawful, seen_by
from pipelines.operations import ACTOR, start_engine
from pipelines.wiring import Mill


def traced(mill: Mill, source: Source) -> Taint:
    """What derives from the source, as far as who asks may see it; nothing is changed."""
    return seen_by(acting().principal, Unlawful(mill.store, mill.clock, mill.ids).trace(source))


def retired(mill: Mill, source: Source, reason: str) -> dict[str, Any]:
    """Retire what derives from the source, then take each tainted champion out of service.

    Where the policy of serving is to suspend, the gateway does so from the taint on; otherwise the scope goes back to
    the newest release that is not tainted, else to the base. ``keep`` is a term for erasures: an unlawful source has
    none.
    """
    taint = Unlawful(mill.store, mill.clock, mill.ids).retire(source, reason)
    rollbacks = []
    if taint.champions and mill.settings.erasure_serving != "suspend":
        start_engine(mill)
        for scope in sorted(taint.champions):
            done = mill.promoter.rollback(scope, f"unlawful source: {reason}", ACTOR)
            rollbacks.append({"scope": scope, "release": done.deployment.release_digest, "seconds": done.seconds})
    seen = seen_by(acting().principal, taint)
    return {**seen.plain(), "rollbacks": [one for one in rollbacks if one["scope"] in seen.champions]}
