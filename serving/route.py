"""From a scope's name to what answers for it now: the champion's release and the name its weights are served under.

The deployment table is the truth and is read again when what is remembered is older than ``FRESH_SECONDS``. A route
that cannot be read again is not used any longer: a gateway would rather answer 503 than serve a release that may have
been withdrawn or suspended, and the release that did answer stands on every response.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from governance.errors import TidemillError
from governance.ports.clock import Clock
from governance.records.base import Record
from governance.records.release import Deployment, ReleaseBundle
from serving.errors import RouteUnavailable, UnknownScope
from serving.runtime import served_model

FRESH_SECONDS = 1.0


class Deployments(Protocol):
    """The part of the store that says which release is champion."""

    def current(self, scope: str) -> Deployment | None:
        """The newest entry of the scope's history."""


class Releases(Protocol):
    """The part of the store that holds releases."""

    def get(self, digest: str) -> ReleaseBundle:
        """The release of that digest."""

    def suspended(self, digest: str) -> str | None:
        """Why it answers nobody; None where it may answer."""


class Route(Record):
    """What answers for a scope."""

    scope: str
    version: int
    release_digest: str
    served_name: str


class Routes:
    """Resolves scopes; safe to share between threads."""

    def __init__(
        self, deployments: Deployments, releases: Releases, scopes: Callable[[], Sequence[str]], clock: Clock
    ) -> None:
        """``scopes`` names what may be asked for."""
        self._deployments, self._releases, self._scopes, self._clock = deployments, releases, scopes, clock
        self._kept: dict[str, tuple[datetime, Route]] = {}
        self._lock = threading.Lock()

    def names(self) -> tuple[str, ...]:
        """The scopes that have a champion."""
        return tuple(sorted(name for name in self._scopes() if self._deployments.current(name) is not None))

    def resolve(self, scope: str, *, fresh: bool = False) -> Route:
        """The scope's route; ``fresh`` reads it again whatever its age.

        Raises:
            UnknownScope: no champion is deployed under that name.
            RouteUnavailable: the table or the release cannot be read, or the champion is suspended.

        """
        now = self._clock.now()
        with self._lock:
            kept = self._kept.get(scope)
        if kept is not None and not fresh and now - kept[0] <= timedelta(seconds=FRESH_SECONDS):
            return kept[1]
        route = self._read(scope, kept[1] if kept else None)
        with self._lock:
            newest = self._kept.get(scope)
            if newest is None or newest[1].version <= route.version:
                self._kept[scope] = (now, route)
        return route

    def _read(self, scope: str, last: Route | None) -> Route:
        try:
            current = self._deployments.current(scope) if scope in self._scopes() else None
            suspended = None if current is None else self._releases.suspended(current.release_digest)
            same = current is not None and last is not None and last.version == current.version
            bundle = None if current is None or same else self._releases.get(current.release_digest)
        except TidemillError as error:
            raise RouteUnavailable(f"the deployment of {scope} cannot be read: {error}") from error
        if suspended is not None:
            raise RouteUnavailable(f"the champion of {scope} is suspended: {suspended}")
        if same and last is not None:
            return last
        if current is None or bundle is None:
            raise UnknownScope(f"no champion is deployed for {scope}")
        return Route(
            scope=scope,
            version=current.version,
            release_digest=current.release_digest,
            served_name=served_model(bundle),
        )


def tenants_of(scope: str) -> frozenset[str]:
    """The tenants in a scope's name."""
    return frozenset(scope.partition("@")[2].split("+"))
