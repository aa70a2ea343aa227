"""What an erasure that is under way has to remember: what it looks for, and what was held before.

Once the person's words are deleted, nobody could say what a rescan has to look for. So the needles are written down
before anything is, sealed (AES-256-GCM) under a key of that request, and the file goes with the certificate. A run that
was broken off and is taken up again looks for the same words and knows the same numbers.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from governance.errors import RecordError
from governance.ports.keys import KeyName, KeyProvider
from governance.records.base import Record, digest_bytes
from governance.records.erasure import ErasureRecipient
from governance.rescan.needles import Needles

NONCE: Final = 12


class Before(Record):
    """One place before the erasure."""

    place: str
    held: int
    found: int


class Work(Record):
    """What is remembered."""

    needles: Needles
    before: tuple[Before, ...]
    recipients: tuple[ErasureRecipient, ...] = ()
    """Who was given rows of the person: the rows say so, and they are deleted."""


class ErasureWork:
    """A folder of sealed files, one for each erasure under way."""

    def __init__(self, folder: Path, keys: KeyProvider) -> None:
        """The folder is made with the first file in it."""
        self._folder, self._keys = folder, keys

    def save(self, request_id: str, work: Work) -> Work:
        """Write it down, durably, whole or not at all; what stands, which is the first of two runs at once."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        path, nonce = self._path(request_id), secrets.token_bytes(NONCE)
        sealed = AESGCM(self._key(request_id)).encrypt(nonce, json.dumps(work.plain()).encode(), path.name.encode())
        half = path.with_suffix(f".{secrets.token_hex(8)}")
        self._write(half, nonce + sealed)
        try:
            path.hardlink_to(half)
        except (FileExistsError, FileNotFoundError):  # another run was first, or has ended meanwhile
            return self.load(request_id) or work
        finally:
            half.unlink(missing_ok=True)
        return work

    def _write(self, path: Path, data: bytes) -> None:
        for last in (False, False, True):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                break
            except FileNotFoundError:  # another run took the empty folder away
                if last:
                    raise
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def load(self, request_id: str) -> Work | None:
        """What was written down; None where nothing was.

        Raises:
            RecordError: when it does not open under the key of now.

        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        path = self._path(request_id)
        if not path.exists():
            return None
        sealed = path.read_bytes()
        try:
            opened = AESGCM(self._key(request_id)).decrypt(sealed[:NONCE], sealed[NONCE:], path.name.encode())
        except (InvalidTag, ValueError) as error:
            raise RecordError(
                f"{path.name} does not open: restore the spool key that sealed it, or remove it"
            ) from error
        return Work.model_validate_json(opened)

    def drop(self, request_id: str) -> None:
        """Forget it, and the folder with the last of them; idempotent."""
        path = self._path(request_id)
        for left in (path, *self._folder.glob(f"{path.stem}.*")):
            left.unlink(missing_ok=True)
        with suppress(OSError):  # not there, or not the last
            self._folder.rmdir()

    def _path(self, request_id: str) -> Path:
        return self._folder / f"{digest_bytes(request_id.encode())[:32]}.work"

    def _key(self, request_id: str) -> bytes:
        return self._keys.for_tenant(KeyName.SPOOL, f"erasure {request_id}")
