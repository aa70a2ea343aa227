"""Blocks: every message body, tool argument and tool result once per tenant, under a keyed digest, by reference.

1. A block's name is HMAC-SHA256 of its JSON under the tenant's key, so nobody without the key can tell whether a
   guessed text is in the store.
2. ``block_refs`` says which span or trajectory needs a block. ``replace`` makes an owner's references exactly the
   given ones; a block without a reference is deleted in the same transaction, and equal content that comes later is
   simply stored again.
3. Writers touch the block rows they refer to before they add references, and those who drop references lock the block
   rows before they look for remaining ones; so on PostgreSQL too no reference ever points at nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, select, tuple_

from governance.errors import StoreError
from governance.store import dialect
from governance.store.base import dump_json
from governance.store.chunks import chunks
from governance.store.kit import Kit
from governance.store.tables_traces import BlockRefRow, BlockRow

REF = "$block"


class OwnerKind(StrEnum):
    """What can need a block."""

    SPAN = "span"
    TRAJECTORY = "trajectory"


class Owner(NamedTuple):
    """Who needs blocks, and whose data it is."""

    tenant_id: str
    kind: OwnerKind
    id: str
    subject: str


BlockName = tuple[str, str]
"""(tenant_id, digest)."""


class Collector:
    """Takes values out of bodies: leaves references in their place, and remembers the blocks and who needs them."""

    def __init__(self, kit: Kit) -> None:
        """Keys are asked for once per tenant."""
        self._kit = kit
        self._keys: dict[str, bytes] = {}
        self.blocks: dict[BlockName, Any] = {}
        self.refs: dict[Owner, dict[str, str]] = {}
        """Owner to digest to role."""

    def owner(self, owner: Owner) -> Owner:
        """Make the owner known, so that its old references go even when it has no new ones."""
        self.refs.setdefault(owner, {})
        return owner

    def ref(self, owner: Owner, role: str, value: Any) -> Any:
        """A reference to the value's block; None stays None."""
        if value is None:
            return None
        if owner.tenant_id not in self._keys:
            self._keys[owner.tenant_id] = self._kit.block_key(owner.tenant_id)
        digest = hmac.new(self._keys[owner.tenant_id], dump_json(value).encode(), hashlib.sha256).hexdigest()
        self.blocks[owner.tenant_id, digest] = value
        self.refs[owner].setdefault(digest, role)
        return {REF: digest}


def replace(connection: Connection, kit: Kit, collector: Collector) -> None:
    """Make the references of the collector's owners exactly what was collected."""
    expires_at = kit.expires(BlockRow)
    rows = [
        {"tenant_id": tenant, "digest": digest, "body": body, "expires_at": expires_at}
        for (tenant, digest), body in sorted(collector.blocks.items(), key=lambda item: item[0])
    ]
    dialect.upsert(connection, BlockRow, rows, ["expires_at"])
    wanted = {
        (owner.tenant_id, owner.kind.value, owner.id, digest): (owner.subject, role)
        for owner, roles in collector.refs.items()
        for digest, role in roles.items()
    }
    stale = [key for key in _refs_of(connection, collector.refs) if key not in wanted]
    names = ("tenant_id", "owner_kind", "owner_id", "digest", "subject", "role")
    new = [dict(zip(names, (*key, *value), strict=True)) for key, value in sorted(wanted.items())]
    dialect.upsert(connection, BlockRefRow, new, ["subject", "role"])
    for part in chunks(stale, dialect.CHUNK // 4):
        key = tuple_(BlockRefRow.tenant_id, BlockRefRow.owner_kind, BlockRefRow.owner_id, BlockRefRow.digest)
        connection.execute(delete(BlockRefRow).where(key.in_(part)))
    drop_unreferenced(connection, {(tenant, digest) for tenant, _, _, digest in stale})


def release(connection: Connection, owners: Iterable[tuple[str, OwnerKind, str]]) -> int:
    """Drop every reference of the owners (tenant, kind, id), and the blocks that nobody needs any more."""
    lost: set[BlockName] = set()
    for tenant_id, kind, part in _grouped(owners):
        mine = (BlockRefRow.tenant_id == tenant_id, BlockRefRow.owner_kind == kind, BlockRefRow.owner_id.in_(part))
        digests = connection.scalars(select(BlockRefRow.digest).where(*mine).distinct())
        lost.update((tenant_id, digest) for digest in digests)
        connection.execute(delete(BlockRefRow).where(*mine))
    return drop_unreferenced(connection, lost)


def drop_unreferenced(connection: Connection, names: Iterable[BlockName]) -> int:
    """Delete those of the blocks that have no reference left; how many they were."""
    dropped = 0
    for part in chunks(sorted(set(names)), dialect.CHUNK // 2):
        named = tuple_(BlockRow.tenant_id, BlockRow.digest).in_(part)
        locked = select(BlockRow.tenant_id, BlockRow.digest).where(named).order_by(BlockRow.tenant_id, BlockRow.digest)
        connection.execute(dialect.lock_rows(connection, locked)).all()
        needed = (
            select(BlockRefRow.digest)
            .where(BlockRefRow.tenant_id == BlockRow.tenant_id, BlockRefRow.digest == BlockRow.digest)
            .exists()
        )
        dropped += connection.execute(delete(BlockRow).where(named, ~needed)).rowcount
    return dropped


def load(connection: Connection, owners: Iterable[tuple[str, OwnerKind, str]]) -> dict[BlockName, Any]:
    """Every block that the owners (tenant, kind, id) need."""
    found: dict[BlockName, Any] = {}
    for tenant_id, kind, part in _grouped(owners):
        statement = (
            select(BlockRow.digest, BlockRow.body)
            .join(BlockRefRow, (BlockRefRow.tenant_id == BlockRow.tenant_id) & (BlockRefRow.digest == BlockRow.digest))
            .where(BlockRefRow.tenant_id == tenant_id, BlockRefRow.owner_kind == kind, BlockRefRow.owner_id.in_(part))
            .distinct()
        )
        for digest, body in connection.execute(statement):
            found[tenant_id, digest] = body
    return found


def value_of(tenant_id: str, ref: Any, blocks: Mapping[BlockName, Any]) -> Any:
    """What a reference stands for; None stays None.

    Raises:
        StoreError: for a reference to a block that is not there.

    """
    if ref is None:
        return None
    try:
        return blocks[tenant_id, ref[REF]]
    except KeyError as error:
        raise StoreError(f"store: a reference of tenant {tenant_id} points at no block: {ref[REF]}") from error


def _refs_of(connection: Connection, owners: Iterable[Owner]) -> Iterable[tuple[str, str, str, str]]:
    for tenant_id, kind, part in _grouped((owner.tenant_id, owner.kind, owner.id) for owner in owners):
        statement = select(BlockRefRow.owner_id, BlockRefRow.digest).where(
            BlockRefRow.tenant_id == tenant_id, BlockRefRow.owner_kind == kind, BlockRefRow.owner_id.in_(part)
        )
        for owner_id, digest in connection.execute(statement).all():
            yield tenant_id, kind, owner_id, digest


def _grouped(owners: Iterable[tuple[str, OwnerKind, str]]) -> Iterable[tuple[str, str, Sequence[str]]]:
    groups: dict[tuple[str, str], set[str]] = {}
    for tenant_id, kind, owner_id in owners:
        groups.setdefault((tenant_id, kind.value), set()).add(owner_id)
    for (tenant_id, kind_value), ids in sorted(groups.items()):
        for part in chunks(sorted(ids), dialect.CHUNK):
            yield tenant_id, kind_value, part
