"""Rows of a file: CSV (RFC 4180, with a header), JSON (a list of objects), JSON lines.

A platform's own names are mapped: ``columns`` says which column holds a field, ``words`` which of its words means one
of ours. Every row has a number that a person finds again: its line in a CSV file or in JSON lines, its place in a list
from 1. A line that cannot be read is a fault of that row alone; a JSON list or a header that cannot be read is one of
the file. Rows are read one after the other, so a file of any length takes the memory of its longest row, but for a JSON
list, which is read whole and may not be larger than ``LARGEST_LIST``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ingestion.consent.item import FIELDS, ConsentFault, ConsentItem, read_item
from ingestion.errors import DecodeError
from ingestion.text import NotJson, parse_strict

LARGEST_LIST: Final = 64 * 2**20
LONGEST_ROW: Final = 256 * 1024
FORMS: Final = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Mapped:
    """How a platform calls things."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Field to the platform's column; a field that is not here is its own."""
    words: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(field, the platform's word) to ours."""

    def of(self, raw: Any) -> Any:
        """A platform's row in our fields; columns that no field is mapped to are left out."""
        if not isinstance(raw, Mapping):
            return raw
        told = {name: raw.get(self.columns.get(name, name)) for name in FIELDS}
        return {name: self.words.get((name, value), value) if isinstance(value, str) else value
                for name, value in told.items()}  # fmt: skip


def form_of(path: Path) -> str:
    """The form that a file's name says.

    Raises:
        DecodeError: when it says none.

    """
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise DecodeError(f"{path.name}: must end in {', '.join(FORMS)}")
    return form


def rows(path: Path, mapped: Mapped, now: datetime) -> Iterator[ConsentItem | ConsentFault]:
    """What a file holds, in order.

    Raises:
        DecodeError: when the file as a whole cannot be read.

    """
    readers = {"csv": _csv, "json": _json, "jsonl": _lines}
    for position, raw in readers[form_of(path)](path, mapped):
        yield raw if isinstance(raw, ConsentFault) else read_item(mapped.of(raw), position, now)


def _csv(path: Path, mapped: Mapped) -> Iterator[tuple[int, Any]]:
    csv.field_size_limit(LONGEST_ROW)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            header = reader.fieldnames or []
            missing = sorted(set(mapped.columns.values()) - set(header))
            if missing or len(set(header)) != len(header):
                why = f"the header lacks {', '.join(missing)}" if missing else "the header names a column twice"
                raise DecodeError(f"{path.name}: {why}")
            for row in reader:
                torn = None in row or None in row.values()
                fault = ConsentFault(reader.line_num, "(row)", "must have as many fields as the header")
                yield reader.line_num, fault if torn else row
        except (csv.Error, UnicodeDecodeError) as error:
            raise DecodeError(f"{path.name}: line {reader.line_num + 1} cannot be read as CSV in UTF-8") from error


def _lines(path: Path, mapped: Mapped) -> Iterator[tuple[int, Any]]:  # noqa: ARG001 - one shape for all readers
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_ROW + 1):
            number += 1
            if len(line) > LONGEST_ROW:
                raise DecodeError(f"{path.name}: line {number} is longer than {LONGEST_ROW} bytes")
            if line.strip():
                yield number, _value(line, number)


def _json(path: Path, mapped: Mapped) -> Iterator[tuple[int, Any]]:  # noqa: ARG001 - one shape for all readers
    if path.stat().st_size > LARGEST_LIST:
        raise DecodeError(f"{path.name}: a JSON list may have {LARGEST_LIST} bytes; write larger ones as JSON lines")
    found = _value(path.read_bytes(), 0)
    if not isinstance(found, list):
        raise DecodeError(f"{path.name}: must be a JSON list of rows")
    yield from enumerate(found, start=1)


def _value(data: bytes, number: int) -> Any:
    """A JSON value; a fault where it is none."""
    try:
        return parse_strict(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, NotJson):
        return ConsentFault(number, "(row)", "must be one JSON value in UTF-8 that names no key twice")
