"""Signatures: Ed25519 (RFC 8032) by the key provider's signing key, over a label and bytes.

The label names what is signed, so that a signature over one kind of thing never passes for one over another. The
signature carries its public key, so anybody can check that the bytes are the ones that were signed; that the key is one
of ours is a second question, answered by the keys that the verifier trusts.
"""

from __future__ import annotations

from collections.abc import Collection

from governance.errors import SignatureError
from governance.ports.keys import KeyName, KeyProvider
from governance.records.signature import Signature


def sign(keys: KeyProvider, label: str, data: bytes) -> Signature:
    """The signature over ``label`` and ``data``: the same bytes and key give the same signature."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(keys.key(KeyName.SIGNING))
    public = private.public_key().public_bytes_raw().hex()
    return Signature(public_key=public, value=private.sign(_signed(label, data)).hex())


def public_key(keys: KeyProvider) -> str:
    """The public half of the signing key: what a verifier elsewhere has to know."""
    return _public(keys.key(KeyName.SIGNING))


def public_keys(keys: KeyProvider) -> frozenset[str]:
    """The public halves of the signing key and of those that it took the place of: what this installation trusts."""
    return frozenset(map(_public, (keys.key(KeyName.SIGNING), *keys.retired(KeyName.SIGNING))))


def verify(signature: Signature, label: str, data: bytes, trusted: Collection[str]) -> None:
    """Let a good signature pass.

    Raises:
        SignatureError: when a key signed that is not trusted, or the bytes are not the ones that were signed.

    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if signature.public_key not in trusted:
        raise SignatureError(f"{label}: signed by the key {signature.public_key[:16]}, which is not trusted here")
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
    try:
        public.verify(bytes.fromhex(signature.value), _signed(label, data))
    except InvalidSignature as error:
        raise SignatureError(f"{label}: what is signed is not what stands here") from error


def _public(private: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()


def _signed(label: str, data: bytes) -> bytes:
    return label.encode() + b"\0" + data
