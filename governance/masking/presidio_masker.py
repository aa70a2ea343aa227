"""The masker: detectors and field names find, the tenant's policy judges, surrogates replace.

Guarantees.
1. Deterministic: a value's masked form depends on the value, the tenant and the keys, on nothing masked before.
2. The replaced spans are exactly the findings; everything outside them is kept byte for byte.
3. A declared or personal field is replaced whole whatever the detectors say, by the same surrogate as in a text,
   unless the policy keeps its value: what stays in texts stays there too.
4. Idempotent by record, not by looks: a ``Masked`` is returned as it is, and ``mask_again`` leaves what the recorded
   marks name (``annotations``). A plain string that merely looks like a surrogate is somebody's string, and is masked.
5. When a detector fails, or anything else, nothing is returned (``MaskingError``).

Each distinct (tenant, policy, text, kind) is analysed once. What is remembered of it is where which findings stand,
under a keyed digest: no text, in clear or masked (``governance.masking.memory``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from threading import RLock
from typing import Any, Final, NamedTuple

from governance.masking.annotations import marks_in, shields, text_name
from governance.masking.applied import Applied, apply, around
from governance.masking.detection import Detector, TextDetector, TextKind
from governance.masking.failing import failing_closed
from governance.masking.judgement import Judge, Judged
from governance.masking.memory import Memory
from governance.masking.reader import judged_texts, judged_whole
from governance.masking.reading import digits, read
from governance.masking.same_values import SameValues
from governance.masking.spans import Hit, outside
from governance.masking.surrogate import Surrogates
from governance.masking.values import can_be
from governance.masking.walker import Leaf, leaves, rebuild, whole_digits
from governance.ports.keys import KeyName, KeyProvider
from governance.ports.masker import DefaultPolicies, Finding, Masked, Masker, MaskingPolicies, Remasked
from governance.records.mark import Mark
from governance.records.masking_policy import MaskingPolicy, Outcome

CACHE_SIZE: Final = 200_000
CACHE_BYTES: Final = 64 * 1024 * 1024
_Text = tuple[str, TextKind]


class _Tenant(NamedTuple):
    """How one tenant's values are masked now."""

    version: str
    judge: Judge
    surrogates: Surrogates


class PresidioMasker(Masker):
    """Masks with Presidio, spaCy and phonenumbers."""

    def __init__(
        self,
        keys: KeyProvider,
        *,
        cache_size: int = CACHE_SIZE,
        detector: TextDetector | None = None,
        policies: MaskingPolicies | None = None,
    ) -> None:
        """``cache_size`` in texts, 0 remembers none; ``detector`` is Presidio's unless another one is given."""
        self._keys = keys
        self._detector = detector or Detector()
        self._policies = policies or DefaultPolicies()
        self._memory: Memory[tuple[Judged, ...]] = Memory(cache_size, CACHE_BYTES)
        self._tenants: dict[str, tuple[MaskingPolicy, _Tenant]] = {}
        self._lock = RLock()
        self._epoch: str | None = None

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        """Mask each value, in order; every distinct text is analysed once.

        Raises:
            MaskingError: when a detector fails; nothing is returned then.

        """
        with self._lock:
            tenant = self._tenant(tenant_id)
            with failing_closed("masking"):
                plain = [value for value in values if not isinstance(value, Masked)]
                texts = dict.fromkeys(
                    (leaf.text, leaf.kind) for value in plain for leaf in leaves(value) if leaf.forced is None
                )
                known = self._known(tenant_id, tenant, list(texts))
        with failing_closed("masking"):
            return [value if isinstance(value, Masked) else _mask_one(value, known, tenant) for value in values]

    def epoch(self) -> str:
        """The epoch of the surrogate key that this process read."""
        if self._epoch is None:
            self._epoch = self._keys.epoch(KeyName.SURROGATE)
        return self._epoch

    def mask_again(self, tenant_id: str, values: Sequence[Any], marks: Iterable[Mark]) -> list[Remasked]:
        """Mask values that were masked before; marked characters stay, and under the same policy so does everything.

        Raises:
            MaskingError: when a detector fails; nothing is returned then.

        """
        shielded = shields(marks)
        with self._lock:
            tenant = self._tenant(tenant_id)
            with failing_closed("masking again"):
                known = self._known_again(tenant_id, tenant, values, shielded)
        with failing_closed("masking again"):
            return [_again(value, known, tenant, shielded) for value in values]

    def _known_again(
        self, tenant_id: str, tenant: _Tenant, values: Sequence[Any], shielded: Mapping[str, tuple[Hit, ...]]
    ) -> dict[_Text, Applied]:
        """The masked form of each text, around the surrogates that are in it."""
        texts = dict.fromkeys(
            (leaf.text, leaf.kind)
            for value in values
            for leaf in leaves(value)
            if not _is_of_its_field(leaf, shielded.get(text_name(leaf.text), ()))
        )
        plain = [text for text in texts if text_name(text[0]) not in shielded]
        known = self._known(tenant_id, tenant, plain)
        marked = [text for text in texts if text_name(text[0]) in shielded]
        for text, one in zip(marked, judged_texts(marked, self._detector.find, tenant.judge), strict=True):
            left = around(text[0], one.judged, shielded[text_name(text[0])])
            known[text] = apply(text[0], left, tenant.surrogates, one.reading)
        return known

    def version(self, tenant_id: str) -> str:
        """The version of the tenant's policy of now."""
        with self._lock:
            return self._tenant(tenant_id).version

    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        """The row with its declared fields replaced; a list element by element, a number by a number."""
        with self._lock:
            tenant = self._tenant(tenant_id)
        with failing_closed("masking a row"):
            return {
                name: _forced(value, fields[name], tenant) if name in fields else value for name, value in row.items()
            }

    def _tenant(self, tenant_id: str) -> _Tenant:
        """The tenant under its policy of now."""
        policy = self._policies.policy(tenant_id)
        before = self._tenants.get(tenant_id)
        if before is None or before[0] is not policy:
            surrogates = before[1].surrogates if before else Surrogates(self._keys, tenant_id)
            before = policy, _Tenant(policy.version, Judge(policy, surrogates.mention), surrogates)
            self._tenants[tenant_id] = before
        return before[1]

    def _known(self, tenant_id: str, tenant: _Tenant, texts: list[_Text]) -> dict[_Text, Applied]:
        """The masked form of each text, from the cache or the detectors."""
        known, missing = {}, []
        for text in texts:
            name = self._memory.name(tenant_id, tenant.version, text[1], text[0])
            judged = self._memory.get(name)
            if judged is None:
                missing.append((text, name))
            else:
                known[text] = apply(text[0], judged, tenant.surrogates, read(text[0]) if judged else None)
        found = judged_texts([text for text, _ in missing], self._detector.find, tenant.judge)
        for (text, name), one in zip(missing, found, strict=True):
            self._memory.put(name, one.judged, len(one.judged))
            known[text] = apply(text[0], one.judged, tenant.surrogates, one.reading)
        return known


