"""An audit event: who did what to which thing, when, under which role. No personal data, only keyed hashes."""

from __future__ import annotations

from typing import Any

from governance.records.base import Record, UtcTime


class AuditEvent(Record):
    """Append-only."""

    id: str
    tenant_id: str
    actor: str
    role: str
    action: str
    target: str
    detail: dict[str, Any] = {}
    at: UtcTime
