"""API keys of tenants, in one file beside the other keys: made at random, readable by its owner alone.

The file ``tenants.json`` is an object of API key to tenant, or to ``{"tenant", "until", "made", "use"}``. A tenant may
have several keys for each use (``KeyUse``; telemetry when none is named), and one that has an ``until`` (UTC) is in
force up to that moment, so that keys rotate without a gap. Each change is written beside the file, synced and moved
into its place, under a lock: a reader sees the keys before or the keys after, and two changes at once are both kept. A
key is shown when it is made and never again: afterwards it is known by its id, the beginning of its SHA-256.

A process that serves asks ``LiveTenantKeys``: a key that is added, rotated or revoked in the file counts for it within
``RECHECK_S``, without a restart.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from filelock import FileLock

from governance.errors import KeyMaterialError, NotFound
from governance.ports.clock import Clock, SystemClock
from ingestion.credentials import KeyUse

OTHERS = 0o077
RECHECK_S: Final = 1.0
"""How long a change of the file may go unnoticed by a process that serves."""
ID_DIGITS: Final = 12
_SHOWN: Final = 6
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_log = logging.getLogger(__name__)


class TenantKey(NamedTuple):
    """One key of the file."""

    key: str
    tenant: str
    until: datetime | None = None
    """The moment from which it opens nothing; None for no such moment."""
    made: datetime | None = None
    use: KeyUse = KeyUse.TELEMETRY

    @property
    def id(self) -> str:
        """What the key is called without saying it."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:ID_DIGITS]

    @property
    def shown(self) -> str:
        """As much of the key as its holder needs to recognise it."""
        return f"{self.key[:_SHOWN]}..." if len(self.key) > 4 * _SHOWN else "..."

    def is_for(self, tenant_id: str, use: KeyUse) -> bool:
        """Whether it is a tenant's key for a use."""
        return (self.tenant, self.use) == (tenant_id, use)

    def in_force(self, now: datetime) -> bool:
        """Whether it opens anything."""
        return self.until is None or now < self.until


