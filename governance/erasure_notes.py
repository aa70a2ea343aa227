"""What an erasure did so far: a run that is taken up again reads what the run before has done.

Notes name artifacts that are deleted by then, so they go with the certificate, which names them for good; the audit,
which loses nothing, counts them by place and state. Neither names the person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from governance.acting import audited
from governance.ports.clock import Clock, IdFactory
from governance.records.erasure import ArtifactState, ErasedArtifact, SearchedPlace
from governance.records.lineage import Node, NodeKind
from governance.records.rights_request import RightsRequest
from governance.store import Store

NOTED: Final = "erasure_noted"


class ErasureNotes:
    """Notes of requests under way."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory) -> None:
        """In the chains of this store."""
        self._store, self._clock, self._ids = store, clock, ids

    def log(self, tenant_id: str, action: str, request_id: str, detail: dict[str, Any]) -> None:
        """An audit event about a request."""
        about = (tenant_id, action, f"erasure:{request_id}", detail)
        self._store.audit.append(audited(self._ids, self._clock.now(), *about))

    def note(self, request_id: str, tenant_id: str, place: str, artifacts: Sequence[ErasedArtifact]) -> None:
        """Note what became of what a place held; the audit counts it."""
        if not artifacts:
            return
        named = [one for one in artifacts if one.node.kind is not NodeKind.SUBJECT]
        states = Counter(one.state.value for one in named)
        with self._store.transaction():
            self._store.erasures.note(request_id, place, named)
            self.log(tenant_id, NOTED, request_id, {"place": place, "states": dict(sorted(states.items()))})

    def artifacts(self, asked: RightsRequest, searched: Iterable[SearchedPlace] = ()) -> tuple[ErasedArtifact, ...]:
        """What every run of the request did, each artifact once, in the state that it was last given.

        A place of ``searched`` that held something and holds nothing, and that nobody noted, was erased by a run that
        broke off before it could say what.
        """
        notes = self._store.erasures.noted(asked.id)
        found = [one for _, artifacts in notes for one in artifacts]
        noted = {place for place, _ in notes}
        found += [_unnoted(one) for one in searched if one.place not in noted and one.held_before > one.held_after]
        last = {(one.node.kind, one.node.id): one for one in found}
        return tuple(last[key] for key in sorted(last))


def _unnoted(place: SearchedPlace) -> ErasedArtifact:
    node = Node(kind=NodeKind.BLOCK, id=f"place/{place.place}")
    detail = f"{place.held_before - place.held_after} rows and files, by a run that broke off"
    return ErasedArtifact(node=node, state=ArtifactState.DELETED, detail=detail)
