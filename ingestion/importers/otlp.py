"""OTLP: an export request in JSON or protobuf, or one in each line (as the Collector's file exporter writes them).

The spans are those that the receiver decodes from the same bytes, and stay as they are: the same span, sent and
imported, is one span.
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
from ingestion.otlp_fields import claims_apart

_NEVER: Final = 2**63
"""Received after every start: a file says nothing about the clock of its sender."""
_KEYS: Final = frozenset({"resourceSpans", "resource_spans"})
_CLAIM: Final = "client."


class Otlp(FileForm):
    """Export requests of traces."""

    name = "otlp"
    needs = "an object with `resourceSpans` (or such objects line by line), or an export request in protobuf"

    def recognises(self, document: Document) -> bool:
        """JSON by its one key; bytes by being a request with spans in it."""
        if isinstance(document, bytes):
            return _is_request(document)
        return bool(_KEYS & head(document).keys())

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Request by request."""
        for position, request in enumerate(document if isinstance(document, list) else [document]):
            where = f"{source}: request {position}"
            if not isinstance(request, bytes) and not _KEYS & obj(request).keys():
                yield Refused(where=where, reason="no export request: it has no `resourceSpans`")
                continue
            body, content_type = (request, PROTOBUF) if isinstance(request, bytes) else (_json(request), JSON)
            try:
                decoded = decode(body, content_type, received_unix_nano=_NEVER)
            except DecodeError as error:
                yield Refused(where=where, reason=str(error))
                continue
            for number, item in enumerate(decoded):
                if isinstance(item, Span):
                    yield _claims_back(item)
                else:
                    yield Refused(where=f"{where}: span {number}", reason=f"{item.reason}: {item.detail}")


def _json(request: Any) -> bytes:
    # Escaped, so that lone surrogates and NaN reach the decoder as the file has them.
    return json.dumps(request).encode()


def _is_request(data: bytes) -> bool:
    try:
        return bool(decode(data, PROTOBUF, received_unix_nano=_NEVER))
    except BodyTooLarge:
        return True  # and refused with that reason when it is read
    except DecodeError:
        return False


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