class TenantKeys:
    """The file ``tenants.json``."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        """Nothing is read yet."""
        self._path = path
        self._clock = clock or SystemClock()

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return self._path

    def by_key(self, use: KeyUse = KeyUse.TELEMETRY) -> dict[str, str]:
        """API key to tenant, of the keys for one use that are in force now.

        Raises:
            KeyMaterialError: when the file is readable by others or not what it should be.

        """
        now = self._clock.now()
        return {entry.key: entry.tenant for entry in self.entries() if entry.in_force(now) and entry.use is use}

    def entries(self) -> tuple[TenantKey, ...]:
        """Every key of the file, in force or not.

        Raises:
            KeyMaterialError: as ``by_key``.

        """
        if not self._path.exists():
            return ()
        if self._path.stat().st_mode & OTHERS:
            raise KeyMaterialError(f"{self._path}: readable by other users; run: chmod 600 {self._path}")
        try:
            held = json.loads(self._path.read_text())
        except (ValueError, RecursionError) as error:
            raise KeyMaterialError(f"{self._path}: not JSON: {error}") from error
        if not isinstance(held, dict) or not all(held):
            raise KeyMaterialError(f"{self._path}: must be an object of API key to tenant")
        if not all(key.isascii() and key.isprintable() and " " not in key for key in held):
            raise KeyMaterialError(
                f"{self._path}: a key must be printable ASCII without spaces: headers carry no other"
            )
        return tuple(self._entry(key, value) for key, value in held.items())

    def of(self, tenant_id: str) -> str:
        """An API key of the tenant for this installation's own clients, made now if there is none that stays."""
        with self._locked():
            held, now = self.entries(), self._clock.now()
            mine = [entry for entry in held if entry.is_for(tenant_id, KeyUse.TELEMETRY) and entry.in_force(now)]
            staying = [entry.key for entry in mine if entry.until is None]
            return staying[0] if staying else self._add(held, tenant_id)

    def add(self, tenant_id: str, use: KeyUse = KeyUse.TELEMETRY) -> TenantKey:
        """A new key of a tenant, beside those that it has.

        Raises:
            KeyMaterialError: for a name that no tenant can have.

        """
        _check_name(tenant_id)
        with self._locked():
            return self._found(self._add(self.entries(), tenant_id, use))

    def rotate(self, tenant_id: str, until: datetime, use: KeyUse = KeyUse.TELEMETRY) -> TenantKey:
        """A new key of a tenant; those for the same use end at ``until``, or earlier where that was settled before.

        Raises:
            NotFound: when the tenant has no key in force.

        """
        with self._locked():
            held, now = self.entries(), self._clock.now()
            if not any(entry.is_for(tenant_id, use) and entry.in_force(now) for entry in held):
                raise NotFound(
                    f"tenant {tenant_id!r} has no key for {use} in force to rotate; see: tidemill tenant keys add"
                )
            mine = [entry for entry in held if entry.is_for(tenant_id, use)]
            ending = [entry._replace(until=_earlier(entry.until, until)) for entry in mine]
            others = [entry for entry in held if entry not in mine]
            return self._found(self._add((*others, *ending), tenant_id, use))

    def revoke(self, tenant_id: str, key_id: str) -> TenantKey:
        """Take one key of a tenant, by the beginning of its id, out of the file.

        Raises:
            NotFound: when not exactly one key of the tenant has such an id.

        """
        with self._locked():
            held = self.entries()
            found = [entry for entry in held if entry.tenant == tenant_id and key_id and entry.id.startswith(key_id)]
            if len(found) != 1:
                raise NotFound(f"{len(found)} keys of tenant {tenant_id!r} have an id that begins with {key_id!r}")
            self._write([entry for entry in held if entry != found[0]])
            return found[0]

    def _add(self, held: tuple[TenantKey, ...], tenant_id: str, use: KeyUse = KeyUse.TELEMETRY) -> str:
        now = self._clock.now()
        made = TenantKey(f"tm_{secrets.token_urlsafe(24)}", tenant_id, None, now, use)
        self._write([*(entry for entry in held if entry.in_force(now)), made])
        return made.key

    def _found(self, key: str) -> TenantKey:
        return next(entry for entry in self.entries() if entry.key == key)

    def _locked(self) -> FileLock:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return FileLock(self._path.with_suffix(".lock"))

    def _entry(self, key: str, value: Any) -> TenantKey:
        if isinstance(value, str):
            return TenantKey(key, value)
        try:
            until, made = (None if value.get(name) is None else _moment(value[name]) for name in ("until", "made"))
            if isinstance(value["tenant"], str):
                return TenantKey(key, value["tenant"], until, made, KeyUse(value.get("use", KeyUse.TELEMETRY)))
        except (AttributeError, KeyError, TypeError, ValueError):
            pass
        raise KeyMaterialError(
            f"{self._path}: each key stands for a tenant's name, or an object of tenant, and if need be until and use"
        )

    def _write(self, held: list[TenantKey]) -> None:
        partial = self._path.with_suffix(".new")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({entry.key: _plain(entry) for entry in held}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _plain(entry: TenantKey) -> Any:
    moments = {"until": entry.until, "made": entry.made}
    told = {name: moment.isoformat() for name, moment in moments.items() if moment is not None}
    told |= {} if entry.use is KeyUse.TELEMETRY else {"use": entry.use.value}
    return {"tenant": entry.tenant, **told} if told else entry.tenant


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _earlier(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else min(one, other)


def _check_name(tenant_id: str) -> None:
    if not _NAME.fullmatch(tenant_id):
        raise KeyMaterialError(
            f"{tenant_id[:80]!r} cannot be a tenant's name: letters, digits, '.', '_' and '-', at most 64"
        )


class LiveTenantKeys:
    """The keys in force while a process serves: API key to tenant, the same object until something has changed.

    Theory. A call that finds the last look ``RECHECK_S`` old reads the file again, whole: it is small, and a time
    stamp that is as coarse as the file system makes it need not be trusted. So a change is in force for every request
    that comes more than ``RECHECK_S`` after it. A file that cannot be read (half written, open to others) is no
    decision about keys: those read before stay in force, and a warning names the file and the fault, once for each
    fault. A file that is gone or holds no key is one: nothing is accepted. Calls come from one thread.
    """

    def __init__(
        self, keys: TenantKeys, now: Callable[[], float] = time.monotonic, *, use: KeyUse = KeyUse.TELEMETRY
    ) -> None:
        """``now`` gives seconds that only grow; ``use`` is what the keys are for.

        Raises:
            KeyMaterialError: when the file is wrong at the start: there are no earlier keys to go on with.

        """
        self._keys = keys
        self._now = now
        self._looked_at = now()
        self._use = use
        self._held = keys.by_key(use)
        self._fault = ""
        self._warn_of_none()

    def __call__(self) -> Mapping[str, str]:
        """The keys in force."""
        now = self._now()
        if now - self._looked_at >= RECHECK_S:
            self._looked_at = now
            self._look()
        return self._held

    def _look(self) -> None:
        try:
            held = self._keys.by_key(self._use)
        except (KeyMaterialError, OSError) as error:
            if str(error) != self._fault:
                self._fault = str(error)
                _log.warning("%s; the tenant keys that were read before stay in force (%d)", error, len(self._held))
            return
        self._fault = ""
        if held != self._held:
            self._held = held
            self._warn_of_none()

    def _warn_of_none(self) -> None:
        if not self._held and self._use is KeyUse.TELEMETRY:
            _log.warning(
                "%s: no tenant key; every span will be refused until `tidemill up` issues one", self._keys.path
            )
