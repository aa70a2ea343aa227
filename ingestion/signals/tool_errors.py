"""``tool_error``: a call that failed, labelled by its kind (``governance.records.error_kind``). Evidence: its span.

A call failed when its span says so, or when what it gave back is an error in fact (``ingestion.failures``). ``detail``
keeps the type as the tool stated it.
"""

from __future__ import annotations

from collections.abc import Iterator

from governance.records.error_kind import ErrorKind
from governance.records.signal import Signal, SignalKind
from ingestion.signals.case import Case


def tool_errors(case: Case) -> Iterator[Signal]:
    """One for each failed call."""
    for call in case.trajectory.calls:
        if call.error is not None:
            detail = {"tool": call.name, "actor": call.actor.value, "error": call.error}
            kind = call.error_kind or ErrorKind.OTHER
            detail |= {} if call.error_type is None else {"type": call.error_type}
            yield case.about_call(SignalKind.TOOL_ERROR, call, label=kind.value, detail=detail)
