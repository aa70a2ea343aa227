"""The journal of erasures: what is in it when a crash or a hand has been at the file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from governance.erasure_journal import ErasureJournal
from governance.errors import RecordError
from governance.keys import DerivedKeyProvider
from governance.records.rights import Suppression
from governance.records.rights_request import RequestKind, RightsRequest
from governance.store import Store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEYS = DerivedKeyProvider("journal")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "erasures.jsonl"


def suppress(journal: ErasureJournal, number: int) -> None:
    subject = f"{number:064x}"
    asked = RightsRequest(
        id=f"r-{number}", tenant_id="acme", subject=subject, kind=RequestKind.ERASURE, requested_at=NOW, due_at=NOW,
        actor="reviewer",
    )  # fmt: skip
    journal.suppress(Suppression(tenant_id="acme", subject=subject, since=NOW, request_id=asked.id), asked)


def written(path: Path, count: int = 3) -> ErasureJournal:
    journal = ErasureJournal(path, KEYS)
    for number in range(count):
        suppress(journal, number)
    return journal


def test_without_a_file_nothing_is_lacking(store: Store, path: Path) -> None:
    assert ErasureJournal(path, KEYS).lacking(store) == ()


def test_what_was_written_is_lacking_in_a_store_that_does_not_know_it(store: Store, path: Path) -> None:
    journal = written(path)
    suppress(journal, 1)
    assert [one.request.id for one in journal.lacking(store)] == ["r-0", "r-1", "r-2"], "each once"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_cut_off_is_no_entry(store: Store, path: Path) -> None:
    journal = written(path)
    path.write_bytes(path.read_bytes()[:-20])
    assert [one.request.id for one in journal.lacking(store)] == ["r-0", "r-1"]
    suppress(journal, 7)
    assert [one.request.id for one in journal.lacking(store)] == ["r-0", "r-1", "r-7"]


@pytest.mark.parametrize("line", [b"{", b"not json", b"\xff\xfe", b'{"suppression": 7}', b"[]", b"{}"])
def test_a_line_that_is_none_is_named_by_its_file_and_number(store: Store, path: Path, line: bytes) -> None:
    path.write_bytes(b"\n" + line + b"\n")
    with pytest.raises(RecordError, match=r"erasures\.jsonl:2"):
        ErasureJournal(path, KEYS).lacking(store)


def test_a_line_that_another_hand_wrote_erases_nobody(store: Store, path: Path) -> None:
    suppress(ErasureJournal(path, DerivedKeyProvider("somebody else")), 0)
    with pytest.raises(RecordError, match=r"erasures\.jsonl:1.*not trusted here"):
        ErasureJournal(path, KEYS).lacking(store)


@pytest.mark.parametrize("field", ["subject", "request_id", "since"])
def test_a_line_that_was_changed_is_named(store: Store, path: Path, field: str) -> None:
    journal = written(path)
    lines = path.read_bytes().splitlines()
    changed = json.loads(lines[1])
    changed["suppression"][field] = "2026-01-01T00:00:00Z" if field == "since" else "9" * 64
    path.write_bytes(b"\n".join([lines[0], json.dumps(changed).encode(), lines[2]]) + b"\n")
    with pytest.raises(RecordError, match=r"erasures\.jsonl:2.*not what stands here"):
        journal.lacking(store)


@pytest.mark.parametrize("order", [one for size in (1, 2, 3) for one in permutations(range(3), size)])
def test_a_line_that_was_moved_or_taken_out_is_named(store: Store, path: Path, order: tuple[int, ...]) -> None:
    journal = written(path)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines[place] for place in order) + b"\n")
    if order == tuple(range(len(order))):
        assert len(journal.lacking(store)) == len(order), "the end that is missing is not seen here"
    else:
        with pytest.raises(RecordError, match="taken out, moved or put in"):
            journal.lacking(store)


def test_lines_of_an_untrusted_key_are_refused_only_where_something_would_follow(store: Store, path: Path) -> None:
    written(path)
    after_the_loss = ErasureJournal(path, DerivedKeyProvider("another"))
    with pytest.raises(RecordError, match=r":1: signed by the key .*not trusted"):
        after_the_loss.lacking(store)
    for lacking in ErasureJournal(path, KEYS).lacking(store):
        store.rights.suppress(lacking.suppression)
    assert after_the_loss.lacking(store) == (), "the database knows all of it"
    suppress(after_the_loss, 1)
    assert len(path.read_bytes().splitlines()) == 4, "what another key signed does not stand for a line of ours"
