"""An unlawful source in a running installation: what derives from it is retired, and no champion of it goes on."""

from __future__ import annotations

from typing import Any

from governance.acting import acting
from governance.records.descent import Source, Taint
from governance.unlawful import Unlawful, seen_by
from pipelines.leaving import leave
from pipelines.wiring import Mill


def traced(mill: Mill, source: Source) -> Taint:
    """What derives from the source, as far as who asks may see it; nothing is changed."""
    return seen_by(acting().principal, Unlawful(mill.store, mill.clock, mill.ids).trace(source))


def retired(mill: Mill, source: Source, reason: str) -> dict[str, Any]:
    """Retire what derives from the source, then take each tainted champion out of service.

    Where the policy of serving is to suspend, the gateway does so from the taint on; otherwise the scope goes back to
    the newest release that is not tainted, else to the base, and is suspended where there is no way back. ``keep`` is a
    term for erasures: an unlawful source has none.
    """
    taint = Unlawful(mill.store, mill.clock, mill.ids).retire(source, reason)
    rollbacks = []
    if mill.settings.erasure_serving != "suspend":
        for scope, release in sorted(taint.champions.items()):
            rollbacks.append(leave(mill, scope, release, f"unlawful source: {reason}", lambda _: None))
    seen = seen_by(acting().principal, taint)
    return {**seen.plain(), "rollbacks": [one for one in rollbacks if one["scope"] in seen.champions]}
