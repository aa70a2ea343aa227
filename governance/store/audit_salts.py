"""Salts of the audit's commitments: one for each tenant, one for each person, made when first needed.

A person's salt leaves with them. What is said of an erased person later gets a salt that nobody keeps.
"""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, select

from governance.policy.audit_terms import commitment
from governance.store import dialect, suppressions
from governance.store.tables_audit import AuditSaltRow

SALT_BYTES = 16


def commit(connection: Connection, tenant_id: str, person: str, value: str) -> str:
    """What stands for a value in a tenant's events; ``person`` is whose salt it gets, empty for the tenant's."""
    held = salt(connection, tenant_id, person)
    if held is None:
        held = secrets.token_bytes(SALT_BYTES)
        gone = bool(person) and suppressions.suppressed(connection, {(tenant_id, person)}, None)
        if not gone:
            row = {"tenant_id": tenant_id, "subject": person, "salt": held.hex()}
            dialect.insert_new(connection, AuditSaltRow, [row])
    return commitment(held, value)


def salt(connection: Connection, tenant_id: str, person: str) -> bytes | None:
    """The salt, if there is one."""
    row = AuditSaltRow
    found = connection.scalar(select(row.salt).where(row.tenant_id == tenant_id, row.subject == person))
    return None if found is None else bytes.fromhex(found)
