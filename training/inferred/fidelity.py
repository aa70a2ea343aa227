"""Fidelity: how faithfully an inferred world gives back what runs that it was not made from have recorded.

Theory. The recorded calls of held-out runs are replayed, each with the true history before it: a write that the world
does not support is noted with its recorded result, and the run goes on. A call is *exact* when the world answers what
was recorded (a refusal is an answer), *wrong* when it answers otherwise, *unrecorded* when it does not answer. The
score is exact over all, by tool and in all, with an interval over runs as clusters (``governance.rates``), since the
calls of one run are alike. A wrong answer is worse than none: its share has a bound of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum

from governance.ports.tools import ToolRefusal, Unrecorded
from governance.rates import Rate, Trials
from governance.records.base import Record, canonical_json
from governance.records.harness import Effect
from governance.records.trajectory import ToolInvocation
from training.inferred.app import InferredApp
from training.state import SessionState, Snapshot


class Answered(StrEnum):
    """How a world answered a recorded call."""

    EXACT = "exact"
    WRONG = "wrong"
    UNRECORDED = "unrecorded"


class ToolFidelity(Record):
    """One tool's recorded calls."""

    exact: int = 0
    wrong: int = 0
    unrecorded: int = 0

    @property
    def calls(self) -> int:
        """All of them."""
        return self.exact + self.wrong + self.unrecorded


class Fidelity(Record):
    """What replaying held-out runs gave."""

    tools: dict[str, ToolFidelity]
    exact: Rate
    """Exact over all calls."""
    answered: Rate
    """Coverage: answered over all calls."""
    wrong: Rate
    """Wrong over all calls."""

    def admits(self, threshold: float) -> bool:
        """Whether tasks in this world may be used: the lower end of the score's interval reaches the threshold."""
        return self.exact.interval.low >= threshold


def fidelity(snapshot: Snapshot, app: InferredApp, runs: Iterable[Sequence[ToolInvocation]]) -> Fidelity:
    """Replay the calls of held-out runs, each run in a fresh session."""
    counts: dict[str, dict[Answered, int]] = defaultdict(lambda: dict.fromkeys(Answered, 0))
    rates = {kind: Trials() for kind in ("exact", "answered", "wrong")}
    for number, run in enumerate(runs):
        state = SessionState.of(snapshot)
        for call in run:
            said = answered(app, state, call)
            counts[call.name][said] += 1
            rates["exact"].add(said is Answered.EXACT, 1, number)
            rates["answered"].add(said is not Answered.UNRECORDED, 1, number)
            rates["wrong"].add(said is Answered.WRONG, 1, number)
    tools = {
        name: ToolFidelity(**{kind.value: n for kind, n in found.items()}) for name, found in sorted(counts.items())
    }
    return Fidelity(tools=tools, **{kind: trials.rate() for kind, trials in rates.items()})


def answered(app: InferredApp, state: SessionState, call: ToolInvocation) -> Answered:
    """How the world answers one recorded call; what it writes is in the state afterwards, as it was recorded."""
    effect = {tool.name: tool.effect for tool in app.tools()}.get(call.name)
    try:
        result = app.call(state, call.name, call.arguments)
    except Unrecorded:
        if effect is Effect.WRITE and call.error is None:
            app.note(state, call.name, call.arguments, call.result)
        return Answered.UNRECORDED
    except ToolRefusal as refusal:
        return Answered.EXACT if call.error == str(refusal) else Answered.WRONG
    same = call.error is None and canonical_json(result) == canonical_json(call.result)
    return Answered.EXACT if same else Answered.WRONG
