"""Content encodings: the same body whatever it is packed in, and never more of it than the bound."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.encodings import MAX_MEMBERS, STEP, encoding_of, unpack
from ingestion.errors import BodyTooLarge, DecodeError
from ingestion.otlp_decode import JSON, decode
from tests.ingestion.otlp_bodies import body, span_json

SPANS = body(*(span_json(number, attributes={"text": f"tür {number}"}) for number in range(1, 6)))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def zstd_stream(data: bytes) -> bytes:
    """As a stream writes it: no content size in the header, so the frame asks for a window."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue().to_pybytes())


PACK: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "deflate": ("deflate", raw_deflate),
    "zstd": ("zstd", zstd),
    "zstd stream": ("zstd", zstd_stream),
}
SEVERAL = ("gzip", "zstd", "zstd stream")
"""The encodings that may have several members."""


@settings(deadline=None)
@given(st.sampled_from(SEVERAL), st.lists(st.integers(0, len(SPANS)), max_size=10))
def test_any_split_into_members_gives_the_same_spans(kind: str, cuts: list[int]) -> None:
    name, pack = PACK[kind]
    edges = [0, *sorted(cuts), len(SPANS)]
    packed = b"".join(pack(SPANS[a:b]) for a, b in pairwise(edges))
    content = unpack(name, packed, len(SPANS))
    assert content == SPANS
    assert decode(content, JSON, received_unix_nano=0) == decode(SPANS, JSON, received_unix_nano=0)


@settings(deadline=None)
@given(st.sampled_from(sorted(PACK)), st.binary(max_size=3_000), st.integers(1, 400))
def test_what_was_packed_comes_out_and_every_byte_is_claimed(kind: str, data: bytes, repeat: int) -> None:
    name, pack = PACK[kind]
    plain, claimed = data * repeat, [0]
    assert unpack(name, pack(plain), len(plain), claimed.append) == plain
    assert sum(claimed) == len(plain)
    assert max(claimed) <= STEP
    if plain:
        with pytest.raises(BodyTooLarge):
            unpack(name, pack(plain), len(plain) - 1)


@pytest.mark.parametrize("kind", sorted(PACK))
def test_a_bomb_stops_at_the_limit(kind: str) -> None:
    name, pack = PACK[kind]
    bomb, claimed = pack(b"\0" * 200_000_000), [0]
    with pytest.raises(BodyTooLarge):
        unpack(name, bomb, 1_000_000, claimed.append)
    assert sum(claimed) <= 1_000_000


@settings(deadline=None)
@given(st.sampled_from(sorted(PACK)), st.data())
def test_half_a_body_is_refused(kind: str, data: Any) -> None:
    name, pack = PACK[kind]
    packed = pack(SPANS)
    cut = data.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(DecodeError):
        unpack(name, packed[:cut], 1_000_000)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(["gzip", "deflate", "zstd"]), st.binary(max_size=60), st.integers(0, 40))
def test_whatever_the_bytes_are_they_unpack_or_are_refused(name: str, noise: bytes, keep: int) -> None:
    for data in (noise, zstd(SPANS)[:keep] + noise, gzip.compress(SPANS)[:keep] + noise):
        try:
            unpack(name, data, 10_000)
        except DecodeError:
            continue


@pytest.mark.parametrize("kind", ["zlib", "deflate"])
def test_a_deflate_stream_is_one(kind: str) -> None:
    name, pack = PACK[kind]
    with pytest.raises(DecodeError, match="follows the end"):
        unpack(name, pack(b"ab") + pack(b"cd"), 10)


@pytest.mark.parametrize("kind", SEVERAL)
def test_members_are_bounded(kind: str) -> None:
    name, pack = PACK[kind]
    assert unpack(name, pack(b"a") * MAX_MEMBERS, 1 << 20) == b"a" * MAX_MEMBERS
    with pytest.raises(DecodeError, match="more than"):
        unpack(name, pack(b"a") * (MAX_MEMBERS + 1), 1 << 20)


def test_a_frame_that_asks_for_a_huge_window_is_refused_before_it_is_read() -> None:
    frame = bytes.fromhex("28b52ffd") + bytes([0x00, 17 << 3]) + b"\x01\x00\x00"
    with pytest.raises(DecodeError, match="window of 134217728 bytes"):
        unpack("zstd", frame, 1_000_000)


def test_a_frame_that_says_that_it_will_be_too_large_is_refused_before_it_is_read() -> None:
    frame = bytes.fromhex("28b52ffd") + bytes([0xE0]) + (10**12).to_bytes(8, "little") + b"\x01\x00\x00"
    with pytest.raises(BodyTooLarge):
        unpack("zstd", frame, 1_000_000)


def test_names() -> None:
    known = ["", "identity", " GZIP", "x-gzip", "deflate", "zstd"]
    assert [encoding_of(name) for name in known] == ["", "", "gzip", "gzip", "deflate", "zstd"]
    assert [encoding_of(name) for name in ("br", "gzip, gzip", "compress", "none")] == [None] * 4
