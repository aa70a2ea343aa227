"""Opening containers: a piece of data, and everything that is packed inside of it.

Opened are gzip, zlib, bzip2, xz, zip, tar, zstd, lz4, Parquet and Arrow files, base64, and streams that begin behind
something else, one in another down to ``DEEPEST``. What is not packed (text, JSON, pickles) holds its words in clear
and is searched as it is. What cannot be opened (broken, encrypted, nested deeper, larger than ``LARGEST`` when
opened, or of a kind that ``CLOSED`` names by how it begins) is counted as ``unopened``, never passed over in silence.
Raw brotli has no mark of its own: it is known by its name alone.
"""

from __future__ import annotations

import base64
import bz2
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from governance.rescan import columns

DEEPEST: Final = 4
"""Containers within containers."""
LARGEST: Final = 1 << 30
"""Bytes of one opened container."""
STEP: Final = 1 << 20
"""Packed bytes that are decoded at once."""
GZIP, BZIP2, XZ, ZIP = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""RFC 1950 with a window of 32 KiB, at each level."""
CLOSED: Final = {
    b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "rar", b"\x1f\x9d": "compress", b"LZIP": "lzip", b"MSCF": "cab",
    b"%PDF-": "pdf", b"\xff\x06\x00\x00sNaPpY": "snappy", b"Obj\x01": "avro", b"\x89HDF\r\n\x1a\n": "hdf5",
    b"Salted__": "openssl", b"age-encryption.org/": "age", b"-----BEGIN PGP MESSAGE": "pgp", b"hsqs": "squashfs",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "ole2",
}  # fmt: skip
"""How kinds begin that nothing here opens."""
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]+)*")


class _Decoder(Protocol):
    """What the incremental decoders of the standard library have in common."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was seen."""

    @property
    def unused_data(self) -> bytes:
        """What follows the stream."""

    def decompress(self, data: bytes, /) -> bytes:
        """Decode the next part."""


_Make = Callable[[], _Decoder]
_BROKEN = (zlib.error, OSError, lzma.LZMAError, EOFError, ValueError)


def _gzip() -> _Decoder:
    return zlib.decompressobj(wbits=31)


_EMBEDDED: Final[tuple[tuple[bytes, _Make, str], ...]] = (
    (b"\x1f\x8b\x08", _gzip, "gzip"), (XZ, lzma.LZMADecompressor, "xz"), (b"1AY&SY", bz2.BZ2Decompressor, "bzip2"),
)  # fmt: skip


class Unopened(Exception):
    """A container that could not be opened whole."""


def is_packed(data: bytes) -> bool:
    """Whether ``data`` begins like a container that is opened."""
    return data[:2] in _ZLIB or is_archive(data)


def is_archive(data: bytes) -> bool:
    """The same, for marks that no text begins with."""
    known = (GZIP, ZIP, XZ, BZIP2, *columns.OPENED)
    return data.startswith(known) or data[257:262] == b"ustar"


def opened(data: bytes, unopened: list[str], where: str, depth: int = 0) -> Iterator[bytes]:
    """``data`` and what is packed in it; names of what could not be opened are added to ``unopened``."""
    yield data
    if depth >= DEEPEST:
        if is_archive(data):
            unopened.append(f"{where}: packed deeper than {DEEPEST} containers")
        return
    if depth == 0 and where.endswith(".br"):
        unopened.append(f"{where}: brotli")
    try:
        for inner in _inside(data):
            yield from opened(inner, unopened, where, depth + 1)
    except (Unopened, columns.Unreadable) as cause:
        unopened.append(f"{where}: {cause}")


def _inside(data: bytes) -> Iterator[bytes]:
    if data[:4] == ZIP:
        yield from _members(data)
    elif data[:2] == GZIP:
        yield from _streams(data, _gzip, "gzip")
    elif data[:3] == BZIP2 and data[4:10] == b"1AY&SY":
        yield from _streams(data, bz2.BZ2Decompressor, "bzip2")
    elif data[:6] == XZ:
        yield from _streams(data, lzma.LZMADecompressor, "xz")
    elif data[257:262] == b"ustar":
        yield from _files(data)
    elif data.startswith(columns.OPENED):
        yield from columns.inside(data, LARGEST)
    elif data[:2] in _ZLIB:
        yield from _zlib_streams(data)
    else:
        closed = next((kind for mark, kind in CLOSED.items() if data.startswith(mark)), None)
        if closed is not None:
            raise Unopened(closed)
        yield from _embedded(data)
        yield from _encoded(data)


