"""The Merkle tree against the definition of RFC 6962, which splits from above."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records import merkle

lines = st.lists(st.binary(max_size=8), max_size=40)


def hashed(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def tree(data: list[bytes]) -> bytes:
    """RFC 6962, 2.1: MTH."""
    if not data:
        return hashed(b"")
    if len(data) == 1:
        return hashed(b"\x00" + data[0])
    split = 1 << (len(data) - 1).bit_length() - 1
    return hashed(b"\x01" + tree(data[:split]) + tree(data[split:]))


def proof(place: int, data: list[bytes]) -> list[bytes]:
    """RFC 6962, 2.1.1: PATH."""
    if len(data) == 1:
        return []
    split = 1 << (len(data) - 1).bit_length() - 1
    if place < split:
        return [*proof(place, data[:split]), tree(data[split:])]
    return [*proof(place - split, data[split:]), tree(data[:split])]


@settings(max_examples=40, deadline=None)
@given(data=lines)
def test_root_and_paths_are_those_of_the_rfc_and_verify(data: list[bytes]) -> None:
    leaves = [merkle.leaf(one) for one in data]
    root = merkle.root(leaves)
    assert root == tree(data).hex()
    for place in range(len(data)):
        path = merkle.path(leaves, place)
        assert list(path) == [one.hex() for one in proof(place, data)]
        assert merkle.includes(root, leaves[place], place, len(data), path)


@settings(max_examples=40, deadline=None)
@given(data=st.lists(st.binary(max_size=8), min_size=1, max_size=20, unique=True), drawn=st.data())
def test_no_other_leaf_place_size_or_path_is_proven(data: list[bytes], drawn: st.DataObject) -> None:
    leaves = [merkle.leaf(one) for one in data]
    root, size = merkle.root(leaves), len(leaves)
    place = drawn.draw(st.integers(0, size - 1))
    path = merkle.path(leaves, place)
    assert not merkle.includes(root, merkle.leaf(b"somebody else's"), place, size, path)
    assert not merkle.includes(root, leaves[place], place, size, (*path, leaves[0]))
    assert not merkle.includes(root, leaves[place], size, size, path)
    for other in range(size):
        if other != place:
            assert not merkle.includes(root, leaves[place], other, size, path)
    if path:
        assert not merkle.includes(root, leaves[place], place, size, path[:-1])


def test_an_inner_node_is_no_leaf() -> None:
    leaves = [merkle.leaf(b"a"), merkle.leaf(b"b")]
    assert merkle.leaf(bytes.fromhex(leaves[0]) + bytes.fromhex(leaves[1])) != merkle.root(leaves)
    with pytest.raises(IndexError):
        merkle.path(leaves, 2)
