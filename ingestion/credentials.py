"""Whose spans these are: API keys, held as digests and compared in constant time.

The keys come from a mapping that stays as it is, or from a source that is asked on every request, so that a key that
is added, rotated or revoked counts without a restart. A source gives the same object until something has changed: the
digests are made again only then. How stale a source may be is its own promise.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from enum import StrEnum

KeySource = Callable[[], Mapping[str, str]]
"""Gives the API keys in force, each with its tenant."""


class KeyUse(StrEnum):
    """What an API key is for. A key that every agent carries must not say what people allow."""

    TELEMETRY = "telemetry"
    """Spans, logs and feedback, and the gateway."""
    CONSENT = "consent"
    """Only what people allow and forbid."""


class Credentials:
    """API keys and whose they are."""

    def __init__(self, tenant_keys: Mapping[str, str] | KeySource) -> None:
        """``tenant_keys`` maps each API key to its tenant, or gives the mapping in force."""
        self._tenant_keys = tenant_keys
        self._held: Mapping[str, str] | None = None
        self._known: list[tuple[bytes, str]] = []

    def tenant(self, key: str) -> str | None:
        """The tenant of a key; every known key is compared, whichever matches."""
        offered = hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()
        found = None
        for known, tenant in self._current():
            if hmac.compare_digest(offered, known):
                found = tenant
        return found

    def _current(self) -> list[tuple[bytes, str]]:
        held = self._tenant_keys if isinstance(self._tenant_keys, Mapping) else self._tenant_keys()
        if held is not self._held:
            self._known = [(hashlib.sha256(key.encode()).digest(), tenant) for key, tenant in held.items()]
            self._held = held
        return self._known


def bearer(header: str) -> str:
    """The key in an ``Authorization`` header; empty where there is none."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
