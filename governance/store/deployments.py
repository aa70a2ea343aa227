"""``store.deployments``: which release is champion of a scope. The truth; what a registry shows is a projection of it.

A change is one compare-and-swap: it names the version that it has seen and inserts the next one, whose key is unique.
So every read sees exactly one champion, the slower of two promoters gets a conflict, and the history, append-only,
says which release served at any past moment.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from governance.errors import Conflict, PurposeDenied
from governance.records.release import Deployment
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_releases import DeploymentRow, ReleaseRow

FIRST = 0
"""The version to expect where a scope has no champion yet."""


class Deployments:
    """Deployments by scope."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def current(self, scope: str) -> Deployment | None:
        """The scope's champion; None before the first promotion."""
        with self._kit.db.read() as connection:
            found = connection.execute(_latest(scope)).mappings().first()
        return None if found is None else Deployment.model_validate(dict(found))

    def switch(self, scope: str, expected_version: int, release_digest: str, reason: str, actor: str) -> Deployment:
        """Make a release champion, if the champion is still the one of ``expected_version`` (0: none yet).

        Raises:
            Conflict: when somebody else was first.
            PurposeDenied: when the release is tainted.

        """
        with self._kit.db.write() as connection:
            dialect.lock_names(connection, [f"deployment:{scope}"])
            tainted = connection.scalar(select(ReleaseRow.tainted_reason).where(ReleaseRow.digest == release_digest))
            if tainted is not None:
                raise PurposeDenied(f"store: release {release_digest} is tainted: {tainted}")
            latest = connection.execute(_latest(scope)).mappings().first()
            version = latest["version"] if latest else FIRST
            if version != expected_version:
                raise Conflict(f"store: {scope} is at version {version}, not at {expected_version}")
            deployment = Deployment(
                scope=scope,
                version=version + 1,
                release_digest=release_digest,
                previous_digest=latest["release_digest"] if latest else None,
                reason=reason,
                actor=actor,
                at=self._kit.clock.now(),
            )
            connection.execute(DeploymentRow.__table__.insert(), [deployment.model_dump()])  # type: ignore[attr-defined]
        return deployment

    def history(self, scope: str) -> tuple[Deployment, ...]:
        """Every deployment of the scope, first to last."""
        statement = _columns().where(DeploymentRow.scope == scope).order_by(DeploymentRow.version)
        with self._kit.db.read() as connection:
            return tuple(Deployment.model_validate(dict(found)) for found in connection.execute(statement).mappings())

    def at(self, scope: str, moment: datetime) -> Deployment | None:
        """The deployment that served the scope at a past moment."""
        row = DeploymentRow
        statement = _columns().where(row.scope == scope, row.at <= moment).order_by(row.version.desc()).limit(1)
        with self._kit.db.read() as connection:
            found = connection.execute(statement).mappings().first()
        return None if found is None else Deployment.model_validate(dict(found))

    def scopes(self) -> tuple[str, ...]:
        """Every scope that ever had a champion."""
        with self._kit.db.read() as connection:
            return tuple(connection.scalars(select(DeploymentRow.scope).distinct().order_by(DeploymentRow.scope)))


def _columns() -> Select[Any]:
    return select(*DeploymentRow.__table__.columns)


def _latest(scope: str) -> Select[Any]:
    return _columns().where(DeploymentRow.scope == scope).order_by(DeploymentRow.version.desc()).limit(1)
