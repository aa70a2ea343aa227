"""What a tenant does with what detectors find: detection says what is there, the policy what happens to it.

A policy is named by the digest of everything that decides an outcome (``version``): a text that was scanned under one
version is scanned again under the next. Listed values are kept only as keyed identifiers, never in clear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field, StringConstraints, ValidationError

from governance.errors import RecordError
from governance.records.base import Record, UtcTime

EntityType = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]*$")]
"""The name of a type of finding: capitals, digits and low lines."""
Score = Annotated[float, Field(ge=0, le=1)]
SPECIAL_CATEGORIES: Final = frozenset(
    {"HEALTH", "BELIEF", "POLITICAL_OPINION", "ETHNICITY", "SEX_LIFE", "TRADE_UNION", "GENETIC", "BIOMETRIC",
     "CRIMINAL_RECORD"}
)  # fmt: skip
"""GDPR Articles 9 and 10: what is quarantined unless a policy says otherwise."""
DETECTED_ONLY: Final = frozenset(
    {"ORGANIZATION", "GPE", "DATE_TIME", "AGE", "NRP", "TITLE", "URL", "DOMAIN_NAME", "ZIP_CODE", "MAC_ADDRESS"}
)
"""What identifies nobody by itself and what tool calls are made of: found, and kept unless a policy masks it."""


UNRECORDED: Final = "unrecorded"
"""The version of what was masked before versions and marks were recorded: it cannot be masked again."""


class Action(StrEnum):
    """What happens to a finding."""

    MASK = "mask"
    KEEP = "keep"
    QUARANTINE = "quarantine"


class Outcome(StrEnum):
    """What became of a finding, and why."""

    MASKED = "masked"
    DENIED = "denied"
    """Masked since it stands on the deny-list."""
    QUARANTINED = "quarantined"
    """Masked, and nobody may keep the record without a person's decision."""
    KEPT = "kept"
    """Left as it is: the policy keeps its type."""
    ALLOWED = "allowed"
    """Left as it is: it stands on the allow-list."""
    UNSURE = "unsure"
    """Left as it is: its score lies under the policy's threshold."""
    MARKED = "marked"
    """Left as it is: a surrogate that was put there before."""


class ListedValue(Record):
    """A value that somebody put on a list, for a time."""

    mention: str
    """Keyed identifier of the value (``Surrogates.mention``)."""
    entity_type: EntityType
    words: int = Field(default=1, ge=1)
    """How many words the value has: how far a search for it must look."""
    owner: str
    """Who answers for the entry."""
    reason: str
    expires_at: UtcTime


class MaskingPolicy(Record):
    """One tenant's masking policy."""

    actions: Mapping[EntityType, Action] = {}
    """Entity type to action, where it is not the default one."""
    thresholds: Mapping[EntityType, Score] = {}
    """Entity type to the score from which a finding counts, where it is not the default one."""
    allow: tuple[ListedValue, ...] = ()
    """Public values that stay."""
    deny: tuple[ListedValue, ...] = ()
    """Values that are masked wherever they stand, though no detector finds them."""
    detectors: str = ""
    """The digest of the detectors' rules and models, so that a change of them is a change of version."""

    def action(self, entity_type: str) -> Action:
        """What happens to a finding of that type."""
        chosen = self.actions.get(entity_type)
        if chosen is not None:
            return chosen
        if entity_type in SPECIAL_CATEGORIES:
            return Action.QUARANTINE
        return Action.KEEP if entity_type in DETECTED_ONLY else Action.MASK

    def threshold(self, entity_type: str) -> float:
        """The score from which a finding of that type counts; what detectors report counts by default."""
        return self.thresholds.get(entity_type, 0.0)

    @property
    def version(self) -> str:
        """The name of this policy. Not kept: a copy with other rules would keep it too."""
        return self.digest()


class PolicyRules(Record):
    """What a policy file says for somebody."""

    actions: Mapping[EntityType, Action] = {}
    thresholds: Mapping[EntityType, Score] = {}


class PolicyFile(Record):
    """A policy file: rules for everybody, and for each tenant what differs."""

    default: PolicyRules = PolicyRules()
    tenant: Mapping[str, PolicyRules] = {}

    def rules(self, tenant_id: str) -> PolicyRules:
        """A tenant's rules: its own over the default ones, type by type."""
        own = self.tenant.get(tenant_id, PolicyRules())
        return PolicyRules(
            actions={**self.default.actions, **own.actions},
            thresholds={**self.default.thresholds, **own.thresholds},
        )


def parse_policy_file(held: Mapping[str, object], where: str) -> PolicyFile:
    """A policy file from plain values.

    Raises:
        RecordError: naming the file, each key that is wrong, and its value.

    """
    try:
        return PolicyFile.model_validate(held)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])} = {_shown(item['input'])}: {item['msg']}"
            for item in error.errors()
        )
        raise RecordError(f"{where}: not a masking policy: {faults}") from error


def _shown(value: object) -> str:
    """A value as a message shows it; Python refuses to write out numbers of thousands of digits."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"(a {type(value).__name__} too large to show)"


def join_versions(versions: Iterable[str]) -> str:
    """The version of what several texts make together: theirs if it is one, else none, and ``UNRECORDED`` above all."""
    found = set(versions)
    if UNRECORDED in found:
        return UNRECORDED
    return found.pop() if len(found) == 1 else ""
