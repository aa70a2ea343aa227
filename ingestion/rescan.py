"""The rescan: what was masked under another version of a tenant's policy, masked again under the one of now.

1. A trace is read, masked outside of any transaction, and put back in one: its words, who is mentioned in it, what
   follows from it (trajectory, signals), the version and the audit, all or nothing. Whatever was written to it
   meanwhile wins: it is read again.
2. What is done is what the store says is done, so a run that is killed goes on where it was, and a second run finds
   nothing to do.
3. A trace that no detector reads stays as it is and is counted as ``failed``; the next run tries it again. One that a
   legal hold covers stays as it is while the hold stands (``held``). What was masked before marks were recorded cannot
   be masked again without touching its surrogates (``unrecorded``): it stays until it expires.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from governance.acting import audited
from governance.errors import EpochCrossed, MaskingError
from governance.ports.clock import Clock, IdFactory
from governance.ports.masker import Masker
from governance.records.base import Record
from governance.records.content import AdmittedSpan
from governance.records.masking_policy import UNRECORDED
from governance.remasking import Remade, remasked
from governance.store import Store
from governance.store.blocks import TraceKey
from governance.store.spans import Assemble, Snapshot
from ingestion.commit import together

_log = logging.getLogger(__name__)
Tell = Callable[[str], None]
TRIES: Final = 5
"""Times that a trace is read before it is left to the next run."""


class RescanReport(Record):
    """What one run did, in traces."""

    tenants: int = 0
    due: int = 0
    """Masked under another version when the run began."""
    done: int = 0
    busy: int = 0
    """Written to each time they were read: the next run tries them again."""
    failed: int = 0
    held: int = 0
    unrecorded: int = 0
    masked: dict[str, int] = {}
    """What was newly replaced, by entity type."""
    dropped: dict[str, int] = {}
    """Spans whose content was dropped, by the special category in it."""


class Rescan:
    """Masks stored traces again."""

    def __init__(self, store: Store, masker: Masker, assemble: Assemble, clock: Clock, ids: IdFactory) -> None:
        """``assemble`` is the drain's."""
        self._store = store
        self._masker = masker
        self._assemble = assemble
        self._clock = clock
        self._ids = ids

    def left(self) -> dict[str, int]:
        """How many traces are masked under another version: those that are due, and those that cannot be."""
        return {"due": sum(1 for _ in self._due()), "unrecorded": sum(1 for _ in self._unrecorded())}

    def run(self, tell: Tell | None = None, *, dry: bool = False) -> RescanReport:
        """Mask again what is due; ``dry`` only says what that would do."""
        due = list(self._due())
        total: Counter[str] = Counter()
        masked: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for place, trace in enumerate(due, 1):
            fate, remade = self._one(trace, dry=dry)
            total[fate] += 1
            masked.update(remade.masked)
            dropped.update(remade.dropped)
            if tell is not None and (place % 100 == 0 or place == len(due)):
                tell(f"trace {place}/{len(due)}")
        return RescanReport(
            tenants=len({tenant for tenant, _ in due}),
            due=len(due),
            unrecorded=sum(1 for _ in self._unrecorded()),
            masked=dict(sorted(masked.items())),
            dropped=dict(sorted(dropped.items())),
            **total,
        )

    def _due(self) -> Iterator[TraceKey]:
        for tenant_id in self._store.spans.tenants():
            found = self._store.spans.masked_otherwise(tenant_id, self._masker.version(tenant_id))
            stays = set(found.pop(UNRECORDED, ()))
            yield from (
                (tenant_id, trace) for trace in sorted({one for part in found.values() for one in part} - stays)
            )

    def _unrecorded(self) -> Iterator[TraceKey]:
        for tenant_id in self._store.spans.tenants():
            found = self._store.spans.masked_otherwise(tenant_id, self._masker.version(tenant_id))
            yield from ((tenant_id, trace) for trace in found.get(UNRECORDED, ()))

    def _one(self, trace: TraceKey, *, dry: bool) -> tuple[str, Remade]:
        """Its fate, and what was found."""
        for _ in range(TRIES):
            seen = self._store.spans.snapshot(trace)
            if self._held(trace[0], seen.spans):
                return "held", Remade([])
            try:
                remade = remasked(self._masker, trace[0], seen.spans)
            except (MaskingError, EpochCrossed):
                _log.exception("trace %s of tenant %s cannot be masked again and stays as it is", trace[1], trace[0])
                return "failed", Remade([])
            if dry or together(self._store, partial(self._put, seen, remade)):
                return "done", remade
        return "busy", Remade([])

    def _put(self, seen: Snapshot, remade: Remade) -> bool:
        if not self._store.spans.replace(seen, remade.spans, self._assemble):
            return False
        detail = {"masked": dict(sorted(remade.masked.items())), "dropped": dict(sorted(remade.dropped.items()))}
        tenant_id, trace_id = seen.trace
        about = (tenant_id, "mask_again", f"trace:{trace_id}", detail | {"version": self._masker.version(tenant_id)})
        self._store.audit.append(audited(self._ids, self._clock.now(), *about))
        return True

    def _held(self, tenant_id: str, spans: Iterable[AdmittedSpan]) -> bool:
        """Whether a legal hold covers anybody in the trace."""
        whole = list(spans)
        people = {person for one in whole for person in (one.subject, *one.mentions)}
        runs = {f"{tenant_id}/{one.span.trace_id}" for one in whole}
        return bool(self._store.rights.holds(tenant_id, people, self._clock.now(), runs))
