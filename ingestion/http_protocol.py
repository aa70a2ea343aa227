"""HTTP below the application: what uvicorn answers before a request exists, bounded and in the form of OTLP.

1. A head that is no HTTP is a 400 whose body is a ``Status`` in JSON, as every error of the intake is; which encoding
   the sender speaks is not known yet.
2. A head must be complete within ``HEAD_SECONDS`` of its connection, or of its first byte on a connection that is kept
   alive (408), and within ``HEAD_BYTES`` (431). Without these bounds a connection costs its sender nothing and the
   intake a place for ever, or as much memory as the sender likes.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from governance.records.base import canonical_json
from ingestion import replies
from ingestion.otlp_decode import JSON

HEAD_SECONDS: Final = 10.0
HEAD_BYTES: Final = 64 * 1024


class IntakeProtocol(HttpToolsProtocol):
    """One connection."""

    head_seconds = HEAD_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """As uvicorn makes it."""
        super().__init__(*arguments, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = 0
        """Bytes of the head that is arriving; None while none is."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A head is due."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is due."""
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head, and read."""
        before = self._head_bytes
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes = (before or 0) + len(data)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the head is larger than {HEAD_BYTES} bytes")

    def on_message_begin(self) -> None:
        """A head begins, on this connection or after another request."""
        super().on_message_begin()
        if self._head_bytes is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """The head is here; the body's time is the application's to bound."""
        self._end_head()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP."""
        self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._timer = self.loop.call_later(self.head_seconds, self._late)

    def _end_head(self) -> None:
        self._head_bytes = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the head of the request did not arrive in time")

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._end_head()
        body = canonical_json({"code": replies.INVALID_ARGUMENT, "message": message})
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {JSON}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
