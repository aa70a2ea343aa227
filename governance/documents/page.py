"""The form of a document: fields in sections, each with the tables that it came from, as JSON and as Markdown.

A field without a value says "missing" and why; nothing is filled in. Texts that came from people or programs are
escaped in Markdown, so that none can make a heading, a link, an image or markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from governance.records.base import Record, UtcTime

MISSING: Final = "missing"
_MARKS: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>&~^=:])")
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class Field(Record):
    """One fact of a document."""

    section: str
    name: str
    value: Any
    """None or empty where it is missing."""
    tables: tuple[str, ...]
    """Where it came from, or where it would."""
    note: str = ""
    """Why it is missing, or how to read it."""

    @property
    def missing(self) -> bool:
        """Whether there is nothing to say."""
        return self.value is None or self.value in ("", [], {}, ())


class Document(Record):
    """A document about one thing at one moment."""

    kind: str
    title: str
    about: str
    """The digest or name of what it is about."""
    as_of: UtcTime
    fields: tuple[Field, ...]

    def json_form(self) -> dict[str, Any]:
        """Sections to fields to value, tables and note."""
        sections: dict[str, dict[str, Any]] = {}
        for field in self.fields:
            shown: dict[str, Any] = {"value": None if field.missing else field.value, "tables": list(field.tables)}
            shown |= {"note": field.note} if field.note else {}
            shown |= {"missing": True} if field.missing else {}
            sections.setdefault(field.section, {})[field.name] = shown
        head = {"document": self.kind, "title": self.title, "about": self.about, "as_of": self.as_of.isoformat()}
        return {**head, "sections": sections, "missing": [f"{one.section}: {one.name}" for one in self.gaps]}

    @property
    def gaps(self) -> list[Field]:
        """The fields that say nothing."""
        return [field for field in self.fields if field.missing]

    def markdown(self) -> str:
        """The document for people."""
        lines = [f"# {escaped(self.title)}", "", f"About: {escaped(self.about)}  ", f"As of: {self.as_of.isoformat()}"]
        section = ""
        for field in self.fields:
            if field.section != section:
                section = field.section
                lines += ["", f"## {escaped(section)}", "", "| field | value | from |", "| --- | --- | --- |"]
            value = f"_{MISSING}_" if field.missing else _cell(field.value)
            note = f" ({escaped(field.note)})" if field.note else ""
            lines.append(f"| {escaped(field.name)} | {value}{note} | {', '.join(map(escaped, field.tables))} |")
        return "\n".join(lines) + "\n"


def escaped(text: object) -> str:
    """A text that is nothing but text in Markdown, on one line."""
    return _MARKS.sub(r"\\\1", _BREAKS.sub(" ", str(text))).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return "<br>".join(f"{escaped(name)}: {_cell(one)}" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "<br>".join(_cell(one) for one in value)
    return escaped(value)


def section(
    name: str, fields: Iterable[tuple[str, Any, Sequence[str]] | tuple[str, Any, Sequence[str], str]]
) -> list[Field]:
    """Fields of one section."""
    return [
        Field(section=name, name=one[0], value=one[1], tables=tuple(one[2]), note=one[3] if len(one) > 3 else "")
        for one in fields
    ]
