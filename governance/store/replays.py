"""A verdict of a past moment, judged again from stored records under the policy of then.

What a verdict rests on lives by the clock of evidence (``RetentionClass.EVIDENCE``): for its term after it last counted
it is there, and the verdict is what it was. Past the term, and for a moment before a person was erased, whose records
left with them, nobody can say any more: the answer is ``evidence_expired``, and neither yes nor no.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select

from governance.policy.retention import expiry, is_overdue
from governance.records.retention import RetentionClass
from governance.records.rights import Purpose, Reason, Replay
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import policies, verdicts
from governance.store.kit import Kit
from governance.store.rights_facts import Row
from governance.store.tables_rights import SuppressionRow


def replay(
    connection: Connection, kit: Kit, purpose: Purpose, row: Row, as_of: datetime, *, version: str | None = None
) -> Replay:
    """The verdict on a row at ``as_of``, under the policy of then or the one of ``version``.

    Raises:
        NotFound: when no policy of that version was ever in force here.

    """
    policy = policies.by_version(connection, version) if version else policies.in_force(connection, as_of)
    judging = replace(kit, policy=policy or kit.policy)
    if purpose is not Purpose.COMPLY and _expired(connection, kit, row, as_of):
        return Replay(verdict=None, reason=Reason.EVIDENCE_EXPIRED, as_of=as_of, policy_version=judging.policy.version)
    (verdict,) = verdicts.verdicts(connection, judging, purpose, [row], as_of, past=True).values()
    return Replay(verdict=verdict, reason=verdict.reasons[0], as_of=as_of, policy_version=verdict.policy_version)


def _expired(connection: Connection, kit: Kit, row: Row, as_of: datetime) -> bool:
    tenant_id, subject, _ = row
    if subject == UNKNOWN_SUBJECT:
        return False
    if is_overdue(expiry(RetentionClass.EVIDENCE, as_of), kit.clock.now()):
        return True
    table = SuppressionRow
    erased = select(table.since).where(table.tenant_id == tenant_id, table.subject == subject)
    since = connection.scalar(erased)
    return since is not None and as_of < since
