"""Who acts: bound once at the door (a command, an asset, a request) and read wherever an act is written down.

Theory. An act goes through many layers, and each of them may write to the audit. Who acts is the same for all of them,
so it is a context (PEP 567) and no argument: a layer cannot forget to hand it on, and a thread or a process that
nobody bound acts as the service. That is the weakest principal there is: it holds no human role, and it reads for
``comply`` only while it says which duty it fulfils.

``complying`` is that statement: inside, the service acts for a rights request, a hold, retention or the audit, and the
audit names the duty and who asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from governance.errors import RoleDenied
from governance.ports.clock import IdFactory
from governance.records.audit import AuditEvent
from governance.records.principal import THE_SERVICE, Principal, Role

INSTALLATION: Final = "-"
"""The chain of acts that are about no single tenant; no tenant can have this name."""
COMPLY_ROLES: Final = frozenset({Role.REVIEWER, Role.ADMIN})
"""The human roles that may read for ``comply``."""


@dataclass(frozen=True)
class Acting:
    """Who acts, in which of their roles, and on what."""

    principal: Principal
    role: Role
    act: str = ""
    """The act's name in ``governance.policy.acts``; empty where the service works for itself."""
    duty: str = ""
    """What a read for ``comply`` by the service is for."""
    asked_by: str = ""
    """On whose word the service does its duty."""

    @property
    def may_comply(self) -> bool:
        """Whether they may read for ``comply``."""
        return self.role in COMPLY_ROLES or (self.role is Role.SERVICE and bool(self.duty))


_BY_ITSELF: Final = Acting(THE_SERVICE, Role.SERVICE)
_CURRENT: Final[ContextVar[Acting]] = ContextVar("acting", default=_BY_ITSELF)


def acting() -> Acting:
    """Who acts now."""
    return _CURRENT.get()


@contextmanager
def acts_as(who: Acting) -> Iterator[Acting]:
    """Bind who acts inside.

    Raises:
        RoleDenied: for a role that the principal does not hold.

    """
    if who.role not in who.principal.roles:
        raise RoleDenied(f"{who.act or 'an act'}: {who.principal.name} does not hold the role {who.role}")
    before = _CURRENT.set(who)
    try:
        yield who
    finally:
        _CURRENT.reset(before)


@contextmanager
def complying(duty: str) -> Iterator[Acting]:
    """The service fulfils a duty inside, on the word of who acts now.

    ``duty`` names it: a rights request by its id, ``retention``, ``audit``.
    """
    before = acting()
    asked_by = before.asked_by or ("" if before.principal == THE_SERVICE else before.principal.name)
    with acts_as(Acting(THE_SERVICE, Role.SERVICE, before.act, duty, asked_by)) as who:
        yield who


def require_comply(what: str) -> None:
    """Refuse a read for ``comply`` to who may not.

    Raises:
        RoleDenied: saying who may.

    """
    who = acting()
    if not who.may_comply:
        raise RoleDenied(
            f"{what}: a read for `comply` is a reviewer's or an admin's, or the service's on a duty that it names; "
            f"{who.principal.name} acts as {who.role}"
        )


def audited(  # noqa: PLR0917 - an event's fields, in its order
    ids: IdFactory,
    at: datetime,
    tenant_id: str,
    action: str,
    target: str,
    detail: Mapping[str, Any] | None = None,
    *,
    actor: str = "",
) -> AuditEvent:
    """An audit event of who acts now; ``actor``: the handle that they gave where it is another (``--reviewer``)."""
    who = acting()
    said = dict(detail or {})
    if who.duty:
        said |= {"duty": who.duty} | ({"asked_by": who.asked_by} if who.asked_by else {})
    return AuditEvent(
        id=ids.hex(16),
        tenant_id=tenant_id,
        actor=actor or who.principal.name,
        role=who.role.value,
        action=action,
        target=target,
        detail=said,
        at=at,
    )
