"""From the spans of traces, as the store holds them, to what follows from them: trajectories and signals.

A fault that one trace shows costs no other trace its place: it is logged, and the trace stays dirty.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from governance.records.content import AdmittedSpan
from governance.records.feedback import Feedback, Statement
from governance.records.outline import RunOutline
from governance.records.process_rule import ProcessRule
from governance.store.blocks import TraceKey
from governance.store.spans import Assemble, Assembled, Traces
from ingestion import signals
from ingestion.assembly import assemble
from ingestion.feedback.evaluations import of_spans
from ingestion.feedback.joining import Joining
from ingestion.log_events import fold
from ingestion.prices import PriceTable
from ingestion.signals.baselines import Baselines
from ingestion.tokens import NO_PRICES

_log = logging.getLogger(__name__)


class Assembler:
    """What the store calls with traces that changed."""

    def __init__(
        self,
        baselines: Baselines,
        prices: PriceTable = NO_PRICES,
        rules: Sequence[ProcessRule] = (),
        joining: Joining | None = None,
    ) -> None:
        """``prices`` cost the tokens whose cost a trace does not state; ``rules`` are what the agents must keep.

        ``joining`` finds what was said of traces; without it their spans speak for themselves.
        """
        self._baselines = baselines
        self._prices = prices
        self._rules = rules
        self._joining = joining

    def counting(self, total: Counter[str]) -> Assemble:
        """Assembly that counts ``trajectories`` and ``signals`` into ``total``."""

        def assembled(traces: Traces) -> Iterator[Assembled]:
            folded: dict[TraceKey, list[AdmittedSpan]] = {}
            carried: list[Statement] = []
            for key, spans in traces.items():
                with _alone(key):
                    whole = fold(spans)
                    carried += of_spans(whole)
                    folded[key] = whole
            said = {} if self._joining is None else self._joining.join(folded, carried)
            made: list[Assembled] = []
            for key, whole in folded.items():
                with _alone(key):
                    made.append(self._assembled(whole, said.get(key)))
            if self._joining is not None:
                self._joining.cite(signal for one in made for signal in one.signals)
            total["trajectories"] += len(made)
            total["signals"] += sum(len(one.signals) for one in made)
            yield from made

        return assembled

    def _assembled(self, spans: Sequence[AdmittedSpan], said: Sequence[Feedback] | None) -> Assembled:
        trajectory = assemble(spans, self._prices, said)
        outline = RunOutline.of(trajectory)
        baseline = self._baselines.before(outline)
        found = signals.detect(trajectory, spans, feedback=said, rules=self._rules, baseline=baseline)
        self._baselines.learn(outline)
        return Assembled(trajectory, found)


@contextmanager
def _alone(key: TraceKey) -> Iterator[None]:
    """Whatever the fault of one trace is, it must not hold back a segment: it is logged."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whichever it is
        _log.exception("trace %s of tenant %s cannot be assembled and stays dirty", key[1], key[0])
