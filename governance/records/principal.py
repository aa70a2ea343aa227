"""Principals: who acts, in which roles, and the secrets by which a person proves it.

A person acts by a token; the service acts for itself (drains, schedules, the doors), in one role that nobody else
holds; and as long as an installation has made no principal, whoever owns its data home acts as a named local owner in
every role. A name is a handle that the installation gives, such as ``r-17``: it stands in the audit for good, so it is
never a person's real name or address.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import StringConstraints, model_validator

from governance.records.base import Digest, Record, UtcTime

Handle = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
"""Lower-case letters, digits, ``.``, ``_`` and ``-``."""


class Role(StrEnum):
    """In which role somebody acts."""

    ENGINEER = "engineer"
    """Runs cycles, imports, looks at runs as far as purposes allow."""
    REVIEWER = "reviewer"
    """Answers rights requests, records rights, judges masking, approves datasets."""
    RELEASE_MANAGER = "release_manager"
    """Promotes, rolls back, approves releases."""
    ADMIN = "admin"
    """Keys, tenants, principals; may approve what the other two may."""
    SERVICE = "service"
    """The installation itself."""


HUMAN_ROLES: Final = tuple(role for role in Role if role is not Role.SERVICE)
"""The roles that a person can hold."""


class PrincipalKind(StrEnum):
    """How a principal comes to act."""

    PERSON = "person"
    """By a token."""
    LOCAL_OWNER = "local_owner"
    """By owning the data home, where no principal was made yet."""
    SERVICE = "service"
    """By being this installation's own process."""


class Principal(Record):
    """Somebody who acts."""

    name: Handle
    kind: PrincipalKind
    roles: tuple[Role, ...]
    tenants: tuple[str, ...] | None = None
    """The tenants that they may act on; None: all, and what is no tenant's."""
    made_at: UtcTime | None = None

    @model_validator(mode="after")
    def _roles_fit_the_kind(self) -> Self:
        if not self.roles or len(set(self.roles)) != len(self.roles):
            raise ValueError("a principal holds at least one role, and each once")
        service = self.kind is PrincipalKind.SERVICE
        if service and self.roles != (Role.SERVICE,):
            raise ValueError("the service holds the role service and no other")
        if not service and Role.SERVICE in self.roles:
            raise ValueError("only the service holds the role service")
        return self

    @property
    def is_local_owner(self) -> bool:
        """Whether they act by owning the data home."""
        return self.kind is PrincipalKind.LOCAL_OWNER

    def covers(self, tenant_id: str | None) -> bool:
        """Whether they may act on the tenant; None: on what is no single tenant's."""
        return self.tenants is None or tenant_id in self.tenants


THE_SERVICE: Final = Principal(name="tidemill", kind=PrincipalKind.SERVICE, roles=(Role.SERVICE,))
"""This installation itself."""
RESERVED: Final = frozenset({THE_SERVICE.name})
"""Names that no person may have, beside those that begin with ``OWNER_PREFIX``."""
OWNER_PREFIX: Final = "local-owner-"


def local_owner(uid: int) -> Principal:
    """The account that owns the data home, in every role that a person can hold."""
    return Principal(name=f"{OWNER_PREFIX}{uid}", kind=PrincipalKind.LOCAL_OWNER, roles=HUMAN_ROLES)


class Token(Record):
    """A secret of a principal, known by its digest alone."""

    secret_digest: Digest
    """SHA-256 of the secret."""
    principal: Handle
    made_at: UtcTime
    until: UtcTime | None = None
    """The moment from which it opens nothing."""
    revoked_at: UtcTime | None = None

    @property
    def id(self) -> str:
        """What it is called without saying it."""
        return self.secret_digest[:12]

    def in_force(self, now: datetime) -> bool:
        """Whether it proves anything at ``now``."""
        return self.revoked_at is None and (self.until is None or now < self.until)
