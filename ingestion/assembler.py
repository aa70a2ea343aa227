"""From the spans of traces, as the store holds them, to what follows from them: trajectories and signals.

Most traces come whole and are told of by nobody, so they are assembled before the transaction that stores them, which
holds the database (``draft``); in it, a draft stands or is made again. What a stranger's declarations can ask of
detection there is bounded (``ingestion.signals.argument_checks``).

A fault that one trace shows costs no other trace its place: it is logged, and the trace stays dirty.
"""

from __future__ import annotations

import logging
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from governance.records.content import AdmittedSpan
from governance.records.feedback import Feedback, Statement
from governance.records.outline import RunOutline
from governance.records.process_rule import ProcessRule
from governance.store.blocks import TraceKey
from governance.store.spans import Assemble, Assembled, Traces
from ingestion import signals
from ingestion import tree as trees
from ingestion.assembly import assemble
from ingestion.feedback.evaluations import of_spans
from ingestion.feedback.joining import Joining
from ingestion.log_events import fold
from ingestion.prices import PriceTable
from ingestion.signals.baselines import Baselines
from ingestion.tokens import NO_PRICES

_log = logging.getLogger(__name__)


class _Draft(NamedTuple):
    """A trace that was assembled before anything else of it was known."""

    spans: list[AdmittedSpan]
    folded: list[AdmittedSpan]
    made: Assembled

    def fits(self, spans: Sequence[AdmittedSpan]) -> bool:
        """Whether these are the very spans, and no others."""
        return len(spans) == len(self.spans) and all(map(operator.is_, spans, self.spans))


Drafts = dict[TraceKey, _Draft]
NO_DRAFTS: Final[Drafts] = {}


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

    def draft(self, spans: Iterable[AdmittedSpan]) -> Drafts:
        """The traces of these spans, assembled as if the store held nothing of them and nobody had said anything."""
        drafts: Drafts = {}
        traces: dict[TraceKey, list[AdmittedSpan]] = {}
        for item in spans:
            traces.setdefault((item.tenant_id, item.span.trace_id), []).append(item)
        for key, held in traces.items():
            with _alone(key):
                ordered = sorted(held, key=lambda item: (item.span.start_unix_nano, item.span.span_id))
                whole = fold(ordered)
                drafts[key] = _Draft(ordered, whole, self._assembled(whole, None))
        return drafts

    def counting(self, total: Counter[str], drafts: Drafts = NO_DRAFTS) -> Assemble:
        """Assembly that counts ``trajectories`` and ``signals`` into ``total``.

        A draft stands where the trace is what it was made of and nothing was said of it.
        """

        def assembled(traces: Traces) -> Iterator[Assembled]:
            fitting = {key: drafts[key] for key, spans in traces.items() if key in drafts and drafts[key].fits(spans)}
            folded: dict[TraceKey, list[AdmittedSpan]] = {}
            carried: list[Statement] = []
            for key, spans in traces.items():
                with _alone(key):
                    whole = fitting[key].folded if key in fitting else fold(spans)
                    carried += of_spans(whole)
                    folded[key] = whole
            said = {} if self._joining is None else self._joining.join(folded, carried)
            made: list[Assembled] = []
            for key, whole in folded.items():
                with _alone(key):
                    stands = key in fitting and not said.get(key)
                    made.append(fitting[key].made if stands else self._assembled(whole, said.get(key)))
            if self._joining is not None:
                self._joining.cite(signal for one in made for signal in one.signals)
            total["trajectories"] += len(made)
            total["signals"] += sum(len(one.signals) for one in made)
            yield from made

        return assembled

    def _assembled(self, spans: Sequence[AdmittedSpan], said: Sequence[Feedback] | None) -> Assembled:
        tree = trees.build(spans)
        trajectory = assemble(spans, self._prices, said, tree)
        outline = RunOutline.of(trajectory)
        baseline = self._baselines.before(outline)
        found = signals.detect(trajectory, spans, feedback=said, rules=self._rules, baseline=baseline, tree=tree)
        self._baselines.learn(outline)
        return Assembled(trajectory, found)


@contextmanager
def _alone(key: TraceKey) -> Iterator[None]:
    """Whatever the fault of one trace is, it must not hold back a segment: it is logged."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whichever it is
        _log.exception("trace %s of tenant %s cannot be assembled and stays dirty", key[1], key[0])
