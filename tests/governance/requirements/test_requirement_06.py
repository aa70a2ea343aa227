"""Requirement 6: erasure over everything, within its term, idempotent, proven by a search with a positive control."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest

from governance.certificates import check
from governance.dataset_export import DatasetExport
from governance.erasure import ErasureService
from governance.erasure_journal import ErasureJournal
from governance.erasure_means import ErasureMeans
from governance.erasure_notices import ErasureNotices
from governance.erasure_work import ErasureWork
from governance.errors import Conflict, NotFound, SignatureError
from governance.keys import DerivedKeyProvider
from governance.masking.output_check import KeyedSurrogateCheck
from governance.ports.clock import RandomIds
from governance.records.content import SpanContent
from governance.records.erasure import ArtifactState, ErasureReport
from governance.records.message import Role, text_message
from governance.records.rights import Basis, Purpose
from governance.records.rights_request import RequestKind
from governance.rescan.needles import Needles
from governance.rescan.search import search
from governance.signing import public_key
from governance.store import Store
from pipelines.home import HomeFiles
from tests.governance.conftest import block_key
from tests.governance.store_records import (
    T1,
    adapter,
    bundle,
    consents,
    contract,
    manifest,
    person,
    row,
    signal,
    span,
    task,
    trajectory,
    world,
)  # fmt: skip
from tests.governance.store_workers import latest
from tests.support.clock import ManualClock

KEYS = DerivedKeyProvider("requirement 6")
ALICE, BOB = person(0xA11CE), person(0xB0B)
SURROGATE = "user-0123456789ab@example.com"
HERS = f"the parcel for {SURROGATE} came to the wrong house again"
BOTH = "thank you, the shop will call you back tomorrow"
NEEDLES = Needles(subject=ALICE, surrogates=(SURROGATE,), texts=(HERS,))
STEPS = (
    "requested", "journalled", "suppressed", "looked", "tainted", "erased store", "erased files of the data home",
    "purged", "scrubbed", "searched", "certified", "journalled certificate", "settled",
)  # fmt: skip


def fill(url: str, home: Path, clock: ManualClock) -> None:
    """Alice and Bob in the database, and Alice in logs, archives and somebody else's SQLite file."""
    with closing(opened(url, clock)) as store:
        store.rights.add_contract(contract(basis=Basis.CONTRACT))
        store.rights.add_consents(consents(ALICE) + consents(BOB))
        said = {ALICE: HERS, BOB: "where is the lamp that was ordered in May, please"}
        runs = [trajectory(n, subject=who, text=said[who]) for n, who in ((1, ALICE), (2, BOB))]
        for n, who in ((1, ALICE), (2, BOB)):
            words = (text_message(Role.USER, said[who]), text_message(Role.ASSISTANT, BOTH))
            store.spans.merge([span(n, subject=who, content=SpanContent(operation="chat", input=words))], latest)
        store.trajectories.put_all(runs)
        store.signals.put_all([signal(run) for run in runs])
        ref = store.worlds.put(*world(ALICE, BOB))
        store.tasks.put_all("c1", [task(run, ref.masked_digest) for run in runs])
        verdict = store.rights.verdict(Purpose.TRAIN_WEIGHTS, "acme", ALICE, T1)
        rows = [row(run, verdict) for run in runs]
        made = manifest(rows)
        store.datasets.put(made, rows, [])
        store.adapters.put(adapter(made.root), "adapters/1", {})
        store.releases.put(bundle(weights=adapter(made.root)), None, "cycle c1")
    plant(home)


def plant(home: Path) -> None:
    (home / "run").mkdir(parents=True)
    (home / "dagster").mkdir()
    (home / "run" / "control.log").write_text(f"INFO answered {HERS!r}\n")
    (home / "run" / "control.log.1.gz").write_bytes(gzip.compress(f"to {SURROGATE}".encode()))
    (home / "run" / "other.log").write_text(f"INFO answered {BOTH!r}\n")
    with closing(sqlite3.connect(home / "dagster" / "runs.db")) as events:
        events.execute("PRAGMA journal_mode = WAL")
        events.execute("CREATE TABLE event_logs (id INTEGER PRIMARY KEY, event TEXT)")
        events.executemany("INSERT INTO event_logs (event) VALUES (?)", [("a start",), (f"of {ALICE}",), ("an end",)])
        events.commit()


def opened(url: str, clock: ManualClock) -> Store:
    return Store.open(url, clock=clock, block_key=block_key)


