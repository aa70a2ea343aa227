"""Each tenant's masking policy as it stands now: its rules from the policy file, its lists from the store.

The same policy is the same object until a rule, an entry or the time of an entry changes it, so whoever holds one can
tell by identity whether it still counts.
"""

from __future__ import annotations

from governance.ports.clock import Clock
from governance.ports.masker import MaskingPolicies
from governance.records.masking_list import ListEvent, ListName
from governance.records.masking_policy import MaskingPolicy, PolicyFile
from governance.store import Store


class StoredPolicies(MaskingPolicies):
    """Rules of a file over lists of a store."""

    def __init__(self, file: PolicyFile, store: Store, clock: Clock, *, detectors: str = "") -> None:
        """``detectors`` is the digest of what detects."""
        self._file = file
        self._store = store
        self._clock = clock
        self._detectors = detectors
        self._last: dict[str, tuple[tuple[ListEvent, ...], MaskingPolicy]] = {}

    def policy(self, tenant_id: str) -> MaskingPolicy:
        """The policy, its expired entries left out."""
        entries = self._store.masking_lists.current(tenant_id, self._clock.now())
        last = self._last.get(tenant_id)
        if last is None or last[0] != entries:
            last = self._last[tenant_id] = entries, self._made(tenant_id, entries)
        return last[1]

    def _made(self, tenant_id: str, entries: tuple[ListEvent, ...]) -> MaskingPolicy:
        rules = self._file.rules(tenant_id)
        return MaskingPolicy(
            actions=rules.actions,
            thresholds=rules.thresholds,
            allow=tuple(event.value() for event in entries if event.list_name is ListName.ALLOW),
            deny=tuple(event.value() for event in entries if event.list_name is ListName.DENY),
            detectors=self._detectors,
        )
