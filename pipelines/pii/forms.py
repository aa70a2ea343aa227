"""Labelled texts in the forms of other tools, told by their shape, as lines of the native form.

A file is JSONL, or one JSON array. Read are, besides the native form (``pipelines.pii.labels``):

- presidio-research (``full_text``, ``spans`` with ``start_position`` and ``end_position``, ``template_id``);
- structured messages (``pii_fields`` by pointer, ``pii_spans``, ``must_keep``, ``kind``, ``format``): of a plain text
  only exact values are labelled, so no finding in it is judged wrong;
- recogniser cases (``expected_len``, ``expected_positions``, ``entities``, ``lang``): a text in which nothing of a type
  may be found is a text without a label in which only that type is judged; a case whose positions or type are not
  written down is left out and counted;
- annotations (``text``, ``annotations`` with ``start``, ``end``, ``type``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Final, NamedTuple

from governance.masking.evaluation import ANY, TypeNames
from pipelines.errors import LineError
from pipelines.pii.lines import Line, parse_strictly, read_lines

LARGEST: Final = 256 * 2**20
"""Bytes of a file that is one JSON array: it is read whole."""
_Row = dict[str, Any]


class Skipped(NamedTuple):
    """A line that says nothing that could be counted, and why."""

    number: int
    reason: str


class Form(NamedTuple):
    """One shape of labelled texts."""

    name: str
    tells: Callable[[_Row], bool]
    native: Callable[[_Row], _Row | str]
    """The line in the native form, or why it is left out."""
    names: TypeNames = TypeNames()
    """What its types are called here."""


def labelled_lines(stream: IO[bytes]) -> tuple[Form, Iterator[Line | LineError | Skipped]]:
    """The form of a file, told by its first good line, and its lines in the native form."""
    lines = _rows(stream)
    seen: list[Line | LineError] = []
    for line in lines:
        seen.append(line)
        if isinstance(line, Line):
            break
    first = seen[-1] if seen else None
    form = next((one for one in FORMS if isinstance(first, Line) and one.tells(first.value)), NATIVE)
    return form, _native(form, itertools.chain(seen, lines))


def _rows(stream: IO[bytes]) -> Iterator[Line | LineError]:
    head = stream.peek(64) if hasattr(stream, "peek") else b""
    if not head.lstrip().startswith(b"["):
        yield from read_lines(stream)
        return
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield LineError(1, f"one JSON array of more than {LARGEST} bytes: write one object a line")
        return
    try:
        items = parse_strictly(data)
    except ValueError as error:
        yield LineError(1, str(error))
        return
    for number, item in enumerate(items, 1):
        yield Line(number, item) if isinstance(item, dict) else LineError(number, "not an object")


def _native(form: Form, lines: Iterator[Line | LineError]) -> Iterator[Line | LineError | Skipped]:
    for line in lines:
        if isinstance(line, LineError) or form is NATIVE:
            yield line
            continue
        try:
            made = form.native(line.value)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield LineError(line.number, f"not of the form {form.name}: {type(error).__name__} at {error}")
            continue
        if isinstance(made, str):
            yield Skipped(line.number, made)
        else:
            yield Line(line.number, {"id": line.number} | {name: it for name, it in made.items() if it is not None})


def _research(row: _Row) -> _Row:
    labels = [
        {"type": span["entity_type"], "start": span["start_position"], "end": span["end_position"]}
        for span in row["spans"]
    ]
    template = row.get("template_id")
    return {"text": row["full_text"], "labels": labels, "cluster": None if template is None else str(template)}


def _structured(row: _Row) -> _Row:
    labels = [_only(field, "type", "pointer", "value") for field in row["pii_fields"]]
    labels += [_only(span, "type", "start", "end") for span in row["pii_spans"]]
    keep = [_only(one, *(("pointer",) if "pointer" in one else ("start", "end"))) for one in row["must_keep"]]
    cluster = None if row.get("task_id") is None else str(row["task_id"])
    known = {"id": row.get("id"), "channel": row.get("kind"), "language": row.get("lang"), "cluster": cluster}
    types: list[str] | None = [] if row.get("format") == "text" else None
    return {"text": row["text"], "labels": labels, "keep": keep, "types": types, **known}


def _recogniser(row: _Row) -> _Row | str:
    places, expected, kinds = row["expected_positions"] or [], row.get("expected_len"), row["entities"] or []
    if expected not in {None, len(places)}:
        return "no positions"
    kind = kinds[0] if len(kinds) == 1 else ANY
    if not places and kind == ANY:
        return "no type"
    labels = [{"type": kind, "start": start, "end": end} for start, end in places]
    return {"text": row["text"], "labels": labels, "types": [kind], "language": row.get("lang")}


def _annotated(row: _Row) -> _Row:
    labels = [_only(one, "type", "start", "end") for one in row["annotations"]]
    told: Mapping[str, Any] = row.get("metadata") or {}
    known = {"id": row.get("id"), "language": told.get("language"), "channel": told.get("domain")}
    return {"text": row["text"], "labels": labels, **known}


def _only(item: Mapping[str, Any], *names: str) -> _Row:
    return {name: item[name] for name in names if name in item}


NATIVE: Final = Form("tidemill", lambda row: "labels" in row, lambda row: row)
FORMS: Final = (
    NATIVE,
    Form(
        "presidio-research",
        lambda row: {"full_text", "spans"} <= set(row),
        _research,
        TypeNames(labels={"STREET_ADDRESS": "LOCATION", "ADDRESS": "LOCATION"}),
    ),
    Form(
        "structured messages",
        lambda row: {"pii_fields", "pii_spans", "must_keep"} <= set(row),
        _structured,
        TypeNames(
            labels={
                **dict.fromkeys(("FIRST_NAME", "LAST_NAME", "FULL_NAME"), "PERSON"),
                **dict.fromkeys(("STREET_ADDRESS", "CITY", "ZIP"), "LOCATION"),
                "EMAIL": "EMAIL_ADDRESS",
            }
        ),
    ),
    Form("recogniser cases", lambda row: {"expected_len", "expected_positions"} <= set(row), _recogniser),
    Form(
        "annotations",
        lambda row: {"text", "annotations"} <= set(row),
        _annotated,
        TypeNames(labels={"email": "EMAIL_ADDRESS", "credit_card": "CREDIT_CARD"}),
    ),
)
