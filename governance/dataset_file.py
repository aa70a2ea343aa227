"""An exported file held against itself, and against what the audit says of it.

The file alone shows whether it is whole: every kind of line in its place, each row under its digest, the lines under
the Merkle root, and everything before the end under the digest that the end names. Whoever edits all of that makes a
file that is whole; only the installation that wrote it can tell, since its audit names the digest of each export.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from governance.errors import RecordError
from governance.records import merkle
from governance.records.base import canonical_json
from governance.records.dataset import DatasetRow
from governance.records.manifest import ManifestLine
from governance.store import Store

FORM: Final = "tidemill.dataset/2"
HEAD, ROW, DROPPED, END = "dataset", "row", "dropped", "end"
_ORDER: Final = {HEAD: 0, ROW: 1, DROPPED: 2, END: 3}
_FIELDS: Final = {ROW: {"kind", "position", "line", "row"}, DROPPED: {"kind", "row", "reason"}}
Lines = Sequence[dict[str, Any]]


def check(path: Path, store: Store | None = None) -> list[str]:
    """What in an exported file is not as it was written; empty when it is whole.

    ``store``: the one whose audit says what was exported, if it knows the dataset.

    Raises:
        RecordError: for a line that is no JSON object, or a row that is none.

    """
    raw = path.read_bytes().splitlines(keepends=True)
    lines = [parsed(line, path, number) for number, line in enumerate(raw, 1)]
    if not lines or lines[0].get("form") != FORM:
        return [f"{path.name} is no export of a dataset"]
    misplaced = _misplaced(lines)
    if misplaced:
        return misplaced
    body = hashlib.sha256(b"".join(raw[:-1])).hexdigest()
    found = [*_rows_wrong(path, lines), *_end_wrong(lines, body)]
    if any(canonical_json(line) + b"\n" != said for line, said in zip(lines, raw, strict=True)):
        found.append("a line is not written as an export writes it")
    return found + ([] if store is None else _not_noted(store, lines[0], body))


def parsed(line: bytes, path: Path, number: int, *, strict: bool = True) -> dict[str, Any]:
    """One line of a file; nothing where it is none and ``strict`` is not asked for."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    if strict:
        raise RecordError(f"{path}: line {number} is no JSON object")
    return {}


def _misplaced(lines: Lines) -> list[str]:
    """Lines of a kind that no export has, or at a place where it has none."""
    kinds = [line.get("kind") for line in lines]
    unknown = sorted({str(kind) for kind in kinds if kind not in _ORDER})
    if unknown:
        return [f"lines of an unknown kind: {', '.join(unknown)}"]
    order = [_ORDER[str(kind)] for kind in kinds]
    if order != sorted(order) or kinds.count(HEAD) != 1 or kinds.count(END) != 1:
        return ["the lines are not a header, rows, what dropped, and an end: it was cut or added to"]
    wrong = [line for line in lines if set(line) != _FIELDS.get(str(line["kind"]), set(line))]
    return [f"{len(wrong)} lines do not have the fields of their kind"] if wrong else []


def _rows_wrong(path: Path, lines: Lines) -> list[str]:
    head, rows = lines[0], [line for line in lines if line["kind"] == ROW]
    leaves = [ManifestLine.parse(line["line"], f"{path.name}: a row's line").leaf for line in rows]
    found = [
        f"row {line['line']['row']} is not what its digest says"
        for line in rows
        if DatasetRow.parse(line["row"], f"{path.name}: a row").digest() != line["line"]["row"]
    ]
    if [line["position"] for line in rows] != list(range(len(rows))):
        found.append("the positions of the rows are not those of the manifest")
    if merkle.root(leaves) != head.get("merkle_root") or len(leaves) != head.get("leaves"):
        found.append("the lines do not make the Merkle root")
    return found


def _end_wrong(lines: Lines, body: str) -> list[str]:
    counts = {kind: sum(line["kind"] == kind for line in lines) for kind in (ROW, DROPPED)}
    end = {
        "kind": END,
        "rows": counts[ROW],
        "dropped": counts[DROPPED],
        "merkle_root": lines[0].get("merkle_root"),
        "body": body,
    }
    return [] if lines[-1] == end else ["the file's end does not say what is in it: it was edited, cut or added to"]


def _not_noted(store: Store, head: dict[str, Any], body: str) -> list[str]:
    """Whether the audit names this body, where the dataset is one of this installation."""
    root = str(head.get("dataset"))
    if root not in store.datasets.roots():
        return []
    noted = {
        event.detail.get("digest")
        for event in store.audit.list()
        if (event.action, event.target) == ("dataset_exported", f"dataset:{root}")
    }
    return [] if body in noted else ["the audit names no export of this dataset with this content"]
