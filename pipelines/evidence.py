"""The audit's checkpoints as a Dagster asset: each hour, and at the end of each turn.

Annotations are evaluated: Dagster reads a context's type at run time.
"""

from typing import Any

import dagster as dg

from governance.errors import AnchorError
from pipelines.assets import TurnResource, promotion
from pipelines.authority import asset as acted


@dg.asset(group_name="audit", deps=[promotion])
def anchored_audit(context: dg.AssetExecutionContext, turn: TurnResource) -> dg.MaterializeResult[Any]:
    """Where each audit chain stands, signed and kept outside of the database."""
    mill = turn.mill()
    try:
        with acted(mill, "anchored_audit"):
            made = mill.auditing.checkpoint()
    except AnchorError as error:  # a turn that ended stays as it ended; the check below fails
        context.log.warning("the audit is not anchored: %s", error)
        return dg.MaterializeResult(metadata={"checkpoints": 0, "error": str(error)})
    return dg.MaterializeResult(metadata={"checkpoints": len(made), "events": sum(one.size for one in made)})


@dg.asset_check(asset=anchored_audit)
def audit_is_whole(turn: TurnResource) -> dg.AssetCheckResult:
    """Check that the audit is what was written, and that no checkpoint still waits for its anchor."""
    mill = turn.mill()
    found = [one.plain() for one in mill.auditing.verify()]
    waiting = mill.auditing.waiting()
    metadata = {"faults": dg.MetadataValue.json(found), "waiting": dg.MetadataValue.json(list(waiting))}
    return dg.AssetCheckResult(passed=not found and not waiting, metadata=metadata)
