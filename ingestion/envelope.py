"""What one spool record holds: a request body as it was received, and everything its decoding depends on."""

from __future__ import annotations

from datetime import datetime

from governance.records.base import Record, canonical_json, from_unix_nano
from governance.records.span import Span
from ingestion.errors import SpoolError
from ingestion.otlp_decode import decode
from ingestion.otlp_fields import SpanFault
from ingestion.telemetry import Telemetry
from ingestion.text import NotJson, parse_json


class Envelope(Record):
    """A body and how to read it. Decoding an envelope twice gives the same spans and the same faults."""

    telemetry: Telemetry = Telemetry.TRACES
    content_type: str
    received_unix_nano: int
    max_age_nano: int | None = None
    entries: int | None = None
    """How many entries the door counted, refused ones included: what the ledger calls received."""
    body: bytes

    @property
    def received_at(self) -> datetime:
        """When the receiver had the whole body."""
        return from_unix_nano(self.received_unix_nano)

    def spans(self) -> list[Span | SpanFault]:
        """What the body holds.

        Raises:
            DecodeError: as the decoder does.

        """
        return decode(
            self.body,
            self.content_type,
            received_unix_nano=self.received_unix_nano,
            max_age_nano=self.max_age_nano,
            telemetry=self.telemetry,
        )

    def pack(self) -> bytes:
        """One line of JSON, then the body as it is."""
        head = {
            "holds": self.telemetry.value,
            "type": self.content_type,
            "received": self.received_unix_nano,
            "max_age": self.max_age_nano,
            "entries": self.entries,
        }
        return canonical_json(head) + b"\n" + self.body

    @staticmethod
    def unpack(payload: bytes) -> Envelope:
        """The inverse of ``pack``.

        Raises:
            SpoolError: when the payload has no such head.

        """
        head, _, body = payload.partition(b"\n")
        try:
            fields = parse_json(head.decode(), set())
            return Envelope(
                telemetry=Telemetry(fields.get("holds", Telemetry.TRACES)),
                content_type=fields["type"],
                received_unix_nano=fields["received"],
                max_age_nano=fields["max_age"],
                entries=fields.get("entries"),
                body=body,
            )
        except (NotJson, AttributeError, KeyError, TypeError, ValueError) as error:
            raise SpoolError("a spool record without an envelope") from error
