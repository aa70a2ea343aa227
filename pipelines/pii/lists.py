"""Entries on a tenant's allow-list and deny-list, from a value that somebody types."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from governance.errors import NotFound
from governance.masking.judgement import listed, require_unsaid
from governance.masking.surrogate import Surrogates
from governance.records.masking_list import ListAct, ListEvent, ListName
from pipelines.ground import Ground

SHOWN = 12
"""Characters of a keyed identifier that name an entry."""


def add(ground: Ground, tenant: str, value: str, person: str | None, told: dict[str, Any]) -> dict[str, Any]:
    """Put a value on a list; ``told`` holds list_name, entity_type, owner, reason, actor and days.

    Raises:
        RecordError: when something lacks, or the reason or owner repeats the value.

    """
    kind = told["entity_type"]
    require_unsaid(kind, value, told["owner"], told["reason"])
    surrogates, now = Surrogates(ground.keys, tenant), ground.clock.now()
    mention, words = listed(surrogates.mention, kind, value)
    days = timedelta(days=told["days"])
    fields = {name: told[name] for name in ("list_name", "entity_type", "owner", "reason", "actor")}
    event = ListEvent.parse(
        fields
        | {"tenant_id": tenant, "act": ListAct.ADD, "mention": mention, "words": words, "at": now, "until": now + days}
        | {"subject": surrogates.subject(person or value)},
        "entry",
    )
    ground.store.masking_lists.add(event)
    return shown(event)


def remove(ground: Ground, tenant: str, which: ListName, entry: str, actor: str, reason: str) -> dict[str, Any]:  # noqa: PLR0917 - one act
    """Take the entry off whose identifier begins so.

    Raises:
        NotFound: when none does, or more than one.

    """
    held = [one for one in ground.store.masking_lists.current(tenant) if one.list_name is which]
    found = [one for one in held if entry and one.mention.startswith(entry)]
    if len(found) != 1:
        raise NotFound(f"{len(found)} entries of the {which}-list of {tenant} begin with {entry!r}")
    now = ground.clock.now()
    changes = {"act": ListAct.REMOVE, "actor": actor, "reason": reason, "at": now, "until": now}
    event = ListEvent.parse({**found[0].model_dump(), **changes}, "entry")
    ground.store.masking_lists.remove(event)
    return shown(event)


def shown(event: ListEvent) -> dict[str, Any]:
    """An act as people see it: never the value."""
    return {
        "entry": event.mention[:SHOWN],
        "list": event.list_name.value,
        "act": event.act.value,
        "type": event.entity_type,
        "words": event.words,
        "owner": event.owner,
        "reason": event.reason,
        "actor": event.actor,
        "at": event.at.isoformat(),
        "until": event.until.isoformat(),
    }
