"""The ledger as metrics: read from the store at each scrape, so that they survive restarts and count every process.

1. Days that can change no more (``_SETTLED``) are read once a day and remembered; a scrape reads the days since. Within
   ``_FRESH_S`` of a read the same answer is given, so scrapes cost the database little however many there are.
2. The number of series is bounded: beyond ``TENANTS`` tenants and ``REASONS`` reasons of a fate, the smallest are
   added up as ``other``.
3. A store that does not answer costs these metrics and no others: ``tidemill_ledger_readable`` is 0 then.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from governance.ports.clock import Clock
from governance.records.ledger import LedgerLine, Reasons

_log = logging.getLogger(__name__)
_SETTLED: Final = timedelta(days=7)
"""Longer than a span may wait in the spool and in quarantine together."""
_FRESH_S: Final = 5.0
TENANTS: Final = 200
REASONS: Final = 20
OTHER: Final = "other"
Lines = Callable[[str], Sequence[LedgerLine]]
"""The ledger from a day on."""
Key = tuple[str, ...]


class Sums:
    """Counts over days, by tenant and what else tells them apart."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.received: Counter[Key] = Counter()
        self.fates: Counter[Key] = Counter()
        self.released: Counter[Key] = Counter()
        self.expired: Counter[Key] = Counter()
        self.withheld: Counter[Key] = Counter()
        self.waiting: Counter[Key] = Counter()
        self.unbalanced: Counter[Key] = Counter()
        self.findings: Counter[Key] = Counter()

    def add(self, lines: Iterable[LedgerLine]) -> Sums:
        """These sums with further lines."""
        for line in lines:
            tenant = (line.tenant_id,)
            self.received[tenant] += line.received
            self.withheld[tenant] += line.withheld
            self.waiting[tenant] += line.waiting
            self.unbalanced[tenant] += not line.balances
            for fate, reasons in line.fates.items():
                _add(self.fates, (*tenant, fate.value), reasons)
            for fate, reasons in line.released.items():
                _add(self.released, (*tenant, fate.value), reasons)
            _add(self.expired, tenant, line.expired)
            for channel, kinds in line.findings.items():
                _add(self.findings, (*tenant, channel), kinds)
        return self

    def copy(self) -> Sums:
        """The same sums, apart."""
        made = Sums()
        for name, counts in vars(self).items():
            setattr(made, name, Counter(counts))
        return made


class LedgerMeters(Collector):
    """Gives the ledger's metrics to a registry."""

    def __init__(self, lines: Lines, clock: Clock, now: Callable[[], float] = time.monotonic) -> None:
        """``now`` gives seconds that only grow."""
        self._lines, self._clock, self._now = lines, clock, now
        self._guard = threading.Lock()
        self._settled: tuple[str, Sums] = ("", Sums())
        self._read_at: float | None = None
        self._sums: Sums | None = None

    def describe(self) -> Iterable[Metric]:
        """The names, without asking the store."""
        return [*_families(Sums()), _readable(None)]

    def collect(self) -> Iterator[Metric]:
        """The metrics of now."""
        with self._guard:
            now = self._now()
            if self._read_at is None or now - self._read_at >= _FRESH_S:
                self._sums, self._read_at = self._read(), now
            sums = self._sums
        if sums is not None:
            yield from _families(sums)
        yield _readable(sums)

    def _read(self) -> Sums | None:
        since = (self._clock.now() - _SETTLED).date().isoformat()
        try:
            if self._settled[0] != since:
                earlier = [line for line in self._lines("") if line.day < since]
                self._settled = since, Sums().add(earlier)
            return self._settled[1].copy().add(self._lines(since))
        except Exception:  # noqa: BLE001 - whatever a store raises, a scrape is answered
            _log.exception("the ledger cannot be read for the metrics")
            return None


def _add(counts: Counter[Key], key: Key, reasons: Reasons) -> None:
    for reason, count in reasons.items():
        counts[*key, reason] += count


def _families(sums: Sums) -> Iterator[Metric]:
    """Every family over the same tenants."""
    most = {key[0] for key, _ in sums.received.most_common(TENANTS)}
    fate, reason = ["tenant", "fate", "reason"], ["tenant", "reason"]
    for name, what, labels, counts in (
        ("received", "Spans received, as the door counted them.", ["tenant"], sums.received),
        ("spans", "Received spans by what became of them and why.", fate, sums.fates),
        ("withheld", "Spans stored without their content for want of a right.", ["tenant"], sums.withheld),
        ("released", "Spans that left quarantine, by what became of them.", fate, sums.released),
        ("expired", "Spans destroyed in quarantine unread.", reason, sums.expired),
        ("findings", "Personal values replaced, by where they stood.", ["tenant", "channel", "type"], sums.findings),
    ):
        yield _filled(CounterMetricFamily(f"tidemill_ledger_{name}", what, labels=labels), counts, most)
    for name, what, counts in (
        ("waiting", "Spans in quarantine, by the ledger.", sums.waiting),
        ("unbalanced_days", "Days whose books do not balance.", sums.unbalanced),
    ):
        yield _filled(GaugeMetricFamily(f"tidemill_ledger_{name}", what, labels=["tenant"]), counts, most)


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily, counts: Counter[Key], tenants: set[str]
) -> CounterMetricFamily | GaugeMetricFamily:
    bounded: Counter[Key] = Counter()
    for key, count in counts.items():
        bounded[(key[0] if key[0] in tenants else OTHER), *key[1:]] += count
    for key, count in sorted(_few_reasons(bounded).items()):
        family.add_metric(key, count)
    return family


def _few_reasons(counts: Counter[Key]) -> Counter[Key]:
    """At most ``REASONS`` reasons for what stands before them; keys of one part have none."""
    bounded: Counter[Key] = Counter()
    seen: Counter[Key] = Counter()
    for key, count in counts.most_common():
        seen[key[:-1]] += 1
        few = len(key) == 1 or seen[key[:-1]] <= REASONS
        bounded[key if few else (*key[:-1], OTHER)] += count
    return bounded


def _readable(sums: Sums | None) -> Metric:
    family = GaugeMetricFamily("tidemill_ledger_readable", "1 while the ledger can be read.")
    family.add_metric((), float(sums is not None))
    return family
