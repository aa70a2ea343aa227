"""From the spans of traces, as the store holds them, to what follows from them: trajectories and signals.

A fault that one trace shows costs no other trace its place: it is logged, and the trace stays dirty.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence

from governance.records.content import AdmittedSpan
from governance.records.outline import RunOutline
from governance.records.process_rule import ProcessRule
from governance.store.spans import Assemble, Assembled, Traces
from ingestion import signals
from ingestion.assembly import assemble
from ingestion.log_events import fold
from ingestion.prices import PriceTable
from ingestion.signals.baselines import Baselines
from ingestion.tokens import NO_PRICES

_log = logging.getLogger(__name__)


class Assembler:
    """What the store calls with traces that changed."""

    def __init__(self, baselines: Baselines, prices: PriceTable = NO_PRICES, rules: Sequence[ProcessRule] = ()) -> None:
        """``prices`` cost the tokens whose cost a trace does not state; ``rules`` are what the agents must keep."""
        self._baselines = baselines
        self._prices = prices
        self._rules = rules

    def counting(self, total: Counter[str]) -> Assemble:
        """Assembly that counts ``trajectories`` and ``signals`` into ``total``."""

        def assembled(traces: Traces) -> Iterator[Assembled]:
            for key, spans in traces.items():
                try:
                    made = self._assembled(spans)
                except Exception:  # noqa: BLE001  (whatever the fault of one trace is, it must not hold back a segment)
                    _log.exception("trace %s of tenant %s cannot be assembled and stays dirty", key[1], key[0])
                    continue
                total["trajectories"] += 1
                total["signals"] += len(made.signals)
                yield made

        return assembled

    def _assembled(self, spans: Sequence[AdmittedSpan]) -> Assembled:
        folded = fold(spans)
        trajectory = assemble(folded, self._prices)
        outline = RunOutline.of(trajectory)
        found = signals.detect(trajectory, folded, rules=self._rules, baseline=self._baselines.before(outline))
        self._baselines.learn(outline)
        return Assembled(trajectory, found)
