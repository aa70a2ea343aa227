"""Spans of the shared trace files: every object in them that has attributes."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from governance.records.span import Span, SpanEvent
from tests.ingestion.otlp_bodies import T0, make_span

FOLDERS = (
    "agentops", "any_agent", "langfuse_framework_traces", "langwatch_fixtures", "openinference_fixtures", "openlit",
    "smoltrace", "strands_evals_fixtures", "trulens_otel",
)  # fmt: skip
_NAMES = ("attributes", "record_attributes")


def trace_files(cases: Path) -> list[Path]:
    files = (path for folder in FOLDERS for path in (cases / "traces" / folder).rglob("*"))
    return sorted(path for path in files if path.suffix in (".json", ".csv"))


def spans_of(path: Path) -> list[Span]:
    """The spans of a file, whatever its envelope."""
    return [make_span(1, name=_name(item), attributes=held, events=_events(item)) for item, held in _found(_load(path))]


def _load(path: Path) -> Any:
    if path.suffix == ".csv":
        csv.field_size_limit(sys.maxsize)
        with path.open(encoding="utf-8", newline="") as file:
            return [{key: _parsed(value) for key, value in row.items()} for row in csv.DictReader(file)]
    value = json.loads(path.read_bytes())
    flat = isinstance(value, dict) and any(key.startswith(("gen_ai.", "openinference.")) for key in value)
    return {"attributes": value} if flat else value


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def _found(value: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    if isinstance(value, list):
        for item in value:
            yield from _found(item)
    elif isinstance(value, dict):
        for name in _NAMES:
            held = value.get(name)
            if isinstance(held, list):
                held = {one["key"]: next(iter(one["value"].values())) for one in held if "key" in one}
            if isinstance(held, dict):
                yield value, held
        for key, item in value.items():
            yield from _found(_parsed(item) if key == "metadata" else item)


def _name(item: dict[str, Any]) -> str:
    return str(item.get("name") or item.get("spanName") or "span")


def _events(item: dict[str, Any]) -> tuple[SpanEvent, ...]:
    held = item.get("span_events") or item.get("events") or []
    return tuple(
        SpanEvent(name=str(one.get("event_name") or one.get("name")), time_unix_nano=T0, attributes=one["attributes"])
        for one in held
        if isinstance(one, dict) and isinstance(one.get("attributes"), dict)
    )