def _files(data: bytes) -> Iterator[bytes]:
    """The files of a tar."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                yield entry.name.encode("utf-8", "surrogateescape")
                file = archive.extractfile(entry) if entry.isfile() else None
                if file is not None:
                    yield file.read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise Unopened(f"tar: {error}") from error


def _embedded(data: bytes) -> Iterator[bytes]:
    """Streams and archives that begin behind something else; what only looks like one is none."""
    for mark, make, kind in _EMBEDDED:
        back = 4 if kind == "bzip2" else 0  # its mark stands behind "BZh" and the level
        at = data.find(mark, 1 + back)
        while at >= 0:
            whole, end, finished = _stream_at(data, at - back, make)
            if whole:
                yield whole
                if not finished:
                    raise Unopened(f"{kind} behind {at - back} bytes: cut off or broken")
            at = data.find(mark, max(end if finished else 0, at + 1))
    at = data.find(columns.ZSTD, 1)
    while at >= 0:
        yield from columns.tried(data[at:], LARGEST)
        at = data.find(columns.ZSTD, at + 1)
    if data.rfind(b"PK\x05\x06", max(0, len(data) - 65557)) > 0 and zipfile.is_zipfile(io.BytesIO(data)):
        yield from _members(data)


def _encoded(data: bytes) -> Iterator[bytes]:
    """What base64 holds, also wrapped in lines or in the alphabet of URLs, wherever in a run of letters it begins."""
    batch = []
    for match in _BASE64.finditer(data):
        run = match.group().replace(b"\r", b"").replace(b"\n", b"").replace(b"-", b"+").replace(b"_", b"/")
        if run in {run.lower(), run.upper()}:
            continue  # a digest, an id or a name
        for start in range(4):
            part = run[start:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            found = base64.b64decode(part + b"=" * (-len(part) % 4))
            if is_archive(found):
                yield found
            else:
                batch.append(found)
    if batch:
        yield b"\xff".join(batch)


def _members(data: bytes) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                yield entry.filename.encode() + entry.comment
                if entry.file_size > LARGEST:
                    raise Unopened(f"{entry.filename} in a zip is too large")
                yield archive.read(entry)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error, EOFError, OSError) as error:
        raise Unopened(f"zip: {error}") from error


def _streams(data: bytes, make: _Make, kind: str) -> Iterator[bytes]:
    """The streams of a file that may hold several, one after the other; what follows them is data of its own."""
    at = 0
    while at < len(data):
        whole, end, finished = _stream_at(data, at, make)
        if not finished and at and not whole:
            yield data[at:]
            return
        if whole:
            yield whole
        if not finished:
            raise Unopened(f"{kind}: broken, cut off, or larger than {LARGEST} bytes")
        at = end


def _zlib_streams(data: bytes) -> Iterator[bytes]:
    """The same of zlib, whose mark a text may begin with: what does not decode is none."""
    at = 0
    while data[at : at + 2] in _ZLIB:
        whole, end, finished = _stream_at(data, at, zlib.decompressobj)
        if not finished:
            yield from zlib_at(data, at)
            return
        if whole:
            yield whole
        at = end
    if at < len(data):
        yield data[at:]


def _stream_at(data: bytes, at: int, make: _Make) -> tuple[bytes, int, bool]:
    """What a stream holds that begins there, where it ends, and whether its end was seen."""
    decoder, parts, size = make(), [], 0
    while at < len(data) and not decoder.eof and size <= LARGEST:
        portion = data[at : at + STEP]
        at += len(portion)
        try:
            parts.append(decoder.decompress(portion))
        except _BROKEN:
            return b"".join(parts), at, False
        size += len(parts[-1])
    return b"".join(parts), at - len(decoder.unused_data), decoder.eof


def zlib_at(data: bytes, start: int) -> Iterator[bytes]:
    """What a zlib stream that begins at ``start`` holds, as far as it can be read; nothing where none begins."""
    decoder = zlib.decompressobj()
    try:
        found = decoder.decompress(data[start:], LARGEST)
    except zlib.error:
        found = _readable(data[start:])
    if found:
        yield found


def _readable(data: bytes, step: int = 64) -> bytes:
    """The beginning of a broken stream: read step by step until it breaks."""
    decoder, found = zlib.decompressobj(), b""
    for at in range(0, min(len(data), 1 << 16), step):
        try:
            found += decoder.decompress(data[at : at + step])
        except zlib.error:
            break
    return found


def zlib_inside(data: bytes) -> Iterator[bytes]:
    """What zlib streams hold that begin anywhere in ``data``: freed space of a database says not where one begins."""
    for mark in _ZLIB:
        at = data.find(mark)
        while at >= 0:
            yield from zlib_at(data, at)
            at = data.find(mark, at + 1)