def service(
    store: Store, home: Path, clock: ManualClock, reached: Callable[[str], None] = lambda _: None
) -> ErasureService:
    places = [store.erasable(), HomeFiles(home, home.with_name("keys"))]
    means = ErasureMeans(
        keys=KEYS,
        surrogates=KeyedSurrogateCheck(KEYS),
        work=ErasureWork(home / "erasures", KEYS),
        journal=ErasureJournal(home.with_name(f"{home.name}-journal") / "erasures.jsonl", KEYS),
        reached=reached,
    )
    return ErasureService(store, places, clock, RandomIds(), means=means)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def store(database_url: str, home: Path, clock: ManualClock) -> Iterator[Store]:
    fill(database_url, home, clock)
    with closing(opened(database_url, clock)) as held:
        yield held


def test_requirement_06_the_search_finds_her_in_each_place_before_and_only_what_stays_after(
    store: Store, home: Path, clock: ManualClock
) -> None:
    erasure = service(store, home, clock)
    before = [search(place.name, place.contents(), NEEDLES) for place in erasure._erasables]
    where = {name.partition(" ")[0] if "/" in name else name for one in before for name in one.found}
    assert {"run/control.log", "run/control.log.1.gz", "dagster/runs.db:"} <= where
    report = erasure.execute("r1", "acme", ALICE)
    assert report.remaining == 0
    assert {one.place: one.found_before > 0 for one in report.searched} == dict.fromkeys(
        ["store", "files of the data home"], True
    )
    assert all((one.held_after, one.found_after, one.unopened) == (0, 0, ()) for one in report.searched)
    assert report.looked_for == {"hash": 1, "surrogates": 1, "texts": 1}, "what Bob was told too proves nothing"
    after = [search(place.name, place.contents(), NEEDLES) for place in erasure._erasables]
    tables = {name.rpartition("table ")[2] for one in after for name in one.found}
    assert tables == {"suppressions", "erasures"}
    assert sorted(path.name for path in home.rglob("*.log*")) == ["other.log"]
    with closing(sqlite3.connect(home / "dagster" / "runs.db")) as events:
        assert events.execute("SELECT event FROM event_logs ORDER BY id").fetchall() == [("a start",), ("an end",)]
    assert store.erasable().count("acme", BOB) > 5


def test_requirement_06_the_certificate_is_signed_and_says_each_state(
    store: Store, home: Path, clock: ManualClock
) -> None:
    report = service(store, home, clock).execute("r1", "acme", ALICE)
    states = {one.state for one in report.artifacts}
    assert {ArtifactState.DELETED, ArtifactState.RETIRED, ArtifactState.PENDING_REBUILD} <= states
    assert report.weights is ArtifactState.PENDING_REBUILD
    assert report.requested_at is not None
    assert report.due_at == report.requested_at + timedelta(days=30)
    assert all(one.until == report.at + timedelta(days=30) for one in report.outlasting)
    assert "backups of the database" in {one.place for one in report.outlasting}
    check(report, [public_key(KEYS)])
    for change in ({"remaining": 1}, {"artifacts": report.artifacts[:-1]}, {"subject": BOB}, {"signature": None}):
        with pytest.raises(SignatureError, match="certificate of erasure r1"):
            check(report.model_copy(update=change), [public_key(KEYS)])


def test_requirement_06_a_second_request_is_idempotent_and_an_unknown_person_gets_nothing_held(
    store: Store, home: Path, clock: ManualClock
) -> None:
    erasure = service(store, home, clock)
    first = erasure.execute("r1", "acme", ALICE)
    clock.advance(days=3)
    assert erasure.execute("r1", "acme", ALICE) == first
    with pytest.raises(Conflict):
        erasure.execute("r1", "acme", BOB)
    nobody = erasure.execute("r2", "acme", person(9))
    assert (nobody.artifacts, nobody.remaining, nobody.weights) == ((), 0, ArtifactState.NEVER_TRAINED)


def test_requirement_06_an_erasure_is_open_with_its_deadline_until_its_certificate(
    store: Store, home: Path, clock: ManualClock
) -> None:
    erasure = service(store, home, clock)
    asked = erasure.request("r1", "acme", ALICE)
    clock.advance(days=5)
    assert erasure.request("r1", "acme", ALICE) == asked, "asking again does not move the deadline"
    assert [(one.id, one.kind, one.due_at) for one in store.requests.open()] == [
        ("r1", RequestKind.ERASURE, asked.requested_at + timedelta(days=30))
    ]
    report = erasure.execute("r1", "acme", ALICE)
    assert (report.requested_at, report.due_at) == (asked.requested_at, asked.due_at)
    assert store.requests.open() == store.requests.of("acme", ALICE) == ()


