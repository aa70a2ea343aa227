"""The file that says what types are called: a TOML of the tables ``labels`` and ``found``."""

from __future__ import annotations

import tomllib
from pathlib import Path

from governance.masking.evaluation import TypeNames
from pipelines.errors import TableError


def type_names(path: Path | None) -> TypeNames:
    """The names of a file; none without a file. A type mapped to the empty string is not judged.

    Raises:
        TableError: when it is no TOML.
        RecordError: when it holds something else.

    """
    if path is None:
        return TypeNames()
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no UTF-8, a number too long for Python, too deep a nesting
        raise TableError(f"{path}: is not TOML that can be read: {error}") from error
    names = TypeNames.parse(held, str(path))
    return TypeNames(
        labels={kind: name or None for kind, name in names.labels.items()},
        found={kind: name or None for kind, name in names.found.items()},
    )
