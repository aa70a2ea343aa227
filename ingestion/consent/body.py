"""A body of ``POST /v1/consent``: one row or a list of rows, as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from ingestion.consent.item import ConsentFault, ConsentItem, read_item
from ingestion.errors import DecodeError
from ingestion.text import NotJson, parse_strict

MOST_ROWS: Final = 1000
"""Of one body."""


def rows_of(body: bytes, now: datetime) -> list[ConsentItem | ConsentFault]:
    """What a body holds, in order; a row that is wrong costs no other row.

    Raises:
        DecodeError: when it is not one JSON value, or holds no row or too many.

    """
    try:
        found = parse_strict(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DecodeError(f"the body is not UTF-8: byte {error.start}") from error
    except NotJson as error:
        raise DecodeError(f"the body is not one JSON value: {error}") from error
    listed = found if isinstance(found, list) else [found]
    if not 1 <= len(listed) <= MOST_ROWS:
        raise DecodeError(f"a body of consent holds one row or a list of 1 to {MOST_ROWS}, not {len(listed)}")
    return [read_item(raw, position, now) for position, raw in enumerate(listed)]
