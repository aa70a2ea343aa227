"""A mark: where a surrogate stands in a masked text. Masking again follows marks, never the look of a value."""

from __future__ import annotations

from governance.records.base import Record


class Mark(Record):
    """One surrogate in one text. A text has the same marks wherever it is kept, so marks need no place."""

    text: str
    """Digest of the masked text that holds it (``annotations.text_name``)."""
    start: int
    end: int
    entity_type: str
