"""One spool segment on disk: encrypted, framed records under a key that exists once.

1. ``<id>.key`` holds the segment's one-time AES-256 key, sealed under the spool key and bound to the id. It is durable
   before the first record is. Without it the segment is noise: destroying deletes the key first, then the data.
2. A record is framed as length, CRC-32, ciphertext. Its nonce is its position: a key encrypts each position once,
   since no file is written to again after an error or a restart.
3. A frame that reaches beyond the end of the file, or whose check fails with nothing sound behind it, is a torn tail:
   it was never acknowledged, and it is cut. A bad frame before sound ones is corruption, and is said to be.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ingestion.errors import SegmentCorrupt, SpoolError
from ingestion.sealing import seal, unseal

OPEN: Final = ".open"
SEALED: Final = ".seg"
KEY: Final = ".key"
_FRAME: Final = struct.Struct(">II")
_TENANT: Final = struct.Struct(">H")
MAX_RECORD: Final = 2**31


def sync_folder(folder: Path) -> None:
    """Makes creations, renames and deletions in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: one call may take fewer than it was given.

    Raises:
        OSError: when the disk refuses.

    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _label(segment_id: str) -> str:
    return f"tidemill spool segment {segment_id}"


def _nonce(position: int) -> bytes:
    return position.to_bytes(12, "big")


class SegmentWriter:
    """The open segment of one writer."""

    def __init__(self, folder: Path, segment_id: str, spool_key: bytes) -> None:
        """Create the key, then the data file; both are durable when this returns."""
        self.id = segment_id
        self.size = 0
        self._folder = folder
        self._position = 0
        key = secrets.token_bytes(32)
        self._cipher = AESGCM(key)
        self._aad = _label(segment_id).encode()
        self._write_key(seal(spool_key, _label(segment_id), key))
        self._file = os.open(folder / f"{segment_id}{OPEN}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        sync_folder(folder)

    def _write_key(self, sealed: bytes) -> None:
        descriptor = os.open(self._folder / f"{self.id}{KEY}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(descriptor, sealed)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def write(self, records: list[tuple[str, bytes]]) -> None:
        """Append records and make them durable together.

        Raises:
            OSError: when the disk refuses; the segment must then be sealed and left.

        """
        frames = b"".join(self._frame(tenant_id, payload) for tenant_id, payload in records)
        write_all(self._file, frames)
        os.fsync(self._file)
        self.size += len(frames)

    def _frame(self, tenant_id: str, payload: bytes) -> bytes:
        tenant = tenant_id.encode()
        sealed = self._cipher.encrypt(_nonce(self._position), _TENANT.pack(len(tenant)) + tenant + payload, self._aad)
        self._position += 1
        return _FRAME.pack(len(sealed), zlib.crc32(sealed)) + sealed

    def close(self) -> None:
        """Write no more; what is left is to seal it (``seal_segment``)."""
        with suppress(OSError):  # what a close reports was written after the last sync, and is not acknowledged
            os.close(self._file)


def _frames(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Each frame's end and ciphertext; None and stop where the check fails."""
    start = 0
    while start < len(data):
        head = data[start : start + _FRAME.size]
        if len(head) < _FRAME.size:
            yield len(data), None
            return
        length, check = _FRAME.unpack(head)
        end = start + _FRAME.size + length
        body = data[start + _FRAME.size : end]
        if end > len(data) or zlib.crc32(body) != check or length == 0:
            yield end, None
            return
        yield end, body
        start = end


def sound_length(data: bytes) -> int:
    """Up to which byte the frames are sound.

    Raises:
        SegmentCorrupt: when sound frames follow a bad one, so that cutting would lose acknowledged records.

    """
    sound = 0
    for end, body in _frames(data):
        if body is None:
            follower = next(_frames(data[end:]), (0, None)) if end < len(data) else (0, None)
            if follower[1] is not None:
                raise SegmentCorrupt(f"a damaged record at byte {sound} stands before sound ones")
            return sound
        sound = end
    return sound


def seal_segment(folder: Path, segment_id: str) -> None:
    """Cut a torn tail and rename to the sealed name. A damaged segment is sealed as it is, and says so when read."""
    path = folder / f"{segment_id}{OPEN}"
    with suppress(SegmentCorrupt):
        sound = sound_length(path.read_bytes())
        if sound < path.stat().st_size:
            with path.open("r+b") as file:
                file.truncate(sound)
                os.fsync(file.fileno())
    path.rename(folder / f"{segment_id}{SEALED}")
    sync_folder(folder)


def recover(folder: Path) -> None:
    """Seal what a dead writer left open; finish destructions that were cut short. Needs the writer's lock."""
    for path in sorted(folder.glob(f"*{OPEN}")):
        if (folder / f"{path.stem}{KEY}").exists():
            seal_segment(folder, path.stem)
        else:
            destroy_segment(folder, path.stem)
    for path in folder.glob(f"*{KEY}"):
        if not (folder / f"{path.stem}{SEALED}").exists():
            path.unlink(missing_ok=True)


def read_segment(folder: Path, segment_id: str, spool_key: bytes) -> list[tuple[str, bytes]]:
    """The records of a sealed segment, in order.

    Raises:
        SegmentCorrupt: when a frame fails its check, or does not open.
        SpoolError: when the segment or its key is gone.

    """
    try:
        sealed_key = (folder / f"{segment_id}{KEY}").read_bytes()
        data = (folder / f"{segment_id}{SEALED}").read_bytes()
    except FileNotFoundError as error:
        raise SpoolError(f"segment {segment_id} is gone") from error
    cipher = AESGCM(unseal(spool_key, _label(segment_id), sealed_key))
    records = []
    for position, (_, body) in enumerate(_frames(data)):
        if body is None:
            raise SegmentCorrupt(f"segment {segment_id}: record {position} fails its check")
        try:
            plain = cipher.decrypt(_nonce(position), body, _label(segment_id).encode())
        except InvalidTag as error:
            raise SegmentCorrupt(f"segment {segment_id}: record {position} does not open") from error
        (length,) = _TENANT.unpack_from(plain)
        cut = _TENANT.size + length
        records.append((plain[_TENANT.size : cut].decode(), plain[cut:]))
    return records


@contextmanager
def claimed(folder: Path, segment_id: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold a sealed segment against other processes that claim it; False when one has it, or when it is gone.

    The system lets go of it when the process ends, however it does.
    """
    try:
        descriptor = os.open(folder / f"{segment_id}{KEY}", os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _locked(descriptor, wait=wait)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, *, wait: bool) -> bool:
    """Lock a file; False when another process has it, or when it was deleted while this one waited."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return os.fstat(descriptor).st_nlink > 0


def destroy_segment(folder: Path, segment_id: str) -> None:
    """Delete the key, durably, then the data. Idempotent."""
    (folder / f"{segment_id}{KEY}").unlink(missing_ok=True)
    sync_folder(folder)
    for suffix in (SEALED, OPEN):
        (folder / f"{segment_id}{suffix}").unlink(missing_ok=True)
    sync_folder(folder)


def segment_sizes(folder: Path) -> list[int]:
    """The bytes of each segment, open or sealed."""
    sizes = []
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):
            if entry.name.endswith((SEALED, OPEN)):
                sizes.append(entry.stat().st_size)
    return sizes
