"""A Merkle tree over a list of lines: one digest names them all, and a short path proves that one is among them.

The tree is that of RFC 6962, section 2.1 (RFC 9162 keeps it): leaves and inner nodes are hashed under different
prefixes, so neither can be passed off as the other, and an odd node goes up as it is. The root of no leaves is the
digest of nothing. A proof is checked as in RFC 9162, section 2.1.3.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from governance.records.base import digest_bytes

LEAF, NODE = b"\x00", b"\x01"


def leaf(data: bytes) -> str:
    """The leaf of a line."""
    return digest_bytes(LEAF + data)


def root(leaves: Sequence[str]) -> str:
    """The root of a tree with these leaves, in their order."""
    if not leaves:
        return digest_bytes(b"")
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0]


def path(leaves: Sequence[str], index: int) -> tuple[str, ...]:
    """The nodes beside the way from a leaf to the root, from below.

    Raises:
        IndexError: when there is no such leaf.

    """
    if not 0 <= index < len(leaves):
        raise IndexError(f"merkle: no leaf {index} among {len(leaves)}")
    level, place, found = list(leaves), index, []
    while len(level) > 1:
        if place ^ 1 < len(level):
            found.append(level[place ^ 1])
        level, place = _above(level), place // 2
    return tuple(found)


def includes(root: str, leaf: str, index: int, size: int, path: Sequence[str]) -> bool:
    """Whether a path proves that the tree of ``size`` leaves under ``root`` has this leaf at ``index``."""
    if not 0 <= index < size:
        return False
    place, last, made = index, size - 1, leaf
    for beside in path:
        if last == 0:
            return False
        if place % 2 or place == last:
            made = _node(beside, made)
            while place % 2 == 0 and place:
                place, last = place >> 1, last >> 1
        else:
            made = _node(made, beside)
        place, last = place >> 1, last >> 1
    return last == 0 and made == root


def _above(level: Sequence[str]) -> list[str]:
    odd = [level[-1]] if len(level) % 2 else []
    return [_node(left, right) for left, right in list(pairwise(level))[::2]] + odd


def _node(left: str, right: str) -> str:
    return hashlib.sha256(NODE + bytes.fromhex(left) + bytes.fromhex(right)).hexdigest()
