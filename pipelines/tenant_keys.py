"""API keys of tenants, in one file beside the other keys: made at random, readable by its owner alone."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from filelock import FileLock

from governance.errors import KeyMaterialError

OTHERS = 0o077


class TenantKeys:
    """The file ``tenants.json``: API key to tenant. A tenant may have several, so that keys rotate without a gap."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path

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
        except ValueError as error:
            raise KeyMaterialError(f"{self._path}: not JSON: {error}") from error
        if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
            raise KeyMaterialError(f"{self._path}: must be an object of API key to tenant")
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
