"""A snapshot of a world, masked: every cell and every document, each row under its person, without the erased.

A declared field is replaced whole by its type. Every other cell goes through the same masking as what is said in
traces, with the names of its fields as context, so that a masked call finds the masked row and a personal value in a
field that nobody declared does not stay. The field that holds a person's id becomes the subject's hash, there and where
the id stands in other cells of the row.

A document that holds a special category is masked and stays: a world is the company's own state, and its policy texts
name illnesses without being about anybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from governance.own_id import OwnId
from governance.ports.masker import Masked, Masker
from governance.records.world import World, WorldSchema, WorldSubject


class People(Protocol):
    """Who a person is, and who was erased."""

    def subject(self, tenant_id: str, raw_id: str | None) -> str:
        """The keyed hash of a raw id."""

    def erased(self, tenant_id: str, subjects: Iterable[str]) -> set[str]:
        """Those of the people who were erased."""


class MaskedWorld(NamedTuple):
    """A masked snapshot."""

    world: World
    people: list[WorldSubject]
    """Whose each row is."""
    dropped: int
    """How many rows of erased people were left out."""


def masked_world(masker: Masker, tenant_id: str, source: World, schema: WorldSchema, people: People) -> MaskedWorld:
    """Mask a snapshot.

    Raises:
        MaskingError: when a detector fails.

    """
    tables: dict[str, tuple[dict[str, Any], ...]] = {}
    index: list[WorldSubject] = []
    dropped = 0
    for table, rows in source.tables.items():
        fields, whose = _personal(schema, table), schema.subject_fields.get(table)
        masked = masker.mask(tenant_id, rows)
        made = [
            _row(masker, tenant_id, (row, one), fields, whose, people) for row, one in zip(rows, masked, strict=True)
        ]
        erased = people.erased(tenant_id, {subject for _, subject in made if subject is not None})
        kept = [(row, subject) for row, subject in made if subject not in erased]
        dropped += len(made) - len(kept)
        tables[table] = tuple(row for row, _ in kept)
        index += _index(schema, table, kept)
    names = sorted(source.documents)
    documents = masker.mask(tenant_id, [source.documents[name] for name in names])
    world = World(
        tables=tables,
        documents={name: str(one.value) for name, one in zip(names, documents, strict=True)},
        at=source.at,
    )
    return MaskedWorld(world, index, dropped)


def _row(  # noqa: PLR0917 - one row of a table
    masker: Masker,
    tenant_id: str,
    read: tuple[dict[str, Any], Masked],
    fields: dict[str, str],
    whose: str | None,
    people: People,
) -> tuple[dict[str, Any], str | None]:
    row, masked = read
    raw_id = row.get(whose) if whose else None
    owned = whose is not None and raw_id is not None and raw_id != ""
    subject = people.subject(tenant_id, str(raw_id)) if owned else None
    if subject is not None:
        masked = OwnId(str(raw_id), subject).hidden(masked)
    declared = {field: kind for field, kind in fields.items() if field in row and field != whose}
    made: dict[str, Any] = masked.value | masker.mask_fields(
        tenant_id, {field: row[field] for field in declared}, declared
    )
    return (made | {str(whose): subject} if owned else made), subject


def _personal(schema: WorldSchema, table: str) -> dict[str, str]:
    """The declared fields of a table, with their entity types."""
    paths = ((path.partition("."), kind) for path, kind in schema.personal_fields.items())
    return {field: kind for (name, _, field), kind in paths if name == table}


def _index(schema: WorldSchema, table: str, rows: Sequence[tuple[dict[str, Any], str | None]]) -> list[WorldSubject]:
    """Whose each row is, by the key of the masked row."""
    key = schema.primary_keys[table] if table in schema.primary_keys else schema.subject_fields.get(table, "")
    return [
        WorldSubject(subject=subject, table=table, key_field=key, key=str(row.get(key)))
        for row, subject in rows
        if subject is not None
    ]
