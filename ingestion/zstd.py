"""Zstandard: frames unpacked within a bound, by the codec that Arrow brings.

Theory. A decoder allocates a window of the size that a frame's header names before it gives a byte, and Arrow's takes
up to 128 MiB. So the frames are walked first, headers only (RFC 8878, section 3.1): a window above 8 MiB, the most that
RFC 9659 lets a sender use over HTTP, is refused, and so is anything that is no whole frame.
"""

from __future__ import annotations

from typing import Final

from ingestion.encodings import MAX_MEMBERS, Collected
from ingestion.errors import BodyTooLarge, DecodeError

MAX_WINDOW: Final = 8 * 2**20
_MAGIC: Final = 0xFD2FB528
_SKIPPABLE: Final = 0x184D2A50
_RLE, _RESERVED = 1, 3
_CUT: Final = "the zstd stream ends early"


def unpack(data: bytes, collected: Collected) -> None:
    """Unpack every frame.

    Raises:
        BodyTooLarge: as soon as it grows beyond the bound, or a frame says that it will.
        DecodeError: when it is not zstd, ends early, or asks for too large a window.

    """
    import pyarrow as pa

    _check(data, collected.limit)
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            while part := stream.read(collected.room):
                collected.add(part)
    except (OSError, pa.ArrowException) as error:
        raise DecodeError(f"not zstd: {str(error)[:100]}") from error


def _check(data: bytes, limit: int) -> None:
    """Walk the frames."""
    at, frames = 0, 0
    while at < len(data):
        if frames == MAX_MEMBERS:
            raise DecodeError(f"the zstd stream has more than {MAX_MEMBERS} frames")
        frames += 1
        magic = _number(data, at, 4)
        if magic & ~0xF == _SKIPPABLE:
            raise DecodeError("a skippable zstd frame holds no body")
        if magic != _MAGIC:
            raise DecodeError("not zstd: a frame begins with another number")
        at, checked = _header(data, at + 4, limit)
        at = _blocks(data, at) + 4 * checked
    if at > len(data) or not frames:
        raise DecodeError(_CUT)


def _header(data: bytes, at: int, limit: int) -> tuple[int, bool]:
    """Where the blocks begin, and whether a checksum follows them."""
    descriptor = _number(data, at, 1)
    single = bool(descriptor & 0x20)
    size_bytes = (int(single), 2, 4, 8)[descriptor >> 6]
    dictionary_bytes = (0, 1, 2, 4)[descriptor & 3]
    at += 1
    window = 0 if single else _window(_number(data, at, 1))
    at += (not single) + dictionary_bytes
    size = _number(data, at, size_bytes) + (256 if size_bytes == 2 else 0)
    if size > limit:
        raise BodyTooLarge(f"the body unpacks to more than {limit} bytes")
    # A single segment needs no window beyond its content, which the bound on the body covers.
    if window > MAX_WINDOW:
        raise DecodeError(f"a zstd frame asks for a window of {window} bytes; {MAX_WINDOW} are allowed")
    return at + size_bytes, bool(descriptor & 4)


def _window(byte: int) -> int:
    base = 1 << (10 + (byte >> 3))
    return base + (base >> 3) * (byte & 7)


def _blocks(data: bytes, at: int) -> int:
    """Where the last block ends."""
    while True:
        block = _number(data, at, 3)
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        if kind == _RESERVED:
            raise DecodeError("not zstd: a block of a reserved kind")
        at += 3 + (1 if kind == _RLE else size)
        if last:
            return at


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise DecodeError(_CUT)
    return int.from_bytes(data[at : at + size], "little")
