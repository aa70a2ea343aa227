"""Training rights at scale: verdicts for one purpose over a whole store, one person's lineage, one person's erasure.

    python -m benchmarks.rights --json
    python -m benchmarks.rights --json --sizes 10000

For each size a SQLite store is filled with that many trajectories, ten of each person, under 50 contracts: one trace
is stored by the store itself, and its rows are copied under other names, so every row is one that the store would
have written, and each is as small as a trace can be. Contracts differ in the bases that they name for jurisdictions,
in the regions that they allow, and in their ends; half of the people have a jurisdiction. Nine people of ten gave
consent, some withdrew it or objected, one of a hundred is under a hold that outranks their consent, one run of a
thousand is contested, one person of a thousand was erased before. Every tenth trajectory is a row of a dataset from
which an adapter and a release were made. Nothing is computed ahead (no ``ANALYZE``: production makes none).

``verdicts_1m_s`` is the time of ``store.trajectories.verdicts`` at the largest size, tenant by tenant; ``lineage_ms``
of everything made from one person and ``erasure_s`` of a whole erasure with its counts, each the median of
``PEOPLE_ASKED`` people; ``rescan_s`` of what searches and rewrites the whole database, whoever's it is: the search
before, the scrub, the search after. Only the store takes part in the erasures: files, adapters and MLflow are no part
of this.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from governance.acting import complying
from governance.erasure import ErasureService
from governance.erasure_means import ErasureMeans
from governance.ports.clock import RandomIds, SystemClock
from governance.records.content import AdmittedSpan, SpanContent
from governance.records.message import Role, text_message
from governance.records.rights import (
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    RightsFact,
    Suppression,
)
from governance.records.span import Span
from governance.records.trajectory import Actor, Trajectory, Turn
from governance.store import Store

TENANTS: Final = 50
RUNS_OF_A_PERSON: Final = 10
LEARNED: Final = 10
"""One trajectory of so many is a training row."""
JURISDICTIONS: Final = ("DE", "US-CA", "KR", "FR")
HELD: Final = 7
CONTESTED: Final = 12
ERASED: Final = 17
"""The last digits of the people who are held, whose run is contested, who were erased before: all had consented."""
PEOPLE_ASKED: Final = 5
ONE_ERASURE_FROM: Final = 100_000
"""Above it one person is erased: a rescan takes minutes there."""
T0: Final = datetime(2026, 1, 1, tzinfo=UTC)
BATCH: Final = 20_000
COPIED: Final = ("trajectories", "spans", "block_packs", "trace_versions")
PURPOSE: Final = Purpose.TRAIN_WEIGHTS
OVER_EVERYTHING: Final = ("looked", "scrubbed", "searched")
"""Steps of an erasure that go through the whole database."""
T = TypeVar("T")


def tenant(number: int) -> str:
    """One of the tenants."""
    return f"tenant-{number % TENANTS:02d}"


def person(number: int) -> str:
    """A person's hash."""
    return f"{number:064x}"


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what came of it."""
    begin = time.perf_counter()
    made = work()
    return time.perf_counter() - begin, made


def fill(store: Store, raw: Any, size: int) -> None:
    """The store's content."""
    people = size // RUNS_OF_A_PERSON
    for number in range(TENANTS):
        store.rights.add_contract(contract(number))
    said = [event for number in range(people) for event in statements(number)]
    for start in range(0, len(said), BATCH):
        store.rights.add_consents(said[start : start + BATCH])
    told = [*facts(people)]
    for start in range(0, len(told), BATCH):
        store.rights.add_facts(told[start : start + BATCH])
    for one in erased(people):
        store.rights.suppress(one)
    template(store)
    for table in COPIED:
        copy(raw, table, size)
    lineage(raw, size)
    raw.commit()


def contract(number: int) -> Contract:
    """A tenant's contract: some name other bases for some people, allow some regions only, or have an end."""
    terms = [PurposeTerm(purpose=one, basis=Basis.CONSENT) for one in (Purpose.EVALUATE, PURPOSE)]
    if number % 2:
        terms.append(PurposeTerm(purpose=PURPOSE, basis=Basis.LEGITIMATE_INTEREST, jurisdiction="US"))
    if number % 3 == 1:
        terms.append(PurposeTerm(purpose=PURPOSE, basis=Basis.PIPA_15_1_1, jurisdiction="KR"))
    return Contract(
        id=tenant(number), tenant_id=tenant(number), terms=tuple(terms), valid_from=T0, recorded_at=T0,
        regions=JURISDICTIONS[:3] if number % 10 == 7 else None,
        valid_to=T0 + timedelta(days=3650) if number % 5 == 0 else None,
    )  # fmt: skip


