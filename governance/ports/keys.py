"""Keys: one secret per use, never one for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum


class KeyName(StrEnum):
    """What a key is for. Losing or rotating each one means something different (docs/compliance.md)."""

    SPOOL = "spool"
    """Wraps the one-time keys of spool segments. Losing it loses what has not been drained yet."""
    SURROGATE = "surrogate"
    """Makes surrogates. Losing or rotating it opens a new epoch: old and new masked values no longer join."""
    SUBJECT = "subject"
    """Hashes people's ids. Losing it makes every stored subject unfindable, and so unerasable by name."""
    BLOCK = "block"
    """Names message bodies. Losing it stores a repeated message once more."""
    SIGNING = "signing"
    """Signs certificates and checkpoints of the audit. What an older key signed is trusted while that key is kept."""


class KeyProvider(ABC):
    """Gives key material."""

    @abstractmethod
    def key(self, name: KeyName) -> bytes:
        """32 bytes for that use.

        Raises:
            KeyMaterialError: when the key is missing, malformed or readable by other users.

        """

    def retired(self, name: KeyName) -> tuple[bytes, ...]:  # noqa: ARG002 - for providers that keep some
        """The keys that this one took the place of: they make nothing, and prove what they once made."""
        return ()

    def epoch(self, name: KeyName) -> str:
        """The name of the time in which this key is in use: it changes with the key, and tells nothing of it."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = f"tidemill:epoch:{name.value}".encode()
        return HKDF(algorithm=SHA256(), length=8, salt=None, info=info).derive(self.key(name)).hex()

    def for_tenant(self, name: KeyName, tenant_id: str) -> bytes:
        """A key of that use for one tenant, derived by HKDF-SHA256 (RFC 5869), so tenants never share values."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        info = f"tidemill:{name.value}:{tenant_id}".encode()
        return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self.key(name))
