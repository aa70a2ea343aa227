"""People, in groups that fit one statement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from governance.store import dialect
from governance.store.chunks import chunks

Person = tuple[str, str]
"""(tenant_id, subject)."""


def by_tenant(people: Iterable[Person]) -> Iterable[tuple[str, list[str]]]:
    """(tenant_id, subjects), sorted, a tenant as often as it takes."""
    groups: dict[str, set[str]] = defaultdict(set)
    for tenant_id, subject in people:
        groups[tenant_id].add(subject)
    for tenant_id in sorted(groups):
        for part in chunks(sorted(groups[tenant_id]), dialect.CHUNK):
            yield tenant_id, part
