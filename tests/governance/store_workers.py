"""What the concurrency tests run in other processes. Each opens its own store."""

from __future__ import annotations

from governance.errors import Conflict
from governance.ports.clock import SystemClock
from governance.records.content import AdmittedSpan
from governance.store import Store
from tests.governance.conftest import block_key
from tests.governance.store_records import bundle, person, span


def latest(old: AdmittedSpan, new: AdmittedSpan) -> AdmittedSpan:
    """A merge that is commutative, associative and idempotent: the later end wins, then the greater text."""
    return max(old, new, key=lambda item: (item.span.end_unix_nano, item.model_dump_json()))


def newest(old: AdmittedSpan, new: AdmittedSpan) -> AdmittedSpan:
    """What came last."""
    return new if new != old else old


def open_store(url: str) -> Store:
    return Store.open(url, clock=SystemClock(), block_key=block_key)


def ingest(url: str, worker: int) -> list[str]:
    """One POST: its own spans of one trace, and the root that every batch repeats with its own end."""
    store = open_store(url)
    mine = [span(1, 10 * worker + number, subject=person(1)) for number in range(1, 5)]
    root = span(1, 0, subject=person(1), end_unix_nano=2_000_000_000_000_000_000 + worker)
    fates = store.spans.merge([root, *mine], latest)
    store.close()
    return [fate.value for fate in fates]


def promote(url: str, worker: int) -> str:
    """One promotion from version 1."""
    store = open_store(url)
    digest = bundle(prompt=f"candidate {worker}").release.digest()
    try:
        store.deployments.switch("shop@acme", 1, digest, f"worker {worker}", "manager")
    except Conflict:
        return "conflict"
    finally:
        store.close()
    return digest


def open_only(url: str, worker: int) -> int:
    """Open a database that others open at the same time."""
    store = open_store(url)
    store.segments.finish(f"segment-{worker}")
    store.close()
    return worker