def _mask_one(value: Any, known: Mapping[_Text, Applied], tenant: _Tenant) -> Masked:
    findings: list[Finding] = []
    kept: list[Finding] = []

    def masked(leaf: Leaf) -> Applied:
        return known[leaf.text, leaf.kind] if leaf.forced is None else _whole(leaf, tenant)

    @cache
    def same() -> SameValues:
        said = chain.from_iterable(masked(leaf).findings for leaf in leaves(value) if not leaf.is_name)
        return SameValues(((one.entity_type, one.mention) for one in said), tenant.surrogates.mention)

    def replace(leaf: Leaf) -> str:
        told = same().type_of(leaf.text) if leaf.is_name and leaf.forced is None else None
        applied = masked(leaf if told is None else leaf._replace(forced=told))
        findings.extend(one.model_copy(update={"pointer": leaf.pointer}) for one in applied.findings)
        kept.extend(one.model_copy(update={"pointer": leaf.pointer}) for one in applied.kept)
        return applied.text

    made = rebuild(value, replace)
    special = {one.entity_type for one in findings if one.outcome is Outcome.QUARANTINED}
    return Masked(value=made, findings=tuple(findings), kept=tuple(kept), quarantine=tuple(sorted(special)))


def _again(
    value: Any, known: Mapping[_Text, Applied], tenant: _Tenant, shielded: Mapping[str, tuple[Hit, ...]]
) -> Remasked:
    findings: list[Finding] = []
    surrogates: list[Finding] = []

    def replace(leaf: Leaf) -> str:
        shield = shielded.get(text_name(leaf.text), ())
        whole = _is_of_its_field(leaf, shield)
        applied = _whole(leaf, tenant, shield) if whole else known[leaf.text, leaf.kind]
        held = [one for one in applied.kept if one.outcome is Outcome.MARKED]
        surrogates.extend(one.model_copy(update={"pointer": leaf.pointer}) for one in (*applied.findings, *held))
        findings.extend(one.model_copy(update={"pointer": leaf.pointer}) for one in applied.findings)
        return applied.text

    made = rebuild(value, replace)
    return Remasked(value=made, findings=tuple(findings), marks=marks_in(made, surrogates))


def _is_of_its_field(leaf: Leaf, shield: Sequence[Hit]) -> bool:
    """Whether a text is one value of the type that its field names: what is marked in it says nothing about that."""
    if leaf.forced is None or not shield:
        return leaf.forced is not None
    beside = outside([Hit(0, len(leaf.text), leaf.forced, 1.0)], shield)
    return can_be(leaf.forced, "".join(leaf.text[part.start : part.end] for part in beside))


def _whole(leaf: Leaf, tenant: _Tenant, shield: Sequence[Hit] = ()) -> Applied:
    """A text that is one value of a known type; a number stays one."""
    one = judged_whole(leaf.text, str(leaf.forced), tenant.judge)
    applied = apply(leaf.text, around(leaf.text, one.judged, shield), tenant.surrogates, one.reading)
    if not leaf.number or applied.text == leaf.text:
        return applied
    text = digits(applied.text)
    findings = tuple(one.model_copy(update={"masked_start": 0, "masked_end": len(text)}) for one in applied.findings)
    return Applied(text, findings, applied.kept)


def _forced(value: Any, entity_type: str, tenant: _Tenant) -> Any:
    if isinstance(value, str):
        return _whole(Leaf("", value, TextKind.TEXT, entity_type), tenant).text if value else value
    if isinstance(value, list | tuple):
        return type(value)(_forced(item, entity_type, tenant) for item in value)
    if isinstance(value, dict):
        return {key: _forced(item, entity_type, tenant) for key, item in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = whole_digits(str(value))
        if text and not tenant.judge.keeps(entity_type, text):
            return type(value)(digits(tenant.surrogates.make(entity_type, text)))
    return value
