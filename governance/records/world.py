"""A world: the state an agent acts on, as a snapshot named by its digest.

A snapshot is relational state (tables of rows) plus documents. Which field holds whose data is declared, so that
masking, rights and erasure reach into worlds like into any other store.
"""

from __future__ import annotations

from typing import Any

from governance.records.base import Record, UtcTime


class WorldSchema(Record):
    """How to read a snapshot: keys, personal fields, and whose they are."""

    primary_keys: dict[str, str]
    """Table name to the field that identifies a row."""
    subject_fields: dict[str, str]
    """Table name to the field that holds the person's id, in the form of the traces' subject attribute."""
    personal_fields: dict[str, str]
    """``table.field`` to the entity type that masking applies (``PERSON``, ``EMAIL_ADDRESS``, ...)."""
    unordered_fields: tuple[str, ...] = ()
    """``table.field`` of lists whose order means nothing; two rows that differ in it alone are equal."""


class World(Record):
    """A snapshot: ``tables[name]`` is a list of rows; ``documents[name]`` is text."""

    tables: dict[str, tuple[dict[str, Any], ...]]
    documents: dict[str, str]
    at: UtcTime
    """The world's own time at the start of a run."""


class WorldRef(Record):
    """A stored world of a tenant."""

    tenant_id: str
    source_digest: str
    """Digest of the snapshot as the company's app reported it on its traces."""
    masked_digest: str
    """Digest of the masked snapshot that tasks and rollouts use."""
    at: UtcTime
    epoch: str = ""
    """The epoch of the surrogate key under which it was masked."""


class StateChange(Record):
    """One difference between two states of a world."""

    table: str
    key: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class WorldSubject(Record):
    """One row of a snapshot that holds a person's data, so that the row can leave with the person."""

    subject: str
    """Keyed hash of the person."""
    table: str
    key_field: str
    """The table's primary key (``WorldSchema.primary_keys``)."""
    key: str
    """``str`` of the masked row's value in that field."""
