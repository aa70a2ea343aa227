"""Containers that Arrow opens: zstd and lz4 streams, Parquet and Arrow files, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

ZSTD, LZ4, PARQUET, ARROW = b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"PAR1", b"ARROW1\x00\x00"
OPENED: Final = (ZSTD, LZ4, PARQUET, ARROW)
"""How they begin."""


class Unreadable(Exception):
    """Arrow does not open it."""


def inside(data: bytes, largest: int) -> Iterator[bytes]:
    """What is in data that begins like one of them.

    Raises:
        Unreadable: when it is broken, encrypted, or larger than ``largest`` when opened.

    """
    kind = {ZSTD: "zstd", LZ4: "lz4", PARQUET: "parquet", ARROW: "arrow"}[next(m for m in OPENED if data.startswith(m))]
    try:
        if kind in {"zstd", "lz4"}:
            yield _stream(data, kind, largest)
        else:
            yield from _values(data, kind)
    except (OSError, ValueError, NotImplementedError, ArithmeticError) as error:  # Arrow's errors derive from these
        raise Unreadable(f"{kind}: {error}") from error


def tried(data: bytes, largest: int) -> Iterator[bytes]:
    """What a zstd stream holds that begins here and something follows; nothing where none begins."""
    try:
        yield from inside(data, largest)
    except Unreadable:
        return


def _stream(data: bytes, kind: str, largest: int) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(data), kind) as stream:
        found: bytes = stream.read(largest + 1)
    if len(found) > largest:
        raise ValueError(f"larger than {largest} bytes")
    return found


def _values(data: bytes, kind: str) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    source = pa.BufferReader(data)
    if kind == "parquet":
        batches: Iterable[Any] = pq.ParquetFile(source).iter_batches()
    else:
        file = pyarrow.ipc.open_file(source)
        batches = (file.get_batch(number) for number in range(file.num_record_batches))
    for batch in batches:
        for column in batch.columns:
            texts = []
            for value in column.to_pylist():
                if isinstance(value, bytes):
                    yield value
                else:
                    texts.append(value if isinstance(value, str) else json.dumps(value, default=str))
            yield "\x00".join(texts).encode("utf-8", "surrogatepass")
