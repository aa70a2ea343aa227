"""The baselines of the agents whose runs are assembled: read from the store once, then kept as runs come.

A run is compared with the runs of its agent, at its tenant, that started before it, the most recent ones. Which of them
are known depends on what has been assembled by then: an import of old runs in any order claims fewer outliers, never
other ones than the rule gives. What may not be read for debugging is in no baseline.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from governance.records.outline import RunOutline
from ingestion.signals.baseline import Baseline, Figures

Newest = Callable[[str, int], Sequence[RunOutline]]
"""Tenant to its newest runs, at most so many."""
_AGENTS: Final = 5
"""How many agents a tenant is expected to have: so many times the window is read, for all of them together."""


class _Known:
    """The runs of one agent."""

    def __init__(self) -> None:
        self.order: list[tuple[datetime, str]] = []
        """Start and id of each, by them."""
        self.figures: dict[str, Figures] = {}
        self._started: dict[str, datetime] = {}

    def put(self, run: RunOutline) -> None:
        """A run; again, when it changed."""
        if run.id in self._started:
            del self.order[bisect_left(self.order, (self._started[run.id], run.id))]
        insort(self.order, (run.started_at, run.id))
        self.figures[run.id], self._started[run.id] = Figures.of(run), run.started_at

    def drop_oldest(self) -> None:
        """Forget the run that started first."""
        _, id_ = self.order.pop(0)
        del self.figures[id_], self._started[id_]


class Baselines:
    """Baselines by tenant and agent."""

    def __init__(self, newest: Newest, window: int) -> None:
        """``window`` is how many runs a baseline has at most."""
        self._newest = newest
        self._window = window
        self._known: dict[tuple[str, str], _Known] = {}
        self._read: set[str] = set()

    def before(self, run: RunOutline) -> Baseline:
        """The baseline that a run is compared with."""
        if run.tenant_id not in self._read:
            self._read.add(run.tenant_id)
            for one in self._newest(run.tenant_id, self._window * _AGENTS):
                self.learn(one)
        known = self._known.get((run.tenant_id, run.agent_name))
        if known is None:
            return Baseline()
        end = bisect_left(known.order, (run.started_at, ""))
        earlier = known.order[max(0, end - self._window) : end]
        return Baseline.proven(runs=tuple([known.figures[id_] for _, id_ in earlier]))

    def learn(self, run: RunOutline) -> None:
        """A run that was assembled; again, when it changed."""
        known = self._known.setdefault((run.tenant_id, run.agent_name), _Known())
        known.put(run)
        if len(known.order) > 2 * self._window:
            known.drop_oldest()
