"""A body of feedback: one item, or a list of items, as JSON; and the record of it in the spool.

Reading a body twice gives the same items and the same faults: the intake answers with them, and the drain counts the
same ones into the ledger. An item that is wrong costs no other item; a body that is no JSON is refused whole. Two
items of one body under one id are two statements, in the order of the list.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from governance.records.base import Record, canonical_json, from_unix_nano
from ingestion.errors import DecodeError, SpoolError
from ingestion.feedback.item import Item, ItemFault, read_item
from ingestion.text import NotJson, parse_json

MOST_ITEMS: Final = 1000
"""Of one body."""
_HEAD: Final = b'"holds":"feedback"'


class FeedbackEnvelope(Record):
    """A body as it was received, and when."""

    received_unix_nano: int
    entries: int | None = None
    """How many items the door counted, refused ones included: what the ledger calls received."""
    body: bytes

    @property
    def received_at(self) -> datetime:
        """When the receiver had the whole body."""
        return from_unix_nano(self.received_unix_nano)

    def items(self) -> list[Item | ItemFault]:
        """What the body holds, in order.

        Raises:
            DecodeError: when it is not one JSON value, or holds no item or too many.

        """
        found = _parsed(self.body)
        listed = found if isinstance(found, list) else [found]
        if not listed or len(listed) > MOST_ITEMS:
            raise DecodeError(f"a body of feedback holds one item or a list of 1 to {MOST_ITEMS}, not {len(listed)}")
        # A microsecond apart, so that of two statements of one body the later one counts.
        moments = (self.received_at + timedelta(microseconds=position) for position in range(len(listed)))
        return [read_item(raw, position, at) for position, (raw, at) in enumerate(zip(listed, moments, strict=True))]

    def pack(self) -> bytes:
        """The record in the spool: one line of JSON, then the body as it is."""
        head = {"holds": "feedback", "received": self.received_unix_nano, "entries": self.entries}
        return canonical_json(head) + b"\n" + self.body

    @staticmethod
    def holds(payload: bytes) -> bool:
        """Whether a record of the spool is one of feedback."""
        return _HEAD in payload[: payload.find(b"\n") + 1]

    @staticmethod
    def unpack(payload: bytes) -> FeedbackEnvelope:
        """The inverse of ``pack``.

        Raises:
            SpoolError: when the payload has no such head.

        """
        head, _, body = payload.partition(b"\n")
        try:
            fields = parse_json(head.decode(), set())
            return FeedbackEnvelope(received_unix_nano=fields["received"], entries=fields.get("entries"), body=body)
        except (NotJson, AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpoolError("a record of feedback without an envelope") from error


def _parsed(body: bytes) -> Any:
    try:
        return parse_json(body.decode("utf-8-sig"), set())
    except UnicodeDecodeError as error:
        raise DecodeError(f"the body is not UTF-8: byte {error.start}") from error
    except NotJson as error:
        raise DecodeError(f"the body is not one JSON value: {error}") from error
