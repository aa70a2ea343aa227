"""Bodies and spans that the ingestion tests share."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from governance.errors import MaskingError
from governance.ports.masker import Finding, Masked, Masker
from governance.records.content import AdmittedSpan
from governance.records.span import Span
from ingestion import dialects
from ingestion.merge import normal

TRACE = "67acfc2ea56f108fa4535fc28ba99705"
T0 = 1_796_000_000_000_000_000
_MAIL = re.compile(r"[\w.]+@[\w.]+\w")


def value(item: Any) -> dict[str, Any]:
    if isinstance(item, bool):
        return {"boolValue": item}
    if isinstance(item, int):
        return {"intValue": str(item)}
    if isinstance(item, float):
        return {"doubleValue": item}
    if isinstance(item, list):
        return {"arrayValue": {"values": [value(one) for one in item]}}
    return {"stringValue": item}


def attributes(held: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in held.items()]


def span_json(number: int, parent: int | None = None, trace: str = TRACE, **held: Any) -> dict[str, Any]:
    """One OTLP/JSON span; ``held`` overrides fields, and ``attributes`` are plain."""
    span: dict[str, Any] = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": f"span {number}",
        "kind": 1,
        "startTimeUnixNano": str(T0 + number * 1_000_000),
        "endTimeUnixNano": str(T0 + number * 1_000_000 + 500),
    } | held
    if parent is not None:
        span["parentSpanId"] = f"{parent:016x}"
    if isinstance(span.get("attributes"), dict):
        span["attributes"] = attributes(span["attributes"])
    return span


def body(*spans: Any, resource: Mapping[str, Any] | None = None) -> bytes:
    groups = [
        {
            "resource": {"attributes": attributes(resource or {"service.name": "agent"})},
            "scopeSpans": [{"scope": {"name": "lib"}, "spans": list(spans)}],
        }
    ]
    return json.dumps({"resourceSpans": groups}).encode()


def make_span(number: int, parent: int | None = None, trace: str = TRACE, **held: Any) -> Span:
    fields: dict[str, Any] = {
        "trace_id": trace,
        "span_id": f"{number:016x}",
        "parent_span_id": None if parent is None else f"{parent:016x}",
        "name": f"span {number}",
        "start_unix_nano": T0 + number * 1_000_000,
        "end_unix_nano": T0 + number * 1_000_000 + 500,
    }
    return Span(**(fields | held))


def admitted(span: Span, subject: str = "s" * 64, tenant: str = "acme", *, keep: bool = True) -> AdmittedSpan:
    """A span as it stands behind a door that masks nothing."""
    return normal(
        AdmittedSpan(
            tenant_id=tenant,
            subject=subject,
            span=dialects.strip(span),
            content=dialects.read(span) if keep else None,
            withheld_reason=None if keep else "content_withheld",
        )
    )


class MailMasker(Masker):
    """A small real masker: e-mail addresses to one surrogate each; fails on texts that hold ``poison``."""

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        return [self._one(item) for item in values]

    def _one(self, item: Any) -> Masked:
        text = json.dumps(item)
        if "poison" in text:
            raise MaskingError("a detector failed")
        found = sorted(set(_MAIL.findall(text)))
        for mail in found:
            text = text.replace(mail, f"user{len(mail)}@masked.invalid")
        findings = tuple(
            Finding(pointer="", start=0, end=1, entity_type="EMAIL_ADDRESS", score=1.0, mention=mail[::-1])
            for mail in found
        )
        return Masked(value=json.loads(text), findings=findings)

    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        return dict(row)


@contextmanager
def serving(app: FastAPI, port: int) -> Iterator[str]:
    """A real uvicorn on a loopback port."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
