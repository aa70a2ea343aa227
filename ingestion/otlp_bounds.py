"""How much one body may make of its bytes: an entry of three bytes becomes objects of a thousand.

A span with too many parts is refused on its own; a body whose parts or values are too many in all is refused whole,
before its objects are built. The OpenTelemetry SDKs send at most 128 events and 128 links of a span unless told
otherwise.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Final

from governance.records.span import Span
from ingestion.errors import BodyTooLarge
from ingestion.otlp_fields import SpanFault
from ingestion.otlp_values import ValueFault

PARTS_OF_A_SPAN: Final = 10_000
"""Events and links."""
PARTS_OF_A_BODY: Final = 200_000
VALUES_OF_A_BODY: Final = 2_000_000
"""JSON values, counted by the signs that stand before them; signs in texts count too."""


def few_parts(*lists: Sized) -> None:
    """Refuse a span with too many events and links.

    Raises:
        ValueFault: naming how many there are.

    """
    count = sum(len(one) for one in lists)
    if count > PARTS_OF_A_SPAN:
        raise ValueFault(f"{count} events and links, more than {PARTS_OF_A_SPAN}")


class Parts:
    """Counts the events and links of a body as its spans are built."""

    def __init__(self) -> None:
        """None yet."""
        self._count = 0

    def add(self, item: Span | SpanFault) -> Span | SpanFault:
        """The item, counted.

        Raises:
            BodyTooLarge: when the body has too many.

        """
        if isinstance(item, Span):
            self._count += len(item.events) + len(item.links)
        if self._count > PARTS_OF_A_BODY:
            raise BodyTooLarge(f"the body has more than {PARTS_OF_A_BODY} events and links")
        return item


def few_values(body: bytes) -> None:
    """Refuse a JSON text that would become too many objects.

    Raises:
        BodyTooLarge: when it is so.

    """
    if sum(body.count(sign) for sign in (b",", b"[", b"{")) > VALUES_OF_A_BODY:
        raise BodyTooLarge(f"the body holds more than {VALUES_OF_A_BODY} JSON values")
