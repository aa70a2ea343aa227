"""``retry_loop``: the agent called a tool again and again without getting further. Evidence: the calls of the loop.

A loop is a row of calls of one tool by the agent, whatever it called in between, each without progress over the one
before: with exactly the same arguments, and again the same result or again an error; or with nearly the same arguments,
and again an error. One call that gets somewhere ends the row. A call whose arguments were withheld is in no loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from governance.records.base import canonical_json
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, ToolInvocation
from ingestion.signals.case import Case
from ingestion.signals.thresholds import Thresholds


def retry_loops(case: Case) -> Iterator[Signal]:
    """One for each loop."""
    rows: dict[str, list[ToolInvocation]] = {}
    for call in case.trajectory.calls:
        if call.actor is not Actor.AGENT or call.arguments is None:
            continue
        row = rows.setdefault(call.name, [])
        if row and not _again(row[-1], call, case.thresholds):
            yield from _loop(case, row)
            row.clear()
        row.append(call)
    for row in rows.values():
        yield from _loop(case, row)


def _again(before: ToolInvocation, call: ToolInvocation, thresholds: Thresholds) -> bool:
    """Whether a call is the one before again, and no further."""
    failed = before.error is not None and call.error is not None
    if before.arguments == call.arguments:
        same = before.error is None and call.error is None and before.result == call.result
        return failed or (same and call.result is not None)
    return failed and _alike(before, call, thresholds)


def _alike(before: ToolInvocation, call: ToolInvocation, thresholds: Thresholds) -> bool:
    first, second = (
        canonical_json(one.arguments).decode("utf-8", "replace")[: thresholds.loop_compared] for one in (before, call)
    )
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    least = thresholds.loop_likeness
    return matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least and matcher.ratio() >= least


def _loop(case: Case, row: Sequence[ToolInvocation]) -> Iterator[Signal]:
    if len(row) < case.thresholds.loop_calls:
        return
    kinds = sorted({call.error_kind.value for call in row if call.error_kind is not None})
    yield case.signal(
        SignalKind.RETRY_LOOP,
        row[0].started_at,
        tuple(dict.fromkeys(call.span_id for call in row)),
        label=row[0].name,
        value=float(len(row)),
        detail={"errors": kinds, "calls": [call.call_id for call in row]},
        about=(row[0].span_id, row[0].call_id),
    )
