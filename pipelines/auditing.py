"""What the audit's command shows and writes."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

from governance.terms import with_iris
from pipelines.ground import Ground


def events(
    ground: Ground, tenant: str | None, *, by: str | None, action: str | None, last: int
) -> list[dict[str, Any]]:
    """The newest events of each tenant by somebody and of an act, in the order of their chains."""
    found: list[dict[str, Any]] = []
    for name in ground.store.audit.tenants() if tenant is None else (tenant,):
        chosen = (
            one
            for one in ground.store.audit.list(name)
            if (by is None or one.actor == by) and (action is None or one.action == action)
        )
        found += [one.plain() for one in deque(chosen, maxlen=last)]
    return found


def write_events(ground: Ground, tenant: str | None, path: Path) -> int:
    """Write the rows of the chains; how many they were."""
    number = 0
    with path.open("w", encoding="utf-8") as file:
        for name in ground.store.audit.tenants() if tenant is None else (tenant,):
            for line in ground.store.audit.lines(name):
                event = json.loads(line.body)
                row = {"position": line.position, "event": event, "chain": line.chain, **_terms(event)}
                file.write(json.dumps(row, sort_keys=True) + "\n")
                number += 1
    return number


def _terms(event: dict[str, Any]) -> dict[str, Any]:
    """The IRIs of what the event names, beside it: the event itself is what the chain is over."""
    detail = event.get("detail", {})
    named = {key: iri for key, iri in with_iris(detail).items() if key not in detail}
    return {"terms": named} if named else {}
