"""The first steps of a turn: the base, the traces, the worlds they ran in."""

from __future__ import annotations

from pipelines.draining import drain
from pipelines.ledger import books
from pipelines.operations import bootstrap, champion
from pipelines.turn import Output, Turn
from pipelines.wiring import Mill


def base_model(mill: Mill, turn: Turn) -> Output:
    """Prepare the frozen base and make sure that every scope has a champion."""

    def work() -> Output:
        bootstrap(mill, mill.tell)
        bundle, version = champion(mill, turn.scope)
        return {
            "base": mill.base.name,
            "base_digest": mill.base.content_digest,
            "champion": bundle.release.digest(),
            "deployment_version": version,
        }

    return turn.step("base_model", {}, work)


def drained(mill: Mill) -> Output:
    """Try what lies in quarantine again and drain the spool, in this order: what was released is assembled, too."""
    released = mill.quarantine.run()
    return {**drain(mill, mill.tell).plain(), "quarantine": released.plain()}


def trajectories(mill: Mill, turn: Turn) -> Output:
    """Drain the spool; what is drained already is not drained again, so this step is never skipped."""
    report = drained(mill)
    found = books(mill.store)
    output = {
        **report,
        "ledger_lines": len(found.lines),
        "ledger_balances": found.balance,
        "ledger_received": sum(line.received for line in found.lines),
    }
    return turn.step("trajectories", output, lambda: output)


def worlds(mill: Mill, turn: Turn) -> Output:
    """Bring the window's snapshots through the door."""
    schema = mill.product.world_schema()
    refs: dict[str, str] = {}
    for tenant, world in mill.product.snapshots(turn.window.start, turn.window.end):
        if tenant in turn.scope.tenants:
            ref = mill.door.admit_world(tenant, world, schema)
            refs[ref.source_digest] = ref.masked_digest
            mill.tell(f"world {ref.source_digest[:12]} of {tenant} masked as {ref.masked_digest[:12]}")
    output = {"snapshots": len(refs), "worlds": refs}
    return turn.step("worlds", output, lambda: output)
