"""Sealing: bytes under a named key, bound to what they are (AES-256-GCM).

A sealed value opens only with the same key and the same label, so no file can be put in another's place.
"""

from __future__ import annotations

import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ingestion.errors import SpoolError

NONCE = 12


def seal(key: bytes, label: str, data: bytes) -> bytes:
    """``data`` encrypted and authenticated together with ``label``."""
    nonce = secrets.token_bytes(NONCE)
    return nonce + AESGCM(key).encrypt(nonce, data, label.encode())


def unseal(key: bytes, label: str, sealed: bytes) -> bytes:
    """The inverse of ``seal``.

    Raises:
        SpoolError: when the key, the label or the bytes are not the ones that were sealed.

    """
    try:
        return AESGCM(key).decrypt(sealed[:NONCE], sealed[NONCE:], label.encode())
    except (InvalidTag, ValueError) as error:
        raise SpoolError(f"{label} does not open: the key or the bytes are not the ones that sealed it") from error