def test_requirement_06_recipients_of_exports_are_listed_and_told(
    store: Store, home: Path, clock: ManualClock, tmp_path: Path
) -> None:
    (root,) = store.datasets.roots()
    DatasetExport(store, clock, RandomIds()).run(root, tmp_path / "rows.jsonl", "lab-7")
    report = service(store, home, clock).execute("r1", "acme", ALICE)
    assert [(one.recipient, one.rows) for one in report.recipients] == [("lab-7", 1)]
    notices = ErasureNotices(store, clock, RandomIds())
    (waiting,) = notices.of(report)
    assert (waiting.state, waiting.told_at) == (ArtifactState.UNKNOWN, None)
    told_at = clock.now()
    assert notices.record(report, "lab-7", confirmed=False).told_at == told_at
    clock.advance(days=1)
    assert notices.record(report, "lab-7", confirmed=False).told_at == told_at
    confirmed = notices.record(report, "lab-7", confirmed=True)
    assert (confirmed.state, confirmed.told_at) == (ArtifactState.VENDOR_ASSERTED, told_at)
    with pytest.raises(NotFound, match="those who were: lab-7"):
        notices.record(report, "lab-8", confirmed=False)


def test_requirement_06_two_runs_at_once_end_with_one_certificate(
    store: Store, database_url: str, home: Path, clock: ManualClock
) -> None:
    with ThreadPoolExecutor(2) as pool, closing(opened(database_url, clock)) as other:
        runs = [service(one, home, clock) for one in (store, other)]
        reports = list(pool.map(lambda run: run.execute("r1", "acme", ALICE), runs))
    assert reports[0] == reports[1] == store.erasures.get("r1")
    assert reports[0].remaining == 0
    assert [event.action for event in store.audit.list("acme")].count("erasure_finished") == 1


def test_requirement_06_a_clock_that_goes_backwards_opens_no_door(store: Store, home: Path, clock: ManualClock) -> None:
    service(store, home, clock).execute("r1", "acme", ALICE)
    clock.set(clock.now() - timedelta(days=20))
    store.spans.merge([span(7, subject=ALICE)], latest)
    store.rights.add_consents(consents(ALICE))
    store.trajectories.put(trajectory(7, subject=ALICE))
    assert store.erasable().count("acme", ALICE) == 0


@pytest.fixture
def urls(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Two databases of one kind."""
    with ExitStack() as stack:
        if database_url.startswith("sqlite"):
            yield database_url, f"sqlite:///{tmp_path / 'second.db'}"
        else:
            yield database_url, stack.enter_context(request.getfixturevalue("postgres_server").database())


def killed_at(step: str, url: str, home: Path, clock: ManualClock) -> int:
    """Run the erasure in a process that dies at a step; its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            store = opened(url, clock)
            service(store, home, clock, lambda reached: os._exit(137) if reached == step else None).execute(
                "r1", "acme", ALICE
            )
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_requirement_06_killed_at_each_step_in_turn_it_ends_with_the_same_certificate(
    urls: tuple[str, str], tmp_path: Path, clock: ManualClock
) -> None:
    """Each run gets one step further than the one before, and dies there."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    reached: list[str] = []
    for url, home in zip(urls, (whole, broken), strict=True):
        fill(url, home, clock)
    with closing(opened(urls[0], clock)) as store:
        expected = service(store, whole, clock, reached.append).execute("r1", "acme", ALICE)
    assert tuple(reached) == STEPS
    for step in STEPS:
        assert killed_at(step, urls[1], broken, clock) == 137, step
        with closing(opened(urls[1], clock)) as store:
            assert store.rights.is_suppressed("acme", ALICE) is (STEPS.index(step) >= STEPS.index("suppressed")), step
            assert certified(store) is (STEPS.index(step) >= STEPS.index("certified")), step
    with closing(opened(urls[1], clock)) as store:
        finished = service(store, broken, clock).execute("r1", "acme", ALICE)
        assert store.erasures.get("r1") == finished
    assert finished == expected
    assert not (broken / "erasures").exists(), "what was looked for is forgotten"


def certified(store: Store) -> bool:
    try:
        store.erasures.get("r1")
    except NotFound:
        return False
    return True


def test_requirement_06_a_restored_backup_is_told_by_the_journal(tmp_path: Path, clock: ManualClock) -> None:
    home, path = tmp_path / "home", tmp_path / "tidemill.db"
    url = f"sqlite:///{path}"
    fill(url, home, clock)
    with closing(opened(url, clock)) as store, closing(sqlite3.connect(path)) as raw:
        raw.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
        erasure = service(store, home, clock)
        report: ErasureReport = erasure.execute("r1", "acme", ALICE)
        journal = ErasureJournal(home.with_name("home-journal") / "erasures.jsonl", KEYS)
        assert journal.lacking(store) == ()
    (tmp_path / "backup.db").replace(path)
    with closing(opened(url, clock)) as store:
        (lacking,) = journal.lacking(store)
        assert (lacking.suppression.subject, lacking.certificates) == (ALICE, (report,))
        assert not store.rights.is_suppressed("acme", ALICE)
