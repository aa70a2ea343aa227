"""The exception tree of ``governance``.

    TidemillError
    └── GovernanceError
        ├── RecordError          a value does not have the shape its record demands
        ├── RightsError          an act without the right to it
        │   ├── PurposeDenied    a read or use that no verdict allows
        │   ├── RoleDenied       an act that the actor's role does not cover
        │   ├── TokenRefused     a token that proves nobody
        │   ├── ApprovalMissing  an act that another person has to approve first
        │   ├── ReidentificationRefused  a way back from pseudonyms to people, for who may not go it
        │   └── HeldError        a legal hold forbids to delete
        ├── PolicyError          a policy file is wrong, or would lift what no policy may lift
        ├── KeyMaterialError     a key is missing, malformed or readable by others
        ├── EpochCrossed         values that were masked under different surrogate keys would be joined
        ├── SignatureError       a signature is not by a trusted key, or not over what stands there
        ├── AnchorError          a checkpoint of the audit cannot be kept where it should be
    ├── MaskingError         a detector failed: the record goes to quarantine, never on
        │   └── MaskingTimeout   a detector took too long
        └── StoreError           the database refused or contradicts itself
            ├── Conflict         a compare-and-swap lost
            ├── NotFound         no such row, under a purpose that may see it
            └── MigrationNeeded  the schema in the database is not the one of this code

Each message names what failed and where. ``TidemillError`` is the root of every package's tree.
"""

from __future__ import annotations

from typing import ClassVar


class TidemillError(Exception):
    """Root of every error that Tidemill raises on purpose."""


class GovernanceError(TidemillError):
    """Root of this package's errors."""


class RecordError(GovernanceError):
    """A value does not have the shape that its record demands."""


class RightsError(GovernanceError):
    """An act without the right to it."""


class PurposeDenied(RightsError):
    """A read or use that no verdict allows."""


class RoleDenied(RightsError):
    """An act that the actor's role does not cover."""


class TokenRefused(RightsError):
    """A token is missing, unknown, expired or revoked."""


class ApprovalMissing(RightsError):
    """An act that needs the approval of a person has none that stands."""


class ReidentificationRefused(RightsError):
    """Somebody tried a way from pseudonymised information back to a person, and may not (PIPA 28-5)."""


class HeldError(RightsError):
    """A legal hold forbids to delete."""


class PolicyError(GovernanceError):
    """A policy file is wrong, or would lift what no policy may lift."""


class KeyMaterialError(GovernanceError):
    """A key is missing, malformed or readable by others."""


class EpochCrossed(GovernanceError):
    """Values masked under different surrogate keys would be joined: equal ones are not equal there."""


class SignatureError(GovernanceError):
    """A signature is not by a trusted key, or not over what stands there."""


class AnchorError(GovernanceError):
    """A checkpoint of the audit cannot be kept where it should be."""


class MaskingError(GovernanceError):
    """A detector failed; the record goes to quarantine and never on in clear."""

    reason: ClassVar[str] = "masking_failed"
    """What the ledger calls it."""


class MaskingTimeout(MaskingError):
    """A detector took longer than it may and was ended."""

    reason: ClassVar[str] = "masking_timeout"


class StoreError(GovernanceError):
    """The database refused, or what it holds contradicts itself."""


class Conflict(StoreError):
    """A compare-and-swap lost against another writer."""


class NotFound(StoreError):
    """No such row under a purpose that may see it."""


class MigrationNeeded(StoreError):
    """The schema in the database is not the one that this code was written for."""
