"""``schema_violation``: arguments that are not exactly one JSON value. Evidence: the span that holds them."""

from __future__ import annotations

from collections.abc import Iterator

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from ingestion.calls import tool_name
from ingestion.dialects.messages import CORRUPT
from ingestion.signals.case import Case


def schema_violations(case: Case) -> Iterator[Signal]:
    """One for each span with such arguments."""
    for item in case.tree.spans.values():
        if item.content is not None and CORRUPT in item.content.flags:
            at = from_unix_nano(item.span.start_unix_nano)
            tool = tool_name(item) if case.tree.operation(item.span.span_id) == "execute_tool" else None
            detail = {} if tool is None else {"tool": tool}
            yield case.signal(SignalKind.SCHEMA_VIOLATION, at, (item.span.span_id,), label=CORRUPT, detail=detail)
