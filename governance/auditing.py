"""The audit as evidence: checkpoints that are signed and anchored outside of the database, and the verification.

Theory. A hash chain in a database shows a change to somebody who knows its last link; whoever can write to the
database can write the whole chain anew. So a checkpoint says, under a signature, how long a tenant's chain is and where
it stands, and is kept where the database's writers cannot rewrite it (``governance.ports.anchor``). Checkpoints are a
chain of their own, and the database keeps a copy of each, so a checkpoint that was lost outside is missed here and one
that was lost here is found outside.

``checkpoint`` first stores it, on the disk, and then anchors it: what is anchored is never ahead of a database that
lost its power. One that a crash kept from its anchor gets there the next time. ``verify`` tells every edit, deletion,
insertion, swap and truncation, and the replacement of a chain up to the newest checkpoint. What came after that and was
replaced together with the chain's head by somebody who knows all this is what is left, so checkpoints are made often.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from governance.errors import NotFound, RecordError, SignatureError
from governance.policy.audit_chain import GENESIS, NOWHERE, START, Head, Line, faults
from governance.ports.anchor import Anchor
from governance.ports.clock import Clock
from governance.ports.keys import KeyProvider
from governance.records.base import Record, canonical_json
from governance.records.checkpoint import AuditFault, Checkpoint, FaultKind
from governance.records.signature import Signature
from governance.signing import public_keys, sign, verify
from governance.store import Store
from governance.store.checkpoints import HeldCheckpoint

LABEL: Final = "audit checkpoint"
ANCHORED: Final = "the anchor"
HELD: Final = "the database"
_PLACES: Final = frozenset({ANCHORED, HELD})


class SignedCheckpoint(Record):
    """A checkpoint and the signature over it."""

    checkpoint: Checkpoint
    signature: Signature

    def data(self) -> bytes:
        """As it is kept."""
        return canonical_json(self.plain())


class Auditing:
    """Makes checkpoints, and verifies."""

    def __init__(self, store: Store, anchor: Anchor, keys: KeyProvider, clock: Clock) -> None:
        """``anchor`` lies outside of the database."""
        self._store, self._anchor, self._keys, self._clock = store, anchor, keys, clock

    def checkpoint(self, tenant_id: str | None = None) -> tuple[Checkpoint, ...]:
        """Anchor where each chain stands, or one tenant's; a chain that has not grown gets no new checkpoint.

        Raises:
            AnchorError: when the anchor does not take it; it is tried again the next time.

        """
        made = []
        for tenant in self._store.audit.tenants() if tenant_id is None else (tenant_id,):
            new = self._make(tenant)
            for held in self._store.checkpoints.list(tenant):
                if not held.anchored:
                    self._anchor.put(tenant, held.number, held.signed)
                    self._store.checkpoints.anchored(tenant, held.number)
            made += [new] if new else []
        return tuple(made)

    def verify(self, tenant_id: str | None = None, trusted: Collection[str] | None = None) -> tuple[AuditFault, ...]:
        """What is wrong with the audit of each tenant, or of one; nothing where it is whole.

        ``trusted``: the public keys whose checkpoints count; those of this installation where it is not given.

        Raises:
            NotFound: for a tenant of whom neither the database nor the anchor knows anything.

        """
        keys = public_keys(self._keys) if trusted is None else trusted
        known = {*self._store.audit.tenants(), *self._store.checkpoints.tenants(), *self._anchor.tenants()}
        if tenant_id is not None and tenant_id not in known:
            raise NotFound(f"audit: of the tenant {tenant_id!r} no event and no checkpoint is known")
        return tuple(
            fault
            for tenant in (sorted(known) if tenant_id is None else [tenant_id])
            for fault in self._verify(tenant, keys)
        )

    def waiting(self) -> tuple[str, ...]:
        """Tenants with a checkpoint that the anchor has not taken."""
        held = {tenant: self._store.checkpoints.list(tenant) for tenant in self._store.checkpoints.tenants()}
        return tuple(tenant for tenant, found in held.items() if any(not one.anchored for one in found))

    def _make(self, tenant_id: str) -> Checkpoint | None:
        with self._store.transaction(durable=True):
            stands = self._store.checkpoints.lock(tenant_id)
            found = _Found(tenant_id, self._store.checkpoints.list(tenant_id), self._anchor.read(tenant_id))
            good = found.good(public_keys(self._keys))
            last = good[max(good)] if good else None
            if stands == (Head(last.size, last.root) if last else START):
                return None
            made = Checkpoint(
                tenant_id=tenant_id,
                number=found.numbers[-1] + 1 if found.numbers else 1,
                size=stands.size,
                root=stands.root,
                previous=last.digest() if last else GENESIS,
                at=self._clock.now(),
            )
            signed = SignedCheckpoint(checkpoint=made, signature=sign(self._keys, LABEL, canonical_json(made.plain())))
            self._store.checkpoints.put(tenant_id, made.number, signed.data())
        return made

    def _verify(self, tenant_id: str, trusted: Collection[str]) -> Iterator[AuditFault]:
        found = _Found(tenant_id, self._store.checkpoints.list(tenant_id), self._anchor.read(tenant_id))
        yield from found.faults(trusted)
        walk = _Walk(found.good(trusted).values(), self._store.audit.lines(tenant_id))
        yield from faults(walk)
        yield from walk.compared(tenant_id, self._store.audit.root(tenant_id))


class _Found:
    """A tenant's checkpoints, as the database and the anchor have them."""

    def __init__(self, tenant_id: str, held: Iterable[HeldCheckpoint], anchored: Mapping[int, bytes]) -> None:
        self._tenant = tenant_id
        self._held = {one.number: one for one in held}
        self._anchored = anchored
        self.numbers = sorted({*self._held, *anchored})

    def good(self, trusted: Collection[str]) -> dict[int, Checkpoint]:
        """Those of which one copy at least is what was signed; the anchor's comes first."""
        found: dict[int, Checkpoint] = {}
        for number in self.numbers:
            for data in self._copies(number).values():
                one = _checked(self._tenant, number, data, trusted)
                if isinstance(one, Checkpoint):
                    found.setdefault(number, one)
        return found

    def faults(self, trusted: Collection[str]) -> Iterator[AuditFault]:
        """What is wrong with them, each for itself and as a chain."""
        good = self.good(trusted)
        for number in range(1, self.numbers[-1] + 1 if self.numbers else 1):
            copies = self._copies(number)
            for place, data in copies.items():
                wrong = _checked(self._tenant, number, data, trusted)
                if isinstance(wrong, str):
                    yield self._fault(FaultKind.CHECKPOINT_CHANGED, number, f"{place}: {wrong}")
            if len(set(copies.values())) > 1:
                yield self._fault(FaultKind.CHECKPOINT_CHANGED, number, "the two copies differ")
            for place in sorted(_PLACES - copies.keys()):
                if place != ANCHORED or number not in self._held or self._was_anchored(number):
                    yield self._fault(FaultKind.CHECKPOINT_LOST, number, f"{place} does not have it")
            follows = good.get(number), good.get(number - 1)
            if (
                follows[0]
                and follows[0].previous != (follows[1].digest() if follows[1] else GENESIS)
                and (follows[1] or number == 1)
            ):
                yield self._fault(FaultKind.CHECKPOINT_CHANGED, number, "does not follow the one before it")

    def _was_anchored(self, number: int) -> bool:
        """Whether the anchor has taken it: it takes them in order, so one of a later number says that it has."""
        return self._held[number].anchored or number < max(
            (*self._anchored, *(one.number for one in self._held.values() if one.anchored)), default=0
        )

    def _copies(self, number: int) -> dict[str, bytes]:
        found = {ANCHORED: self._anchored[number]} if number in self._anchored else {}
        return found | ({HELD: self._held[number].signed} if number in self._held else {})

    def _fault(self, kind: FaultKind, number: int, detail: str) -> AuditFault:
        return AuditFault(tenant_id=self._tenant, kind=kind, position=number, detail=f"checkpoint {number}: {detail}")


