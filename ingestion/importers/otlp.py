"""OTLP: export requests of traces and of logs, in JSON or protobuf.

One, or one in each line (as the Collector's file exporter writes them), or, in protobuf, one after the other, each
behind its length in four bytes. A request in JSON may hold both kinds. The spans and log spans are those that the
receiver decodes from the same bytes, and stay as they are: the same one, sent and imported, is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from governance.records.span import Span
from ingestion.errors import BodyTooLarge, DecodeError
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.values import head, obj
from ingestion.otlp_decode import JSON, PROTOBUF, decode
from ingestion.otlp_fields import SpanFault, claims_apart
from ingestion.telemetry import Telemetry

_NEVER: Final = 2**63
"""Received after every start: a file says nothing about the clock of its sender."""
_KEYS: Final = {
    "resourceSpans": Telemetry.TRACES, "resource_spans": Telemetry.TRACES,
    "resourceLogs": Telemetry.LOGS, "resource_logs": Telemetry.LOGS,
}  # fmt: skip
_ENTRIES: Final = {Telemetry.TRACES: "span", Telemetry.LOGS: "log record"}
_CLAIM: Final = "client."
_LENGTH: Final = 4


class Otlp(FileForm):
    """Export requests of traces and logs."""

    name = "otlp"
    needs = "an object with `resourceSpans` or `resourceLogs` (or such objects line by line), or requests in protobuf"

    def recognises(self, document: Document) -> bool:
        """JSON by its one key; bytes by being requests with spans or log records in them."""
        if isinstance(document, bytes):
            return bool(_requests(document))
        return bool(_KEYS.keys() & head(document).keys())

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Request by request."""
        requests: list[Any] = document if isinstance(document, list) else [document]
        if isinstance(document, bytes):
            requests = [*_requests(document)]
        for position, request in enumerate(requests):
            where = f"{source}: request {position}"
            kinds = [request[0]] if isinstance(request, tuple) else _kinds(request)
            if not kinds:
                yield Refused(
                    where=where, reason="no export request: it has neither `resourceSpans` nor `resourceLogs`"
                )
            for kind in kinds:
                body, content_type = (
                    (request[1], PROTOBUF) if isinstance(request, tuple) else (_json(request, kind), JSON)
                )
                yield from _decoded(body, content_type, kind, where)


def _decoded(body: bytes, content_type: str, kind: Telemetry, where: str) -> Iterator[Span | Refused]:
    try:
        decoded = decode(body, content_type, received_unix_nano=_NEVER, telemetry=kind)
    except DecodeError as error:
        yield Refused(where=where, reason=str(error))
        return
    for number, item in enumerate(decoded):
        if isinstance(item, SpanFault):
            yield Refused(where=f"{where}: {_ENTRIES[kind]} {number}", reason=f"{item.reason}: {item.detail}")
        else:
            yield _claims_back(item)


def _kinds(request: Any) -> list[Telemetry]:
    """What a request in JSON holds."""
    return list(dict.fromkeys(kind for key, kind in _KEYS.items() if key in obj(request)))


def _json(request: Any, kind: Telemetry) -> bytes:
    # Escaped, so that lone surrogates and NaN reach the decoder as the file has them.
    return json.dumps({key: value for key, value in request.items() if _KEYS.get(key, kind) is kind}).encode()


def _requests(data: bytes) -> list[tuple[Telemetry, bytes]]:
    """The requests in the bytes, each with its kind; none where they are not requests."""
    whole = _kind(data)
    if whole is not None:
        return [(whole, data)]
    found = []
    while data:
        end = _LENGTH + int.from_bytes(data[:_LENGTH])
        kind = _kind(data[_LENGTH:end]) if _LENGTH < end <= len(data) else None
        if kind is None:
            return []
        found.append((kind, data[_LENGTH:end]))
        data = data[end:]
    return found


def _kind(data: bytes) -> Telemetry | None:
    """What a request in protobuf holds; None where it is none."""
    for kind in Telemetry:
        try:
            if decode(data, PROTOBUF, received_unix_nano=_NEVER, telemetry=kind):
                return kind
        except BodyTooLarge:
            return kind  # and refused with that reason when it is read
        except DecodeError:
            continue
    return None


def _claims_back(span: Span) -> Span:
    """What the decoder moved under ``client.`` is moved when the span is received, and only then."""
    if "client_claims" not in span.flags:
        return span
    changed = {name: _back(getattr(span, name)) for name in ("attributes", "resource")}
    return span.model_copy(update=changed)


def _back(attributes: dict[str, Any]) -> dict[str, Any]:
    def name(key: str) -> str:
        bare = key.removeprefix(_CLAIM)
        moved = key != bare and bare not in claims_apart({bare: None}, set())
        return bare if moved else key

    return {name(key): value for key, value in attributes.items()}
