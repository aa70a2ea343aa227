"""Content encodings of a body, unpacked within a bound.

Theory. A few kilobytes can unpack to gigabytes, so nothing is unpacked whole: each decoder gives at most a step at a
time, and ends as soon as the bound is crossed, before the rest exists.

1. ``gzip`` (RFC 1952) is one or more members. ``deflate`` is a zlib stream (RFC 1950), as RFC 9110 has it, or the bare
   deflate stream (RFC 1951) that some senders write under that name; their first byte tells them apart. ``zstd`` is one
   or more frames (``ingestion.zstd``).
2. ``claim`` is told the size of each step before the next one; what it raises ends the unpacking.
3. A stream that is broken, ends early, or is followed by something else is refused: half a body is no body.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final

from ingestion.errors import BodyTooLarge, DecodeError

STEP: Final = 2**18
"""Bytes that are unpacked at a time: few enough to stop early, enough that copies of what is left cost little."""
MAX_MEMBERS: Final = 64
SPOKEN: Final = ("gzip", "deflate", "zstd")
_NAMES: Final = {"x-gzip": "gzip", "identity": ""}
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_ZLIB_METHOD: Final = 8
Claim = Callable[[int], None]


def encoding_of(header: str) -> str | None:
    """The name of a ``Content-Encoding``, empty for none; None when it is not spoken here."""
    name = header.strip().lower()
    name = _NAMES.get(name, name)
    return name if name in ("", *SPOKEN) else None


def unpack(encoding: str, data: bytes, limit: int, claim: Claim = lambda _: None) -> bytes:
    """The content of a body in one of the encodings of ``SPOKEN``; under the empty name, the body.

    Raises:
        BodyTooLarge: as soon as it grows beyond ``limit`` bytes.
        DecodeError: when it is not that encoding, ends early, or has more members than any exporter writes: each
            member costs a copy of what follows it.

    """
    collected = Collected(limit, claim)
    match encoding:
        case "":
            return data
        case "gzip":
            _gzip(data, collected)
        case "deflate":
            _deflate(data, collected)
        case "zstd":
            from ingestion import zstd

            zstd.unpack(data, collected)
        case _:
            raise DecodeError(f"no decoder for the content encoding {encoding!r}")
    return b"".join(collected.parts)


class Collected:
    """What is unpacked so far, within its bound."""

    def __init__(self, limit: int, claim: Claim) -> None:
        """Nothing yet."""
        self.parts: list[bytes] = []
        self.size = 0
        self.limit = limit
        self._claim = claim

    @property
    def room(self) -> int:
        """The most that the next step may give: one byte more than fits shows that the bound is crossed."""
        return min(STEP, self.limit - self.size + 1)

    def add(self, part: bytes) -> None:
        """Take one step's bytes.

        Raises:
            BodyTooLarge: when they cross the bound.

        """
        self.size += len(part)
        if self.size > self.limit:
            raise BodyTooLarge(f"the body unpacks to more than {self.limit} bytes")
        self._claim(len(part))
        self.parts.append(part)


def _gzip(data: bytes, collected: Collected) -> None:
    members = 0
    while data:
        if members == MAX_MEMBERS:
            raise DecodeError(f"the gzip stream has more than {MAX_MEMBERS} members")
        members += 1
        data = _stream("gzip", _GZIP_WINDOW, data, collected).lstrip(b"\x00")


def _deflate(data: bytes, collected: Collected) -> None:
    wrapped = len(data) > 1 and data[0] & 0x0F == _ZLIB_METHOD and int.from_bytes(data[:2], "big") % 31 == 0
    if _stream("deflate", zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS, data, collected):
        raise DecodeError("something follows the end of the deflate stream")


def _stream(name: str, window: int, data: bytes, collected: Collected) -> bytes:
    """Unpack one stream to its end; returns what follows it."""
    stream = zlib.decompressobj(window)
    while not stream.eof:
        collected.add(_step(name, stream, data, collected.room))
        data = stream.unconsumed_tail
    return stream.unused_data


def _step(name: str, stream: Any, data: bytes, most: int) -> bytes:
    try:
        part: bytes = stream.decompress(data, most)
    except zlib.error as error:
        raise DecodeError(f"not {name}: {error}") from error
    if not part and not stream.eof and not stream.unconsumed_tail:
        raise DecodeError(f"the {name} stream ends early")
    return part