class _Walk:
    """The rows of a chain, and on the way whether it stood at each checkpoint where that says."""

    def __init__(self, checkpoints: Iterable[Checkpoint], lines: Iterable[Line]) -> None:
        self._lines = lines
        self._due: dict[int, list[Checkpoint]] = {}
        for one in checkpoints:
            self._due.setdefault(one.size, []).append(one)
        self._end = START
        self._otherwise: list[Checkpoint] = []

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            if line.position != NOWHERE:
                self._end = Head(line.position, line.chain)
            due = self._due.pop(line.position, [])
            self._otherwise += [one for one in due if one.root != line.chain]
            yield line

    def compared(self, tenant_id: str, head: Head) -> Iterator[AuditFault]:
        """What does not agree with the checkpoints and with the chain's own head."""
        for one in self._otherwise:
            detail = f"the first {one.size} events are not those that checkpoint {one.number} is of"
            yield AuditFault(tenant_id=tenant_id, kind=FaultKind.REPLACED, position=one.size, detail=detail)
        beyond = [one for size, due in self._due.items() if size > self._end.size for one in due]
        ends = [(one.size, f"checkpoint {one.number}") for one in beyond]
        ends += [(head.size, "the chain's head")] if head.size > self._end.size else []
        if ends:
            size, by = max(ends)
            detail = f"{self._end.size} events are there and {by} is of {size}"
            yield AuditFault(tenant_id=tenant_id, kind=FaultKind.TRUNCATED, position=self._end.size + 1, detail=detail)
        elif head != self._end:
            detail = f"the chain's head is of {head.size} events, and stands elsewhere than the chain's end"
            yield AuditFault(tenant_id=tenant_id, kind=FaultKind.CHANGED, position=self._end.size, detail=detail)


def _read(data: bytes) -> SignedCheckpoint:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{LABEL}: no JSON: {error}") from error
    return SignedCheckpoint.parse(value, LABEL)


def _checked(tenant_id: str, number: int, data: bytes, trusted: Collection[str]) -> Checkpoint | str:
    """The checkpoint, or what is wrong with it."""
    try:
        signed = _read(data)
        verify(signed.signature, LABEL, canonical_json(signed.checkpoint.plain()), trusted)
    except (RecordError, SignatureError) as error:
        return str(error)
    one = signed.checkpoint
    if (one.tenant_id, one.number) != (tenant_id, number):
        return f"is checkpoint {one.number} of {one.tenant_id}"
    return one if signed.data() == data else "is not written as a checkpoint is"
