"""Who may act: principals made and ended, tokens proved, and the decision on one act.

Theory. A token is 256 random bits; it is shown once and kept as its SHA-256, so a copy of the database opens nothing.
While an installation has no principal, the account that owns its data home is its local owner and acts in every role,
by name. From the first principal on, which must be an admin of all tenants, every act needs a token whose principal
holds a role that the act is for (``governance.policy.acts``) and covers the tenant. The local owner comes back for one
thing alone: when no admin's token is in force, to make or rotate one, since nobody else could.

``who`` decides, and writes what it refuses into the audit: nobody tries tokens or roles unseen.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from governance.acting import INSTALLATION, Acting, audited
from governance.errors import NotFound, RecordError, RightsError, RoleDenied, TokenRefused
from governance.policy.acts import PRINCIPAL_ACTS, Act, act_of
from governance.ports.clock import Clock, IdFactory
from governance.records.audit import AuditEvent
from governance.records.principal import OWNER_PREFIX, RESERVED, THE_SERVICE, Principal, PrincipalKind, Role, Token
from governance.store import Store

PREFIX: Final = "tmp_"
"""What a token begins with, so that scanners for secrets can know it."""
NOBODY: Final = "nobody"
"""Who is written down for an act without a token that proves somebody."""


class Authority:
    """Decides on acts of one store."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory) -> None:
        """Nothing is read yet."""
        self._store = store
        self._clock = clock
        self._ids = ids

    def who(self, name: str, tenant_id: str | None, secret: str | None, owner: Principal | None) -> Acting:
        """Who acts, decided for the act ``name`` on a tenant (None: on no single one).

        ``owner`` is the account that owns the data home, where that is who asks.

        Raises:
            TokenRefused: when a token is due and none is there, or it proves nobody.
            RoleDenied: when they do not hold a role that the act is for, or do not cover the tenant.

        """
        act = act_of(name)
        if act.services:
            return Acting(THE_SERVICE, Role.SERVICE, name)
        tried: Principal | None = None
        try:
            tried = self._principal(name, secret, owner)
            return _fit(tried, name, act, tenant_id)
        except RightsError as error:
            self._refused(name, tried, error)
            raise

    def enrol(
        self, name: str, roles: tuple[Role, ...], tenants: tuple[str, ...] | None, until: datetime | None
    ) -> tuple[Principal, str]:
        """Make a principal; the secret of their first token, which is not kept.

        Raises:
            RecordError: for a name that is reserved, or a first principal who could make no other.
            Conflict: when there is one of that name.

        """
        if name in RESERVED or name.startswith(OWNER_PREFIX):
            raise RecordError(f"principal {name}: this name is the installation's own")
        now = self._clock.now()
        told = {"name": name, "kind": PrincipalKind.PERSON, "roles": roles, "tenants": tenants, "made_at": now}
        made = Principal.parse(told, f"principal {name}")
        with self._store.transaction():
            self._store.principals.lock()
            if not self._store.principals.any() and not _rules(made):
                raise RecordError(
                    f"principal {name}: the first one has to be an admin of all tenants, to make the others"
                )
            self._store.principals.put(made)
            secret = self._token(name, until)
            detail = {"roles": [role.value for role in roles], "tenants": None if tenants is None else list(tenants)}
            self._log("principal_added", name, detail)
        return made, secret

    def rotate(self, name: str, old_until: datetime, until: datetime | None) -> str:
        """A new token of a principal; those that they have end at ``old_until``, or earlier. Its secret.

        Raises:
            NotFound: when there is no such principal.

        """
        self._store.principals.get(name)
        with self._store.transaction():
            self._store.principals.lock()
            self._store.principals.end_tokens(name, old_until)
            secret = self._token(name, until)
            self._log("principal_rotated", name, {"old_until": old_until.isoformat()})
        return secret

    def term(self, name: str) -> datetime | None:
        """Until when a token lasts that follows those in force: as long from now as the longest; None without end."""
        now = self._clock.now()
        held = [one for one in self._store.principals.tokens(name) if one.in_force(now)]
        spans = [one.until - one.made_at for one in held if one.until is not None]
        return now + max(spans) if spans and len(spans) == len(held) else None

    def revoke(self, name: str, token_id: str | None = None) -> tuple[Token, ...]:
        """End a principal's tokens at once, or the one whose id begins so; which they were.

        Raises:
            NotFound: when there is no such principal, or not exactly one such token in force.
            RecordError: when nobody could make or end principals any more.

        """
        self._store.principals.get(name)
        with self._store.transaction():
            self._store.principals.lock()  # of two who end each other's tokens, the second sees what the first did
            return self._revoke(name, token_id)

    def _revoke(self, name: str, token_id: str | None) -> tuple[Token, ...]:
        now = self._clock.now()
        held = [one for one in self._store.principals.tokens(name) if one.in_force(now)]
        ended = [one for one in held if token_id is None or (token_id and one.id.startswith(token_id))]
        if token_id is not None and len(ended) != 1:
            raise NotFound(f"{len(ended)} tokens in force of principal {name} have an id that begins with {token_id!r}")
        gone = {one.secret_digest for one in ended}
        if self._admin_tokens(now) and not self._admin_tokens(now) - gone:
            raise RecordError(f"principal {name}: theirs is the last token of an admin; make another admin first")
        self._store.principals.revoke(tuple(gone), now)
        self._log("principal_revoked", name, {"tokens": sorted(one.id for one in ended)})
        return tuple(ended)

    def _principal(self, name: str, secret: str | None, owner: Principal | None) -> Principal:
        known = self._store.principals.any()
        if secret is None:
            lost = known and name in PRINCIPAL_ACTS and not self._admin_tokens(self._clock.now())
            if owner is not None and (not known or lost):
                return owner
            raise TokenRefused(
                f"{name}: this installation has principals, so an act needs a token; set TIDEMILL_TOKEN or pass "
                "--token-stdin"
                if known
                else f"{name}: this data home belongs to another account, and no principal was made there"
            )
        token = self._store.principals.token(_digest(secret))
        if token is None or not token.in_force(self._clock.now()):
            raise TokenRefused(f"{name}: the token is {'unknown' if token is None else 'expired or revoked'}")
        return self._store.principals.get(token.principal)

    def _admin_tokens(self, now: datetime) -> set[str]:
        admins = {one.name for one in self._store.principals.list() if _rules(one)}
        return {
            one.secret_digest
            for one in self._store.principals.tokens()
            if one.principal in admins and one.in_force(now)
        }

    def _token(self, name: str, until: datetime | None) -> str:
        secret, now = PREFIX + secrets.token_urlsafe(32), self._clock.now()
        if until is not None and until <= now:
            raise RecordError(f"principal {name}: a token that ends at {until.isoformat()} would prove nobody")
        self._store.principals.add_token(Token(secret_digest=_digest(secret), principal=name, made_at=now, until=until))
        return secret

    def _log(self, action: str, target: str, detail: Mapping[str, object]) -> None:
        event = audited(self._ids, self._clock.now(), INSTALLATION, action, f"principal:{target}", detail)
        self._store.audit.append(event)

    def _refused(self, name: str, tried: Principal | None, error: RightsError) -> None:
        event = AuditEvent(
            id=self._ids.hex(16),
            tenant_id=INSTALLATION,
            actor=tried.name if tried else NOBODY,
            role=",".join(tried.roles) if tried else NOBODY,
            action="act_refused",
            target=f"act:{name}",
            detail={"error": type(error).__name__},
            at=self._clock.now(),
        )
        self._store.audit.append(event)


def _fit(principal: Principal, name: str, act: Act, tenant_id: str | None) -> Acting:
    role = next((one for one in act.roles if one in principal.roles), None)
    if role is None:
        raise RoleDenied(
            f"{name}: this act is for {' or '.join(act.roles)}; {principal.name} is {' and '.join(principal.roles)}"
        )
    if not principal.covers(tenant_id):
        about = f"tenant {tenant_id}" if tenant_id else "what is no single tenant's"
        raise RoleDenied(f"{name}: {principal.name} may not act on {about}")
    return Acting(principal, role, name)


def _rules(principal: Principal) -> bool:
    return Role.ADMIN in principal.roles and principal.tenants is None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
