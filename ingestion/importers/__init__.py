"""Importers: files of other tools into spans, so that everything after them is the intake as it is.

1. A form is told from what a file holds (``recognise``), never from its name; the first of ``FORMS`` that recognises
   it reads it. A file of none is refused, naming what was tried and what each form needs.
2. An importer makes spans with their original attributes, or with ``gen_ai.*`` attributes where the file has none, and
   reads no message itself: that is the dialects' (``ingestion.dialects``).
3. Ids and times follow one rule each (``ids``, ``times``), so importing a file twice gives the same spans.
4. What becomes no span is a ``Refused`` with its place and reason. Whatever the bytes are, the only exceptions are
   those of ``ingestion.errors``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from governance.records.span import Span
from ingestion.errors import FormUnknown
from ingestion.importers.files import FileLimits, Loaded, load, read_file
from ingestion.importers.form import Archive, FileForm, Refused
from ingestion.importers.inspect_log import InspectLog
from ingestion.importers.langfuse import Langfuse
from ingestion.importers.langsmith import LangSmith
from ingestion.importers.mlflow_trace import MlflowTrace
from ingestion.importers.otlp import Otlp
from ingestion.importers.phoenix import Phoenix
from ingestion.importers.swe_agent import SweAgent
from ingestion.importers.tau_bench import TauBench
from ingestion.importers.trail import Trail

__all__ = ["FORMS", "FileForm", "FileLimits", "Recognised", "Refused", "recognise", "recognise_file"]

FORMS: Final[tuple[FileForm, ...]] = (
    Otlp(), Trail(), Langfuse(), LangSmith(), MlflowTrace(), InspectLog(), TauBench(), SweAgent(), Phoenix(),
)  # fmt: skip
"""In the order in which they are asked: the loosest last."""


class Recognised(NamedTuple):
    """A file whose form is known."""

    form: FileForm
    loaded: Loaded
    source: str

    def spans(self) -> Iterator[Span | Refused]:
        """What it holds, and what of it cannot be read."""
        yield from self.loaded.refused
        yield from self.form.spans(self.loaded.document, self.source)


def recognise_file(path: Path, limits: FileLimits | None = None) -> Recognised:
    """The form of a file.

    Raises:
        ImportRefused: when it cannot be read or is beyond the bounds.
        FormUnknown: when it is of no form.

    """
    bounds = limits or FileLimits()
    return recognise(read_file(path, bounds), path.name, bounds)


def recognise(data: bytes, source: str, limits: FileLimits | None = None) -> Recognised:
    """The form of a file's bytes; ``source`` is what it is called in reasons.

    Raises:
        ImportRefused: when they cannot be read or are beyond the bounds.
        FormUnknown: when they are of no form.

    """
    loaded = load(data, source, limits or FileLimits())
    for form in FORMS:
        if form.recognises(loaded.document):
            return Recognised(form, loaded, source)
    tried = "; ".join(f"{form.name} needs {form.needs}" for form in FORMS)
    raise FormUnknown(f"{source}: {_describe(loaded.document)} is of no form that can be imported. {tried}")


def _describe(document: Any) -> str:
    """What a document is, by its kind and the names of its head; none of its values."""
    if isinstance(document, bytes):
        return "a file that is neither JSON nor an archive nor an export in protobuf"
    if isinstance(document, Archive):
        return f"an archive with {_names(document.members)}"
    if isinstance(document, list):
        return f"a list of {len(document)}, the first being {_describe(document[0])}" if document else "an empty list"
    return f"an object with {_names(document)}" if isinstance(document, dict) else "a single value"


def _names(fields: dict[str, Any]) -> str:
    return ", ".join(repr(str(name)[:40]) for name in list(fields)[:6]) or "nothing in it"
