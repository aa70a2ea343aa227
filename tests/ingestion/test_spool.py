from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from governance.ports.keys import KeyName
from ingestion import segment as segments
from ingestion.errors import SegmentCorrupt, SpoolError, SpoolFull
from ingestion.segment import claimed
from ingestion.spool import Spool
from ingestion.spool_lock import WriterLock
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

KEYS = DerivedKeyProvider("spool test")


def make(folder: Path, **held: object) -> Spool:
    return Spool(folder, KEYS, SystemClock(), RandomIds(), **held)  # type: ignore[arg-type]


def everything(spool: Spool) -> list[tuple[str, bytes]]:
    spool.seal()
    return [record for segment_id in spool.sealed() for record in spool.read(segment_id)]


def test_records_come_back_in_order_and_encrypted(tmp_path: Path) -> None:
    spool = make(tmp_path)
    for number in range(20):
        spool.append("acme", b"secret %d" % number)
    assert everything(spool) == [("acme", b"secret %d" % number) for number in range(20)]
    spool.close()
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.iterdir())
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir() if path.suffix in (".seg", ".key"))


def test_concurrent_appends_share_an_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = make(tmp_path)
    spool.append("acme", b"first")
    count = Counter[str]()
    real = os.fsync

    def counted(descriptor: int) -> None:
        count["fsync"] += 1
        time.sleep(0.002)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counted)
    threads = [threading.Thread(target=lambda: [spool.append("acme", b"x") for _ in range(10)]) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spool.close()
    assert count["fsync"] < 80
    assert len(everything(spool)) == 161


def test_size_and_age_rotate(tmp_path: Path) -> None:
    clock = ManualClock()
    spool = Spool(tmp_path, KEYS, clock, SeededIds(), max_segment_bytes=1000, max_segment_age=timedelta(seconds=60))
    spool.append("acme", b"x" * 1200)
    deadline = time.monotonic() + 5
    while not list(spool.sealed()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(list(spool.sealed())) == 1
    spool.append("acme", b"y")
    time.sleep(0.3)
    assert len(list(spool.sealed())) == 1
    clock.advance(seconds=61)
    deadline = time.monotonic() + 5
    while len(list(spool.sealed())) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [spool.read(one)[0][1][:1] for one in spool.sealed()] == [b"x", b"y"]
    spool.close()


def test_ids_never_repeat_even_when_clock_and_ids_do(tmp_path: Path) -> None:
    seen = set()
    for _ in range(3):
        spool = Spool(tmp_path, KEYS, ManualClock(), SeededIds("same"))
        seen.add(spool.append("acme", b"x"))
        spool.close()
        for segment_id in list(spool.sealed()):
            spool.destroy(segment_id)
    assert len(seen) == 3


def test_a_restart_seals_what_was_open_and_cuts_a_torn_tail(tmp_path: Path) -> None:
    writer = segments.SegmentWriter(tmp_path, "00000000000000000001-aa", KEYS.key(KeyName.SPOOL))
    writer.write([("acme", b"one"), ("acme", b"two")])
    path = tmp_path / "00000000000000000001-aa.open"
    whole = path.read_bytes()
    for torn in (b"\x00\x00\x00", b"\x00\x00\x10\x00\x01\x02\x03\x04half", whole[:30], b"\x00" * 64):
        path.write_bytes(whole + torn)
        spool = make(tmp_path)
        assert everything(spool) == [("acme", b"one"), ("acme", b"two")]
        (tmp_path / "00000000000000000001-aa.seg").rename(path)


def test_damage_before_sound_records_is_said_and_not_cut(tmp_path: Path) -> None:
    spool = make(tmp_path)
    for number in range(3):
        spool.append("acme", b"record %d" % number)
    spool.close()
    (segment_id,) = spool.sealed()
    path = tmp_path / f"{segment_id}.seg"
    data = bytearray(path.read_bytes())
    data[12] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(SegmentCorrupt):
        spool.read(segment_id)


def test_destroying_deletes_the_key_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = make(tmp_path)
    spool.append("acme", b"secret")
    spool.close()
    (segment_id,) = spool.sealed()
    (tmp_path / f"{segment_id}.key").unlink()
    with pytest.raises(SpoolError):
        spool.read(segment_id)
    assert list(spool.sealed()) == []
    assert not (tmp_path / f"{segment_id}.seg").exists()
    spool.destroy(segment_id)


def test_another_spool_key_opens_nothing(tmp_path: Path) -> None:
    spool = make(tmp_path)
    spool.append("acme", b"secret")
    spool.close()
    (segment_id,) = spool.sealed()
    with pytest.raises(SpoolError, match="does not open"):
        Spool(tmp_path, DerivedKeyProvider("other"), SystemClock(), RandomIds()).read(segment_id)


def test_the_bound_refuses_and_frees(tmp_path: Path) -> None:
    spool = make(tmp_path, max_bytes=10_000)
    spool.append("acme", b"x" * 6_000)
    with pytest.raises(SpoolFull):
        spool.append("acme", b"x" * 6_000)
    spool.seal()
    for segment_id in list(spool.sealed()):
        spool.destroy(segment_id)
    spool.append("acme", b"x" * 6_000)
    spool.close()


def test_one_writer_at_a_time_and_readers_may_ask_to_seal(tmp_path: Path) -> None:
    writer, reader = make(tmp_path), make(tmp_path)
    writer.append("acme", b"x")
    with pytest.raises(SpoolError, match="another process"):
        reader.append("acme", b"y")
    assert list(reader.sealed()) == []
    reader.seal()
    assert [reader.read(one) for one in reader.sealed()] == [[("acme", b"x")]]
    writer.close()
    reader.append("acme", b"y")
    reader.close()


def test_a_reader_that_seals_holds_up_no_other_reader(tmp_path: Path) -> None:
    spool = make(tmp_path)
    spool.append("acme", b"x")
    spool.close()
    sealing = WriterLock(tmp_path)
    assert sealing.take()
    timer = threading.Timer(0.2, sealing.drop)
    timer.start()
    started = time.monotonic()
    make(tmp_path).seal(timeout_s=30.0)
    timer.join()
    assert time.monotonic() - started < 10


def test_a_segment_is_claimed_by_one_and_not_once_it_is_gone(tmp_path: Path) -> None:
    spool = make(tmp_path)
    segment_id = spool.append("acme", b"x")
    spool.close()
    with claimed(tmp_path, segment_id, wait=False) as mine, claimed(tmp_path, segment_id, wait=False) as others:
        assert (mine, others) == (True, False)
    with claimed(tmp_path, segment_id, wait=True) as again:
        assert again
    spool.destroy(segment_id)
    with claimed(tmp_path, segment_id, wait=True) as gone:
        assert not gone


def test_a_segment_that_was_destroyed_while_one_waited_for_it_is_not_theirs(tmp_path: Path) -> None:
    spool = make(tmp_path)
    segment_id = spool.append("acme", b"x")
    spool.close()
    found: list[bool] = []

    def wait() -> None:
        with claimed(tmp_path, segment_id, wait=True) as mine:
            found.append(mine)

    with claimed(tmp_path, segment_id, wait=False):
        waiter = threading.Thread(target=wait)
        waiter.start()
        time.sleep(0.1)
        spool.destroy(segment_id)
    waiter.join()
    assert found == [False]


def test_a_failed_write_answers_every_caller_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = make(tmp_path)
    spool.append("acme", b"one")
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("no space left")))
    with pytest.raises(SpoolError, match="no space"):
        spool.append("acme", b"two")
    monkeypatch.setattr(os, "fsync", real)
    spool.append("acme", b"three")
    spool.close()
    found = [payload for _, payload in everything(spool)]
    assert found[0] == b"one"
    assert found[-1] == b"three"


def test_every_acknowledged_record_survives_kill_9_exactly_once(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    draw = random.Random(7)
    script = Path(__file__).with_name("spool_writer.py")
    for run in range(6):
        process = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path), str(run)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first
        acknowledged.append(first.strip())
        threading.Timer(draw.uniform(0.05, 0.5), process.send_signal, [signal.SIGKILL]).start()
        acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
    found = Counter(payload.split(b" ")[0].decode() for _, payload in everything(make(tmp_path)))
    assert len(acknowledged) > 50
    assert all(found[name] == 1 for name in acknowledged)
    assert max(found.values()) == 1


def test_a_pause_lets_another_write_and_the_next_record_takes_the_lock_again(tmp_path: Path) -> None:
    one, two = make(tmp_path), make(tmp_path)
    one.append("acme", b"1")
    one.pause()
    two.append("acme", b"2")
    with pytest.raises(SpoolError, match="another process"):
        one.append("acme", b"3")
    two.pause()
    one.append("acme", b"4")
    one.close()
    with pytest.raises(SpoolError, match="closed"):
        one.append("acme", b"5")
    assert [payload for _, payload in everything(two)] == [b"1", b"2", b"4"]