def statements(number: int) -> Iterator[ConsentEvent]:
    """What a person said."""
    statuses = [ConsentStatus.GIVEN] if number % 10 else []
    statuses += [ConsentStatus.WITHDRAWN] if number % 20 == 1 else [ConsentStatus.OBJECTED] if number % 50 == 3 else []
    for day, status in enumerate(statuses):
        at = T0 + timedelta(days=day)
        yield ConsentEvent(
            id=f"{number}/{day}", tenant_id=tenant(number), subject=person(number), purpose=PURPOSE, status=status,
            notice_digest="0" * 64, valid_from=at, recorded_at=at, actor="benchmark",
        )  # fmt: skip


def facts(people: int) -> Iterator[RightsFact]:
    """Jurisdictions, holds on people who consented, and contested runs of others who did."""
    for number in range(people):
        about: dict[str, Any] = {
            "tenant_id": tenant(number), "subject": person(number), "valid_from": T0, "recorded_at": T0,
            "reason": "case", "actor": "benchmark",
        }  # fmt: skip
        if number % 2:
            code = JURISDICTIONS[number // 2 % len(JURISDICTIONS)]
            yield RightsFact(id=f"from {number}", kind=FactKind.JURISDICTION, value=code, **about)
        if number % 100 == HELD:
            yield RightsFact(id=f"hold {number}", kind=FactKind.HOLD, **about)
        if number % 100 == CONTESTED:
            run = f"{tenant(number)}/{trace(number * RUNS_OF_A_PERSON)}"
            yield RightsFact(id=f"contest {number}", kind=FactKind.CONTESTED, trajectory_id=run, **about)


def erased(people: int) -> Iterator[Suppression]:
    """People who left before."""
    for number in range(ERASED, people, 1000):
        yield Suppression(tenant_id=tenant(number), subject=person(number), since=T0, request_id=f"earlier {number}")


def trace(number: int) -> str:
    """The id of a trace; the template's is the last that a trace can have."""
    return f"{number + 1:032x}"


def template(store: Store) -> None:
    """One trace, stored as any is."""
    message = text_message(Role.USER, "please refund the order that never came")
    span = Span(trace_id="f" * 32, span_id="f" * 16, name="chat", start_unix_nano=1_772_355_600_000_000_000)
    content = SpanContent(operation="chat", input=(message,))
    admitted = AdmittedSpan(tenant_id="template", subject="f" * 64, span=span, content=content)
    store.spans.merge([admitted], lambda old, new: old or new)
    turn = Turn(actor=Actor.CUSTOMER, message=message, span_id=span.span_id, at=T0 + timedelta(days=60))
    run = Trajectory(
        tenant_id="template", session_id="s", trace_id=span.trace_id, subject=admitted.subject, agent_name="shop",
        started_at=turn.at, ended_at=turn.at, turns=(turn,), calls=(),
    )  # fmt: skip
    store.trajectories.put(run)


def copy(raw: Any, table: str, size: int) -> None:
    """The template's row, under each other trace."""
    columns = [column[1] for column in raw.execute(f"PRAGMA table_info({table})")]
    (row,) = raw.execute(f"SELECT * FROM {table} WHERE tenant_id = 'template'").fetchall()
    of = dict(zip(columns, row, strict=True))
    as_bytes = isinstance(of.get("trace_id"), bytes)

    def rows() -> Iterator[tuple[Any, ...]]:
        for number in range(size):
            who, name = number // RUNS_OF_A_PERSON, trace(number)
            changed = {
                "tenant_id": tenant(who), "trace_id": bytes.fromhex(name) if as_bytes else name,
                "subject": person(who), "id": f"{tenant(who)}/{name}",
            }  # fmt: skip
            yield tuple(changed.get(column, value) for column, value in of.items())

    marks = ", ".join("?" * len(columns))
    raw.executemany(f"INSERT INTO {table} VALUES ({marks})", rows())
    raw.execute(f"DELETE FROM {table} WHERE tenant_id = 'template'")


def lineage(raw: Any, size: int) -> None:
    """A dataset of every tenth trajectory, an adapter of it, a release with that."""

    def edges() -> Iterator[tuple[str, str, str, str]]:
        yield ("adapter", "a" * 64, "dataset", "d" * 64)
        yield ("release", "e" * 64, "adapter", "a" * 64)
        for number in range(0, size, LEARNED):
            who, row = number // RUNS_OF_A_PERSON, f"{'d' * 64}/{number:064x}"
            yield ("dataset", "d" * 64, "dataset_row", row)
            yield ("dataset_row", row, "trajectory", f"{tenant(who)}/{trace(number)}")
            yield ("dataset_row", row, "subject", f"{tenant(who)}/{person(who)}")

    raw.executemany("INSERT INTO lineage_edges VALUES (?, ?, ?, ?)", edges())


def measure(size: int, folder: Path) -> dict[str, Any]:
    """The figures at one size."""
    import sqlite3

    store = Store.open(f"sqlite:///{folder / 'rights.db'}", clock=SystemClock())
    raw = sqlite3.connect(folder / "rights.db")
    try:
        print(f"filling a store with {size} trajectories", file=sys.stderr)
        people = size // RUNS_OF_A_PERSON
        filled, _ = timed(lambda: fill(store, raw, size))
        raw.close()
        tenants = [tenant(number) for number in range(TENANTS)]
        end = T0 + timedelta(days=999)
        seconds, found = timed(lambda: one_tenant_each(store, tenants, end))
        asked = [one for one in range(14, people, people // PEOPLE_ASKED) if ordinary(one)][:PEOPLE_ASKED]
        traced, nodes = zip(*(lineage_of(store, who) for who in asked), strict=True)
        erasures = [erasure_of(store, who) for who in asked[: 1 if size > ONE_ERASURE_FROM else PEOPLE_ASKED]]
        return {
            "trajectories": size,
            "fill_s": round(filled, 1),
            "verdicts_s": round(seconds, 3),
            "judged": len(found),
            "reasons": dict(Counter(verdict.reasons[0].value for verdict in found.values())),
            "lineage_ms": round(median(traced) * 1000, 2),
            "lineage_nodes": max(nodes),
            "erasure_s": round(median(seconds for seconds, _, _ in erasures), 3),
            "rescan_s": round(median(rescan for _, rescan, _ in erasures), 3),
            "remaining": sum(remaining for _, _, remaining in erasures),
        }
    finally:
        store.close()


def ordinary(number: int) -> bool:
    """Whether a person is under no hold and was not erased before."""
    return number % 100 != HELD and number % 1000 != ERASED


def lineage_of(store: Store, who: int) -> tuple[float, int]:
    """Seconds of everything made from a person, and how much that is."""
    with complying("benchmark"):
        seconds, made = timed(lambda: store.lineage.of_subject(tenant(who), person(who), Purpose.COMPLY))
    return seconds, sum(len(ids) for ids in made.made.values())


def erasure_of(store: Store, who: int) -> tuple[float, float, int]:
    """Seconds of a person's erasure without the rescan, those of the rescan, and what remained."""
    steps = Steps()
    means = ErasureMeans(reached=steps)
    service = ErasureService(store, [store.erasable()], SystemClock(), RandomIds(), means=means)
    whole, report = timed(lambda: service.execute(f"benchmark {who}", tenant(who), person(who)))
    rescan = sum(steps.seconds[step] for step in OVER_EVERYTHING)
    return whole - rescan, rescan, report.remaining


class Steps:
    """How long each step of an erasure took."""

    def __init__(self) -> None:
        """The first one begins now."""
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def __call__(self, step: str) -> None:
        """A step is done."""
        now = time.perf_counter()
        self.seconds[step], self._last = now - self._last, now


def one_tenant_each(store: Store, tenants: list[str], end: datetime) -> dict[str, Any]:
    """The verdicts of every tenant, each for an adapter of its own."""
    return {id_: one for name in tenants for id_, one in store.trajectories.verdicts(PURPOSE, [name], T0, end).items()}


def main() -> None:
    """Measure every size and print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="trajectories")
    chosen = parser.parse_args()
    figures = []
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory(prefix="tidemill-") as name:
            figures.append(measure(size, Path(name)))
        if not chosen.json:
            print(figures[-1])
    last = figures[-1]
    line = {
        "verdicts_1m_s": last["verdicts_s"],
        "lineage_ms": last["lineage_ms"],
        "erasure_s": last["erasure_s"],
        "rescan_s": last["rescan_s"],
    }
    print(json.dumps(line | {"growth": figures}))


if __name__ == "__main__":
    main()
