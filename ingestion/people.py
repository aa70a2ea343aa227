"""Whose spans these are: the raw id under the attributes that each tenant configures, and the door's hash of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from governance.records.span import Span

DEFAULT_ATTRIBUTES: Final = ("user.id", "enduser.id")


class Subjects:
    """Finds people in raw spans."""

    def __init__(
        self,
        hashed: Callable[[str, str | None], str],
        attributes: Sequence[str] = DEFAULT_ATTRIBUTES,
        by_tenant: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """``hashed`` is the door's ``subject``; ``by_tenant`` overrides ``attributes`` for a tenant."""
        self._hashed = hashed
        self._attributes = tuple(attributes)
        self._by_tenant = dict(by_tenant or {})

    def raw_id(self, tenant_id: str, span: Span) -> str | None:
        """The person's id as the app wrote it, from the span or its resource; the first configured key wins."""
        attributes, resource = span.attributes, span.resource
        for key in self._by_tenant.get(tenant_id, self._attributes):
            if key not in attributes and key not in resource:
                continue
            for held in (attributes, resource):
                value = held.get(key)
                if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                    return str(value)
        return None

    def hashed(self, tenant_id: str, raw_id: str) -> str:
        """The hash by which the store knows a person."""
        return self._hashed(tenant_id, raw_id)

    def by_trace(self, tenant_id: str, spans: Iterable[Span]) -> dict[str, str]:
        """Trace id to the one raw id that its spans name; a trace that names several is not in it."""
        named: dict[str, set[str]] = {}
        for span in spans:
            raw_id = self.raw_id(tenant_id, span)
            if raw_id is not None:
                named.setdefault(span.trace_id, set()).add(raw_id)
        return {trace_id: next(iter(ids)) for trace_id, ids in named.items() if len(ids) == 1}

    def traces_of(self, tenant_id: str, subject: str, spans: Iterable[Span]) -> set[str]:
        """The traces that name a subject."""
        return {
            span.trace_id
            for span in spans
            if (raw_id := self.raw_id(tenant_id, span)) is not None and self._hashed(tenant_id, raw_id) == subject
        }
