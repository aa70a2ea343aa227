"""A disk that refuses: what was acknowledged stays, every caller is answered, and the writer goes on."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path

import pytest

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.errors import SpoolBusy, SpoolError
from ingestion.spool import Spool

KEYS = DerivedKeyProvider("spool faults")


class Disk:
    """The disk under one folder; ``fail`` decides about each write and sync of a file in it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.write: Callable[[str, bytes], int | None] = lambda name, data: None
        """Name and bytes to how many are written; None for what the real disk does."""
        self.broken: frozenset[str] = frozenset()
        """Which calls fail, by name: ``fsync``, ``rename``."""
        self.writes = 0
        real_write, real_sync, real_rename = os.write, os.fsync, Path.rename

        def name_of(descriptor: int) -> str | None:
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            return path.name if path.parent == folder else None

        def write(descriptor: int, data: bytes) -> int:
            name = name_of(descriptor)
            if name is None:
                return real_write(descriptor, data)
            self.writes += 1
            length = self.write(name, bytes(data))
            return real_write(descriptor, data if length is None else data[:length])

        def sync(descriptor: int) -> None:
            if "fsync" in self.broken and name_of(descriptor) is not None:
                raise OSError(errno.EIO, "the disk does not answer")
            real_sync(descriptor)

        def rename(path: Path, target: Path) -> Path:
            if "rename" in self.broken and path.parent == folder:
                raise OSError(errno.EROFS, "the disk is read-only")
            return real_rename(path, target)

        patch.setattr(os, "write", write)
        patch.setattr(os, "fsync", sync)
        patch.setattr(Path, "rename", rename)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    folder = tmp_path / "spool"
    folder.mkdir()
    return Disk(folder, monkeypatch)


@pytest.fixture
def spool(disk: Disk) -> Iterator[Spool]:
    spool = Spool(disk.folder, KEYS, SystemClock(), RandomIds())
    yield spool
    spool.close()


def found(folder: Path) -> list[bytes]:
    reader = Spool(folder, KEYS, SystemClock(), RandomIds())
    reader.seal()
    return [payload for one in reader.sealed() for _, payload in reader.read(one)]


def full(name: str, data: bytes) -> int:
    raise OSError(errno.ENOSPC, "no space left on device")


def test_writes_that_take_a_few_bytes_each_lose_none(disk: Disk, spool: Spool) -> None:
    disk.write = lambda name, data: min(len(data), 7)
    for number in range(5):
        spool.append("acme", b"record %d" % number)
    spool.seal()
    assert disk.writes > 30
    assert found(disk.folder) == [b"record %d" % number for number in range(5)]


@pytest.mark.parametrize("part", [0, 1, 11, 30])
def test_a_full_disk_costs_what_it_refused_and_nothing_else(disk: Disk, spool: Spool, part: int) -> None:
    spool.append("acme", b"one")

    def fills_up(name: str, data: bytes) -> int:
        if disk.writes > before + 1 or not part:
            full(name, data)
        return part

    before = disk.writes
    disk.write = fills_up
    for _ in range(3):
        with pytest.raises(SpoolError, match="no space"):
            spool.append("acme", b"two")
    disk.write = lambda name, data: None
    spool.append("acme", b"three")
    spool.seal()
    assert found(disk.folder) == [b"one", b"three"]


@pytest.mark.parametrize("suffix", [".key", ".open"])
def test_a_disk_that_fills_up_while_a_segment_opens(disk: Disk, spool: Spool, suffix: str) -> None:
    disk.write = lambda name, data: full(name, data) if name.endswith(suffix) else None
    with pytest.raises(SpoolError, match="no space"):
        spool.append("acme", b"one")
    disk.write = lambda name, data: None
    spool.append("acme", b"two")
    spool.seal()
    assert found(disk.folder) == [b"two"]


def test_a_sync_that_fails_is_no_acknowledgement(disk: Disk, spool: Spool) -> None:
    spool.append("acme", b"one")
    disk.broken = frozenset({"fsync"})
    with pytest.raises(SpoolError, match="does not answer"):
        spool.append("acme", b"two")
    disk.broken = frozenset()
    spool.append("acme", b"three")
    spool.seal()
    kept = found(disk.folder)
    assert [one for one in kept if one != b"two"] == [b"one", b"three"]
    assert kept.count(b"two") <= 1


def test_what_cannot_be_sealed_is_sealed_later_and_the_writer_goes_on(disk: Disk, spool: Spool) -> None:
    spool.append("acme", b"one")
    disk.broken = frozenset({"rename"})
    spool.seal()
    assert list(spool.sealed()) == []
    spool.append("acme", b"two")
    disk.broken = frozenset()
    spool.seal()
    assert found(disk.folder) == [b"one", b"two"]


def test_age_rotates_on_a_disk_that_comes_back(disk: Disk) -> None:
    spool = Spool(disk.folder, KEYS, SystemClock(), RandomIds(), max_segment_age=timedelta(seconds=0.05))
    disk.broken = frozenset({"rename"})
    spool.append("acme", b"one")
    time.sleep(0.4)
    spool.append("acme", b"two")
    disk.broken = frozenset()
    deadline = time.monotonic() + 10
    while len(list(spool.sealed())) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(list(spool.sealed())) == 2
    spool.close()
    assert found(disk.folder) == [b"one", b"two"]


def test_a_caller_that_goes_away_takes_no_other_with_it(spool: Spool) -> None:
    gone: Future[str] = spool.submit("acme", b"one")
    gone.cancel()
    for number in range(20):
        submitted = spool.submit("acme", b"x%d" % number)
        submitted.cancel()
    assert spool.append("acme", b"two")
    assert spool.append("acme", b"three")


def test_a_number_that_was_cut_short_is_found_again(tmp_path: Path) -> None:
    first = Spool(tmp_path, KEYS, SystemClock(), RandomIds())
    before = first.append("acme", b"one")
    first.close()
    for torn in (b"", b"0000", b"\x00" * 32, b"x" * 32):
        (tmp_path / "writer.lock").write_bytes(torn)
        again = Spool(tmp_path, KEYS, SystemClock(), RandomIds())
        after = again.append("acme", b"two")
        assert after > before
        before = after
        again.close()


def test_a_spool_in_other_hands_is_busy(tmp_path: Path) -> None:
    one, two = (Spool(tmp_path, KEYS, SystemClock(), RandomIds()) for _ in range(2))
    one.append("acme", b"x")
    with pytest.raises(SpoolBusy):
        two.append("acme", b"y")
    one.close()


_LIMITED = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.errors import SpoolError
from ingestion.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
spool = Spool(Path(sys.argv[2]), DerivedKeyProvider("spool faults"), SystemClock(), RandomIds())
for number in range(40):
    try:
        spool.append("acme", b"%d " % number + b"x" * 3_000)
        print(number)
    except SpoolError as error:
        assert "too large" in str(error), error
spool.close()
"""


def test_the_kernel_cuts_writes_short_and_refuses_them(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _LIMITED, str(root), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    acknowledged = [int(line) for line in done.stdout.split()]
    kept = [int(payload.split()[0]) for payload in found(tmp_path)]
    assert len(acknowledged) > 20
    assert len(acknowledged) < 40
    assert kept == acknowledged
