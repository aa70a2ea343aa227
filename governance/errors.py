"""The exception tree of ``governance``.

    TidemillError
    └── GovernanceError
        ├── RecordError          a value does not have the shape its record demands
        ├── RightsError          an act without the right to it
        │   ├── PurposeDenied    a read or use that no verdict allows
        │   └── RoleDenied       an act that the actor's role does not cover
        ├── KeyMaterialError     a key is missing, malformed or readable by others
        ├── MaskingError         a detector failed: the record goes to quarantine, never on
        └── StoreError           the database refused or contradicts itself
            ├── Conflict         a compare-and-swap lost
            ├── NotFound         no such row, under a purpose that may see it
            └── MigrationNeeded  the schema in the database is not the one of this code

Each message names what failed and where. ``TidemillError`` is the root of every package's tree.
"""

from __future__ import annotations


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


class KeyMaterialError(GovernanceError):
    """A key is missing, malformed or readable by others."""


class MaskingError(GovernanceError):
    """A detector failed; the record goes to quarantine and never on in clear."""


class StoreError(GovernanceError):
    """The database refused, or what it holds contradicts itself."""


class Conflict(StoreError):
    """A compare-and-swap lost against another writer."""


class NotFound(StoreError):
    """No such row under a purpose that may see it."""


class MigrationNeeded(StoreError):
    """The schema in the database is not the one that this code was written for."""
