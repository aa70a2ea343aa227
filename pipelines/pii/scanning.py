"""Masks a stream of texts in batches: each line in, its findings and its masked form out, in order.

1. Memory is bounded: a batch ends at ``BATCH`` texts or ``CHARACTERS`` characters, whichever comes first.
2. An answer never holds a raw value: type, place and score of each finding, and the masked text.
3. ``start`` and ``end`` are offsets of Python strings (code points) in ``text``, or in the leaf that ``pointer`` names
   (RFC 6901; it goes on through JSON inside strings). A text that is JSON is opened, so its findings have pointers.
4. A text that cannot be masked costs no other: the batch is tried again one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from governance.errors import MaskingError
from governance.ports.masker import Finding, Masked, Masker
from pipelines.errors import LineError
from pipelines.pii.lines import Line

BATCH: Final = 64
CHARACTERS: Final = 500_000
FIELDS: Final = frozenset({"id", "text", "json", "language"})
Answer = dict[str, Any]


class Text(NamedTuple):
    """One text to scan."""

    number: int
    id: str | int
    value: Any

    @property
    def size(self) -> int:
        """Roughly how many characters it has."""
        return len(self.value) if isinstance(self.value, str) else len(repr(self.value))


def scan(
    lines: Iterable[Line | LineError], masker: Masker, tenant_id: str, *, kept: bool = False
) -> Iterator[Answer | LineError]:
    """The answer to each line, in order; a ``LineError`` where there is none. ``kept`` also tells what was left."""
    for batch in _batches(map(_text, lines)):
        texts = [one for one in batch if isinstance(one, Text)]
        masked = iter(_mask(masker, tenant_id, texts))
        for one in batch:
            yield one if isinstance(one, LineError) else _answer(one, next(masked), kept=kept)


def text_of(line: Line, allowed: frozenset[str] = FIELDS) -> Text | LineError:
    """What a line asks to scan, or which field of it is wrong."""
    value = line.value
    if strange := sorted(set(value) - allowed):
        return LineError(line.number, f"unknown field {strange[0]!r}; known are {', '.join(sorted(allowed))}")
    id_ = value.get("id")
    if not isinstance(id_, str | int) or isinstance(id_, bool):
        return LineError(line.number, "field 'id' must be a string or an integer")
    if ("text" in value) == ("json" in value):
        both = "both are there" if "text" in value else "neither is there"
        return LineError(line.number, f"one of the fields 'text' and 'json' must be there: {both}")
    if "text" in value and not isinstance(value["text"], str):
        return LineError(line.number, "field 'text' must be a string")
    if not isinstance(value.get("language", ""), str):
        return LineError(line.number, "field 'language' must be a string")
    return Text(line.number, id_, value["text"] if "text" in value else value["json"])


def told(finding: Finding) -> Answer:
    """A finding as an answer shows it."""
    shown: Answer = {
        "type": finding.entity_type,
        "start": finding.start,
        "end": finding.end,
        "score": round(finding.score, 4),
    }
    return {**shown, "pointer": finding.pointer} if finding.pointer else shown


def _text(line: Line | LineError) -> Text | LineError:
    return line if isinstance(line, LineError) else text_of(line)


def _batches(items: Iterable[Text | LineError]) -> Iterator[list[Text | LineError]]:
    batch: list[Text | LineError] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.size if isinstance(item, Text) else 0
        if len(batch) >= BATCH or size >= CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _mask(masker: Masker, tenant_id: str, texts: list[Text]) -> list[Masked | LineError]:
    try:
        return list(masker.mask(tenant_id, [one.value for one in texts]))
    except (MaskingError, RecursionError):
        return [_mask_one(masker, tenant_id, one) for one in texts]


def _mask_one(masker: Masker, tenant_id: str, text: Text) -> Masked | LineError:
    try:
        return masker.mask(tenant_id, [text.value])[0]
    except MaskingError as error:
        return LineError(text.number, f"cannot be masked: {error}")
    except RecursionError:
        return LineError(text.number, "cannot be masked: nested too deeply")


def _answer(text: Text, masked: Masked | LineError, *, kept: bool) -> Answer | LineError:
    if isinstance(masked, LineError):
        return masked
    answer: Answer = {
        "id": text.id,
        "findings": [told(finding) for finding in masked.findings],
        "masked": masked.value,
    }
    if kept:
        answer["kept"] = [{**told(finding), "outcome": finding.outcome.value} for finding in masked.kept]
    if masked.quarantine:
        answer["quarantine"] = list(masked.quarantine)
    return answer
