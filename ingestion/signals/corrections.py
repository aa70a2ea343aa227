"""``correction``: a person called a tool that had failed for the agent, with other arguments, and it worked.

Evidence: the agent's last failed call of the tool, and the person's.
"""

from __future__ import annotations

from collections.abc import Iterator

from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation
from ingestion.signals.case import Case


def corrections(case: Case) -> Iterator[Signal]:
    """One for each call of a person that puts a failed one right."""
    failed: dict[str, ToolInvocation] = {}
    for call in case.trajectory.calls:
        if call.actor is Actor.AGENT and call.error is not None:
            failed[call.name] = call
        elif call.actor is Actor.HUMAN and call.error is None and call.name in failed:
            wrong = failed[call.name]
            if wrong.arguments is not None and call.arguments is not None and wrong.arguments != call.arguments:
                yield case.signal(
                    SignalKind.CORRECTION,
                    call.started_at,
                    tuple(dict.fromkeys((wrong.span_id, call.span_id))),
                    label=call.name,
                    detail={"agent": wrong.arguments, "human": call.arguments, "error_type": wrong.error_type},
                )
