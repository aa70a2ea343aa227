"""The baselines of the agents whose runs are assembled: read from the store once, then kept as runs come.

A run is compared with the runs of its agent, at its tenant, that started before it, the most recent ones. Which of them
are known depends on what has been assembled by then: an import of old runs in any order claims fewer outliers, never
other ones than the rule gives. What may not be read for debugging is in no baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from governance.records.outline import RunOutline
from ingestion.signals.baseline import Baseline, Figures

Newest = Callable[[str, int], Sequence[RunOutline]]
"""Tenant to its newest runs, at most so many."""
_AGENTS: Final = 5
"""How many agents a tenant is expected to have: so many times the window is read, for all of them together."""


class _Known(NamedTuple):
    started_at: datetime
    id: str
    figures: Figures


class Baselines:
    """Baselines by tenant and agent."""

    def __init__(self, newest: Newest, window: int) -> None:
        """``window`` is how many runs a baseline has at most."""
        self._newest = newest
        self._window = window
        self._known: dict[tuple[str, str], dict[str, _Known]] = {}
        self._read: set[str] = set()

    def before(self, run: RunOutline) -> Baseline:
        """The baseline that a run is compared with."""
        if run.tenant_id not in self._read:
            self._read.add(run.tenant_id)
            for one in self._newest(run.tenant_id, self._window * _AGENTS):
                self.learn(one)
        known = self._known.get((run.tenant_id, run.agent_name), {}).values()
        earlier = sorted(
            (one for one in known if one.started_at < run.started_at), key=lambda one: (one.started_at, one.id)
        )
        return Baseline(runs=tuple(one.figures for one in earlier[-self._window :]))

    def learn(self, run: RunOutline) -> None:
        """A run that was assembled; again, when it changed."""
        known = self._known.setdefault((run.tenant_id, run.agent_name), {})
        known[run.id] = _Known(run.started_at, run.id, Figures.of(run))
        if len(known) > 2 * self._window:
            del known[min(known.values(), key=lambda one: (one.started_at, one.id)).id]
