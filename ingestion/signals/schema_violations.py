"""``schema_violation``: arguments that are not exactly one JSON value, or not what the tool declared.

Evidence: the span that holds them. What a tool declares is read from the spans of the same trace; a tool that they
declare in two ways is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from ingestion.calls import tool_name
from ingestion.dialects.messages import CORRUPT
from ingestion.signals.argument_checks import ArgumentChecks
from ingestion.signals.case import Case
from ingestion.tool_definitions import declared

UNDECLARED: Final = "not_as_declared"


def schema_violations(case: Case) -> Iterator[Signal]:
    """One for each span with such arguments, and for each call that its tool's schema refuses."""
    for item in case.tree.spans.values():
        if item.content is not None and CORRUPT in item.content.flags:
            at = from_unix_nano(item.span.start_unix_nano)
            tool = tool_name(item) if case.tree.operation(item.span.span_id) == "execute_tool" else None
            detail = {} if tool is None else {"tool": tool}
            yield case.signal(SignalKind.SCHEMA_VIOLATION, at, (item.span.span_id,), label=CORRUPT, detail=detail)
    schemas = _declared(case) if case.trajectory.calls else {}
    checks = ArgumentChecks()
    for call in case.trajectory.calls:
        schema = schemas.get(call.name)
        fault = checks.first_fault(schema, call.arguments) if schema and isinstance(call.arguments, dict) else None
        if fault is not None:
            detail = {"tool": call.name, "fault": fault}
            yield case.about_call(SignalKind.SCHEMA_VIOLATION, call, label=UNDECLARED, detail=detail)


def _declared(case: Case) -> dict[str, dict[str, Any]]:
    """The schemas of the trace's tools, by name."""
    found: dict[str, dict[str, Any]] = {}
    twofold: set[str] = set()
    for item in case.tree.spans.values():
        if item.content is None:
            continue
        for name, schema in declared(item.span.attributes):
            if found.setdefault(name, schema) != schema:
                twofold.add(name)
    return {name: schema for name, schema in found.items() if name not in twofold}
