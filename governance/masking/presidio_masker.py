"""The masker: detectors and field names find, surrogates replace.

Guarantees.
1. Deterministic: a value's masked form depends on the value, the tenant and the keys, on nothing masked before.
2. The replaced spans are exactly the findings; everything outside them is kept byte for byte.
3. A declared or personal field is replaced whole whatever the detectors say, by the same surrogate as in a text.
4. Idempotent by record, not by looks: a ``Masked`` is returned as it is. A plain string that merely looks like a
   surrogate is somebody's string, and is masked.
5. When a detector fails, nothing is returned (``MaskingError``).

Each distinct (tenant, text, kind) is analysed once and remembered in a bounded cache under a digest, never in clear.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any, Final

from governance.masking.detection import Detector, TextKind
from governance.masking.spans import Hit
from governance.masking.surrogate import Surrogates
from governance.masking.walker import Leaf, leaves, rebuild
from governance.ports.keys import KeyProvider
from governance.ports.masker import Finding, Masked, Masker

CACHE_SIZE: Final = 200_000
_CacheKey = tuple[str, TextKind, bytes]


class PresidioMasker(Masker):
    """Masks with Presidio, spaCy and phonenumbers."""

    def __init__(self, keys: KeyProvider, *, cache_size: int = CACHE_SIZE, detector: Detector | None = None) -> None:
        """``cache_size`` 0 switches the cache off; ``detector`` is Presidio's unless another one is given."""
        self._keys = keys
        self._detector = detector or Detector()
        self._cache_size = cache_size
        self._cache: OrderedDict[_CacheKey, tuple[str, tuple[Finding, ...]]] = OrderedDict()
        self._tenants: dict[str, Surrogates] = {}
        self._lock = RLock()

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        """Mask each value, in order; every distinct text is analysed once.

        Raises:
            MaskingError: when a detector fails; nothing is returned then.

        """
        texts: dict[tuple[str, TextKind], None] = {}
        for value in values:
            if not isinstance(value, Masked):
                texts |= {(leaf.text, leaf.kind): None for leaf in leaves(value) if leaf.forced is None}
        with self._lock:
            known = self._known(tenant_id, list(texts))
            surrogates = self._surrogates(tenant_id)
        return [value if isinstance(value, Masked) else _mask_one(value, known, surrogates) for value in values]

    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        """The row with its declared fields replaced; a list element by element, a number by a number."""
        with self._lock:
            surrogates = self._surrogates(tenant_id)
        return {
            name: _forced(value, fields[name], surrogates) if name in fields else value for name, value in row.items()
        }

    def _surrogates(self, tenant_id: str) -> Surrogates:
        if tenant_id not in self._tenants:
            self._tenants[tenant_id] = Surrogates(self._keys, tenant_id)
        return self._tenants[tenant_id]

    def _known(
        self, tenant_id: str, texts: list[tuple[str, TextKind]]
    ) -> dict[tuple[str, TextKind], tuple[str, tuple[Finding, ...]]]:
        """The masked form of each text, from the cache or the detectors."""
        known, missing = {}, []
        for text, kind in texts:
            entry = self._cache.get(_cache_key(tenant_id, text, kind))
            if entry is None:
                missing.append((text, kind))
            else:
                known[text, kind] = entry
        surrogates = self._surrogates(tenant_id)
        for (text, kind), hits in zip(missing, self._detector.find(missing), strict=True):
            known[text, kind] = apply(text, hits, surrogates)
            self._remember(_cache_key(tenant_id, text, kind), known[text, kind])
        return known

    def _remember(self, key: _CacheKey, entry: tuple[str, tuple[Finding, ...]]) -> None:
        if self._cache_size:
            self._cache[key] = entry
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)


def apply(text: str, hits: Sequence[Hit], surrogates: Surrogates) -> tuple[str, tuple[Finding, ...]]:
    """The text with each span replaced, and what was found in it."""
    parts, findings, done = [], [], 0
    for hit in hits:
        value = text[hit.start : hit.end]
        parts += [text[done : hit.start], surrogates.make(hit.entity_type, value)]
        done = hit.end
        findings.append(_finding(hit, surrogates.mention(hit.entity_type, value)))
    return "".join([*parts, text[done:]]), tuple(findings)


def _finding(hit: Hit, mention: str, pointer: str = "") -> Finding:
    return Finding(
        pointer=pointer, start=hit.start, end=hit.end, entity_type=hit.entity_type, score=hit.score, mention=mention
    )


def _mask_one(
    value: Any, known: Mapping[tuple[str, TextKind], tuple[str, tuple[Finding, ...]]], surrogates: Surrogates
) -> Masked:
    findings: list[Finding] = []

    def replace(leaf: Leaf) -> str:
        if leaf.forced is None:
            text, found = known[leaf.text, leaf.kind]
            findings.extend(one.model_copy(update={"pointer": leaf.pointer}) for one in found)
            return text
        whole = Hit(0, len(leaf.text), leaf.forced, 1.0)
        findings.append(_finding(whole, surrogates.mention(leaf.forced, leaf.text), leaf.pointer))
        return surrogates.make(leaf.forced, leaf.text)

    return Masked(value=rebuild(value, replace), findings=tuple(findings))


def _forced(value: Any, entity_type: str, surrogates: Surrogates) -> Any:
    if isinstance(value, str):
        return surrogates.make(entity_type, value) if value else value
    if isinstance(value, list | tuple):
        return type(value)(_forced(item, entity_type, surrogates) for item in value)
    if isinstance(value, dict):
        return {key: _forced(item, entity_type, surrogates) for key, item in value.items()}
    if isinstance(value, int) and not isinstance(value, bool):
        digits = "".join(char for char in surrogates.make(entity_type, str(value)) if char.isdecimal())
        return int(digits or "0")
    return value


def _cache_key(tenant_id: str, text: str, kind: TextKind) -> _CacheKey:
    return tenant_id, kind, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
