"""Who does what a command or an asset does: decided before anything else, bound for as long as it takes, written down.

An act that changes something stands in the audit before it begins, so a crash cannot hide it; one that fails leaves a
second event with the kind of its error. It stands in its tenant's chain where the command names a tenant that there is,
else in the installation's. Where no database was made yet there is no principal, and an act that only asks makes none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from governance.acting import INSTALLATION, Acting, acting, acts_as, audited
from governance.errors import RightsError, RoleDenied
from governance.policy.acts import act_of
from governance.records.principal import THE_SERVICE, Principal, Role, local_owner

if TYPE_CHECKING:
    from pipelines.ground import Ground
    from pipelines.settings import Settings

HANDLES = ("reviewer", "actor")
"""Options by which who looks or decides is named."""


@contextmanager
def doing(name: str, settings: Settings, *, tenant: str | None, token: str | None) -> Iterator[Acting]:
    """Do an act inside, as who may.

    Raises:
        TokenRefused: when a token is due and none is there, or it proves nobody.
        RoleDenied: when who asks does not hold a fitting role.

    """
    act = act_of(name)
    if act.open:
        yield acting()
        return
    if not act.changes and not _made(settings):
        with acts_as(Acting(_owner(settings) or _foreign(name), act.roles[0], name)) as who:
            yield who
        return
    from governance.authority import Authority
    from pipelines.ground import Ground

    def log(action: str, **detail: Any) -> None:
        with Ground(settings) as ground:
            _log(ground, tenant, action, name, detail)

    with Ground(settings) as ground:
        decided = Authority(ground.store, ground.clock, ground.ids).who(name, tenant, token, _owner(settings))
    # Nothing of the database is held open while the act runs: an erasure empties its log.
    with acts_as(decided) as who, written(log, changes=act.changes):
        yield who


def _log(ground: Ground, tenant: str | None, action: str, name: str, detail: dict[str, Any]) -> None:
    chain = tenant if tenant is not None and tenant in _tenants(ground) else INSTALLATION
    ground.store.audit.append(audited(ground.ids, ground.clock.now(), chain, action, f"act:{name}", detail))


@contextmanager
def written(log: Callable[..., None], *, changes: bool) -> Iterator[None]:
    """Write down that who acts now begins the act, and how it failed if it does."""
    if changes:
        log("act")
    try:
        yield
    except RightsError as error:
        log("act_refused", error=type(error).__name__)
        raise
    except Exception as error:
        if changes:
            log("act_failed", error=type(error).__name__)
        raise


@contextmanager
def asset(ground: Ground, name: str) -> Iterator[None]:
    """Make an asset inside: as the person whose command turns the loop in this process, else as the service."""
    who = acting()
    bound = who if who.act else Acting(THE_SERVICE, Role.SERVICE, f"asset {name}")
    named = f"asset {name}"

    def log(action: str, **detail: Any) -> None:
        _log(ground, None, action, named, detail)

    with acts_as(bound), written(log, changes=act_of(named).changes):
        yield


def handle(named: str | None) -> str:
    """The handle under which who acts is written: their own, or the one that the local owner names.

    Raises:
        RoleDenied: when somebody with a token names another.

    """
    who = acting().principal
    if named in {None, "", who.name}:
        return who.name
    if not who.is_local_owner:
        raise RoleDenied(f"{who.name} acts by their own token and cannot act as {named}")
    return str(named)


def _made(settings: Settings) -> bool:
    """Whether there is a database that could hold principals."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(settings.database)
    except ArgumentError:
        return True  # opening it says what is wrong
    return url.get_backend_name() != "sqlite" or not url.database or Path(url.database).exists()


def _owner(settings: Settings) -> Principal | None:
    """The account of this process, if the data home is its own, or would be."""
    uid, home = os.getuid(), settings.home
    return local_owner(uid) if uid == 0 or not home.exists() or home.stat().st_uid == uid else None


def _foreign(name: str) -> Principal:
    raise RoleDenied(f"{name}: this data home belongs to another account, and no principal was made there")


def _tenants(ground: Ground) -> set[str]:
    return {*ground.store.rights.tenants(), *ground.tenant_keys.by_key().values()}
