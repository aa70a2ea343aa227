"""Route: each failed run to one pattern, each pattern to the cheapest lever that can put it right.

Theory. A failed run is explained by the first of: a fact that the documents contradict (context), an argument whose
declaration the tool rejects (harness), a choice that a person made otherwise (weights). What none explains is held
under its topic, and so is what has too little evidence: a small model fails at random too, and random failures must
not move a lever, least of all the weights. Labels are not read; only what agents, people and tools did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.lever import Lever, Pattern
from governance.records.signal import Signal
from governance.records.trajectory import Outcome, Trajectory
from training.evidence import voted_down
from training.routing import fact_changes, judgement, schema_faults
from training.routing.divergence import Divergence, divergence_of, pattern
from training.routing.thresholds import Thresholds
from training.routing.window import Window


class _Groups:
    """The failed runs of a window by what explains them."""

    def __init__(self, harness: Harness, context: Context) -> None:
        self._harness = harness
        self._context = context
        self.stale: dict[tuple[str, bool], list[fact_changes.Stale]] = defaultdict(list)
        self.misled: dict[schema_faults.Place, list[Divergence]] = defaultdict(list)
        self.chosen: dict[str, list[Divergence]] = defaultdict(list)
        self.unexplained: dict[str, list[Trajectory]] = defaultdict(list)

    def add(self, divergence: Divergence) -> None:
        """Explain one run by the cheapest lever that can."""
        stale = fact_changes.stale_of(divergence, self._harness, self._context)
        if stale is not None:
            self.stale[stale.key, stale.fact is not None].append(stale)
            return
        place = schema_faults.place_of(divergence, self._harness)
        if place is not None:
            self.misled[place].append(divergence)
            return
        topic = divergence.trajectory.topic or "unknown"
        if judgement.choice_of(divergence, self._harness) is not None:
            self.chosen[topic].append(divergence)
        else:
            self.unexplained[topic].append(divergence.trajectory)


def route(
    scope: str,
    trajectories: Sequence[Trajectory],
    signals: Iterable[Signal],
    harness: Harness,
    context: Context,
    *,
    thresholds: Thresholds | None = None,
) -> list[Pattern]:
    """The patterns of the runs under one champion, cheapest lever first, held ones last."""
    ordered = sorted(trajectories, key=lambda one: (one.started_at, one.id))
    groups, alone = _Groups(harness, context), defaultdict[str, list[Trajectory]](list)
    downs = voted_down(signals)
    for one in ordered:
        divergence = divergence_of(one, harness.answer_tool)
        if divergence is not None:
            groups.add(divergence)
        elif one.outcome is Outcome.FAILURE or one.id in downs:
            alone[one.topic or "unknown"].append(one)
    window = Window(scope, ordered, harness, context, thresholds or Thresholds())
    found = [fact_changes.judge(key, group, window) for (key, _), group in groups.stale.items()]
    found += [schema_faults.judge(place, group, window) for place, group in groups.misled.items()]
    found += [judgement.judge(topic, group, window) for topic, group in groups.chosen.items()]
    found += _held(scope, "unexplained", groups.unexplained, _unexplained)
    found += _held(scope, "no_demonstration", alone, _undemonstrated)
    order = list(Lever)
    return sorted(found, key=lambda one: (order.index(one.lever), one.key))


def _held(
    scope: str, name: str, groups: dict[str, list[Trajectory]], reason: Callable[[str, int], str]
) -> list[Pattern]:
    return [
        pattern(f"{name}:{topic}", scope, Lever.NONE, reason(topic, len(runs)), runs=runs, evidence={"topic": topic})
        for topic, runs in groups.items()
    ]


def _unexplained(topic: str, count: int) -> str:
    return (
        f"Held: in {count} runs about {topic} the agent failed although its facts agreed with the documents, no schema "
        "misled it and no other write was chosen."
    )


def _undemonstrated(topic: str, count: int) -> str:
    return f"Held: {count} runs about {topic} failed and nobody showed what would have been right."
