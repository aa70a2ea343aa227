"""The journal of erasures: what is in it when a crash or a hand has been at the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from governance.erasure_journal import ErasureJournal
from governance.errors import RecordError
from governance.store import Store


def test_without_a_file_nothing_is_lacking(store: Store, tmp_path: Path) -> None:
    assert ErasureJournal(tmp_path / "erasures.jsonl").lacking(store) == ()


def test_a_line_that_a_crash_cut_off_is_no_entry(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "erasures.jsonl"
    path.write_bytes(b'{"suppression": {"tena')
    assert ErasureJournal(path).lacking(store) == ()


@pytest.mark.parametrize("line", [b"{", b"not json", b"\xff\xfe", b'{"suppression": 7}', b"[]"])
def test_a_line_that_is_none_is_named_by_its_file_and_number(store: Store, tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "erasures.jsonl"
    path.write_bytes(b"\n" + line + b"\n")
    with pytest.raises(RecordError, match=r"erasures\.jsonl:2"):
        ErasureJournal(path).lacking(store)
