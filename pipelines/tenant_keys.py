"""API keys of tenants, in one file beside the other keys: made at random, readable by its owner alone.

A process that serves asks ``LiveTenantKeys``: a key that is added, rotated or revoked in the file counts for it within
``RECHECK_S``, without a restart.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from filelock import FileLock

from governance.errors import KeyMaterialError

OTHERS = 0o077
RECHECK_S: Final = 1.0
"""How long a change of the file may go unnoticed by a process that serves."""
_log = logging.getLogger(__name__)


class TenantKeys:
    """The file ``tenants.json``: API key to tenant. A tenant may have several, so that keys rotate without a gap."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return self._path

    def by_key(self) -> dict[str, str]:
        """API key to tenant.

        Raises:
            KeyMaterialError: when the file is readable by others or not what it should be.

        """
        if not self._path.exists():
            return {}
        if self._path.stat().st_mode & OTHERS:
            raise KeyMaterialError(f"{self._path}: readable by other users; run: chmod 600 {self._path}")
        try:
            held = json.loads(self._path.read_text())
        except (ValueError, RecursionError) as error:
            raise KeyMaterialError(f"{self._path}: not JSON: {error}") from error
        if not isinstance(held, dict) or not all(key and isinstance(value, str) for key, value in held.items()):
            raise KeyMaterialError(f"{self._path}: must be an object of API key to tenant")
        if not all(key.isascii() and key.isprintable() and " " not in key for key in held):
            raise KeyMaterialError(
                f"{self._path}: a key must be printable ASCII without spaces: headers carry no other"
            )
        return held

    def of(self, tenant_id: str) -> str:
        """An API key of the tenant, made now if there is none."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self._path.with_suffix(".lock")):
            held = self.by_key()
            known = next((key for key, tenant in held.items() if tenant == tenant_id), None)
            if known is not None:
                return known
            made = f"tm_{secrets.token_urlsafe(24)}"
            self._write({**held, made: tenant_id})
            return made

    def _write(self, held: dict[str, str]) -> None:
        partial = self._path.with_suffix(".new")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(held, indent=1))
        partial.replace(self._path)


class LiveTenantKeys:
    """The keys in force while a process serves: API key to tenant, the same object until something has changed.

    Theory. A call that finds the last look ``RECHECK_S`` old reads the file again, whole: it is small, and a time
    stamp that is as coarse as the file system makes it need not be trusted. So a change is in force for every request
    that comes more than ``RECHECK_S`` after it. A file that cannot be read (half written, open to others) is no
    decision about keys: those read before stay in force, and a warning names the file and the fault, once for each
    fault. A file that is gone or holds no key is one: nothing is accepted. Calls come from one thread.
    """

    def __init__(self, keys: TenantKeys, now: Callable[[], float] = time.monotonic) -> None:
        """``now`` gives seconds that only grow.

        Raises:
            KeyMaterialError: when the file is wrong at the start: there are no earlier keys to go on with.

        """
        self._keys = keys
        self._now = now
        self._looked_at = now()
        self._held = keys.by_key()
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
            held = self._keys.by_key()
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
        if not self._held:
            _log.warning(
                "%s: no tenant key; every span will be refused until `tidemill up` issues one", self._keys.path
            )
