"""What every form of file has in common: its name, how it is told, and how it becomes spans.

A document is what a file holds once it is unpacked and parsed: a JSON value, a list of the values of a JSON-lines file,
the members of an archive, or the bytes of a protobuf message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from governance.records.base import Record
from governance.records.span import Span


class Refused(Record):
    """A part of a file that becomes no span."""

    where: str
    """The place inside the file: a line, a position, an id."""
    reason: str


@dataclass(frozen=True)
class Archive:
    """The JSON members of an archive, by name."""

    members: dict[str, Any]


Document = Any
"""A JSON value, an ``Archive``, or bytes."""


class FileForm(ABC):
    """One form of file. Pure: a document in, spans out, and what is no span is named."""

    name: ClassVar[str]
    needs: ClassVar[str]
    """What a document of this form has, in words: the reason why another one is not of it."""

    @abstractmethod
    def recognises(self, document: Document) -> bool:
        """Whether the document is of this form, judged by its head."""

    @abstractmethod
    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """The spans of a document that is recognised. ``source`` names the file in what is refused."""
