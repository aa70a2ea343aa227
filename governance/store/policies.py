"""``store.policies``: every policy of rights that was in force here, by its digest, and since when.

A verdict names its policy by the digest, so the policy is kept for as long as anything may be judged again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from governance.errors import NotFound
from governance.records.rights_policy import RightsPolicy
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_policies import RightsPolicyRow


class Policies:
    """Policies by version."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def come_into_force(self) -> None:
        """Record the policy of this store where it is another one than the last."""
        version = self._kit.policy.version
        with self._kit.db.read() as connection:
            if _last(connection) == version:
                return

        def work(connection: Connection) -> None:
            dialect.lock_names(connection, ["rights_policies"])
            if _last(connection) == version:
                return
            newest = connection.scalar(_newest(RightsPolicyRow.number))
            since = self._kit.clock.now()
            row = {"number": (newest or 0) + 1, "version": version, "since": since, "body": self._kit.policy.plain()}
            dialect.insert(connection, RightsPolicyRow, [row])

        self._kit.db.run(work)

    def get(self, version: str) -> RightsPolicy:
        """The policy of that version.

        Raises:
            NotFound: when none of that digest was ever in force here.

        """
        with self._kit.db.read() as connection:
            return by_version(connection, version)

    def history(self) -> tuple[tuple[datetime, RightsPolicy], ...]:
        """(since, policy) of each that came into force, oldest first."""
        row = RightsPolicyRow
        with self._kit.db.read() as connection:
            found = connection.execute(select(row.since, row.body).order_by(row.number))
            return tuple((since, RightsPolicy.model_validate(body)) for since, body in found)


def by_version(connection: Connection, version: str) -> RightsPolicy:
    """The policy of that version, or the one whose version begins so."""
    row = RightsPolicyRow
    statement = select(row.version, row.body).where(row.version.startswith(version, autoescape=True))
    found: dict[str, Any] = dict(connection.execute(statement).tuples().all()) if version else {}
    if len(found) != 1:
        raise NotFound(f"store: {len(found)} policies of rights begin with {version!r}")
    return RightsPolicy.model_validate(next(iter(found.values())))


def in_force(connection: Connection, as_of: datetime) -> RightsPolicy | None:
    """The policy that was in force at a moment; before the first that is known, the first."""
    row = RightsPolicyRow
    body = connection.scalar(select(row.body).where(row.since <= as_of).order_by(row.number.desc()).limit(1))
    body = body or connection.scalar(select(row.body).order_by(row.number).limit(1))
    return None if body is None else RightsPolicy.model_validate(body)


def _newest(column: Any) -> Select[Any]:
    return select(column).order_by(RightsPolicyRow.number.desc()).limit(1)


def _last(connection: Connection) -> str | None:
    version: str | None = connection.scalar(_newest(RightsPolicyRow.version))
    return version
