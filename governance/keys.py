"""Key providers: secrets in files of their own, or derived from one passphrase.

Theory. A key is 32 random bytes, one per use, so that losing or rotating one touches nothing else. ``FileKeyProvider``
keeps each in ``<folder>/<name>.key``, mode 0600 in a folder of mode 0700, outside the data home. A key is born once:
the bytes are written and synced to a temporary file, which is then linked to its name; ``link`` fails when the name
exists, so of two processes that start together both end up reading the same key, and a crash leaves no half key.
A file that others can read is no secret any more, and one of another length is not a key: both are refused, with the
way out in the message. ``DerivedKeyProvider`` derives all keys from a seed by scrypt (RFC 7914) and HKDF (RFC 5869),
for tests and for embedding.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path
from typing import Final

from governance.errors import KeyMaterialError
from governance.ports.keys import KeyName, KeyProvider

KEY_BYTES: Final = 32
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class FileKeyProvider(KeyProvider):
    """Keys in files that only their owner can read, made on first use."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is made with mode 0700 when it does not exist."""
        self._folder = folder
        self._keys: dict[KeyName, bytes] = {}

    def key(self, name: KeyName) -> bytes:
        """The key of that use; made, synced and kept on first use.

        Raises:
            KeyMaterialError: when the folder or file is open to others, unreadable or of the wrong length.

        """
        if name not in self._keys:
            self._keys[name] = self._load(name)
        return self._keys[name]

    def rotate(self, name: KeyName) -> tuple[str, str]:
        """Put a new key in the place of one, which stays beside it under its epoch; the old epoch and the new one.

        Processes that run keep the key that they read, so stop them first.

        Raises:
            KeyMaterialError: when the key cannot be read or replaced.

        """
        old, path = self.epoch(name), self._folder / f"{name.value}.key"
        try:
            path.rename(path.with_name(f"{name.value}.{old}.retired"))
        except OSError as error:
            raise KeyMaterialError(f"{path}: cannot be rotated ({error})") from error
        del self._keys[name]
        return old, self.epoch(name)

    def retired(self, name: KeyName) -> tuple[bytes, ...]:
        """The keys that were rotated out and are still beside it."""
        kept = sorted(self._folder.glob(f"{name.value}.*.retired"))
        return tuple(data for path in kept if len(data := path.read_bytes()) == KEY_BYTES)

    def _load(self, name: KeyName) -> bytes:
        path = self._folder / f"{name.value}.key"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_open(self._folder, "0700")
            if not path.exists():
                _create(path)
            _refuse_open(path, "0600")
            material = path.read_bytes()
        except OSError as error:
            raise KeyMaterialError(
                f"{path}: cannot be used as a key ({error}); make it readable by its owner"
            ) from error
        if len(material) != KEY_BYTES:
            raise KeyMaterialError(
                f"{path}: holds {len(material)} bytes and a key has {KEY_BYTES}; restore it from a backup, or remove "
                "it to start a new key (docs/compliance.md says what that loses)"
            )
        return material


class DerivedKeyProvider(KeyProvider):
    """All keys from one seed, the same on every machine that knows it."""

    def __init__(self, seed: bytes | str) -> None:
        """``seed`` is a passphrase or random bytes.

        Raises:
            KeyMaterialError: for an empty seed.

        """
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

        data = seed.encode() if isinstance(seed, str) else seed
        if not data:
            raise KeyMaterialError("the seed of the derived keys is empty: give a passphrase or random bytes")
        self._root = Scrypt(salt=b"tidemill:derived-keys", length=KEY_BYTES, n=2**14, r=8, p=1).derive(data)
        self._keys: dict[KeyName, bytes] = {}

    def key(self, name: KeyName) -> bytes:
        """The key of that use."""
        if name not in self._keys:
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

            expand = HKDFExpand(algorithm=SHA256(), length=KEY_BYTES, info=f"tidemill:{name.value}".encode())
            self._keys[name] = expand.derive(self._root)
        return self._keys[name]


def _refuse_open(path: Path, mode: str) -> None:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) and path.name.endswith(".key"):
        raise KeyMaterialError(f"{path}: is a link; put the key file itself there")
    if path.stat().st_mode & _OTHERS:
        raise KeyMaterialError(
            f"{path}: other users may read it (mode {stat.S_IMODE(path.stat().st_mode):04o}); run chmod {mode} {path}, "
            "and replace the key if it may have been seen"
        )


def _create(path: Path) -> None:
    """Write a new key so that the name appears only with all its bytes, and only once."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return  # another process made it first; its key is the key
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        draft.unlink()
