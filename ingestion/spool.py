"""The spool: raw request bodies, durable and encrypted, between the receiver's 200 and the drain.

1. ``append`` returns when the record is on disk (fsync). One writer thread takes what concurrent callers bring and
   makes it durable with one fsync (group commit).
2. A segment is rotated by size and by age, and a sealed one never changes. Ids sort in order of creation.
3. There is one writer at a time, held by a file lock; whoever takes the lock first seals what a dead writer left open.
   Readers in other processes see sealed segments only, and may ask the writer to seal (``seal``).
4. The bytes that wait are bounded: beyond the bound ``submit`` refuses, and the sender is told to come back.
5. Segments are destroyed by deleting their one-time key first (``ingestion.segment``).
6. A disk that refuses costs an answer, never the writer: every caller is told, the segment is left as it is, and to
   seal it is tried again until it works.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from governance.ports.clock import Clock, IdFactory
from governance.ports.keys import KeyName, KeyProvider
from governance.records.base import to_unix_nano
from ingestion import segment as segments
from ingestion.errors import SpoolBusy, SpoolError, SpoolFull
from ingestion.sealing import seal, unseal
from ingestion.segment import KEY, MAX_RECORD, SEALED, SegmentWriter
from ingestion.spool_lock import WriterLock

_log = logging.getLogger(__name__)
_POLL_S: Final = 0.1
"""How often the writer looks at its segment's age and at requests to seal."""
_BATCH: Final = 256
_REQUEST: Final = "seal.request"
_Waiting = tuple[str, bytes, "Future[str]"]


class Spool:
    """A folder of segments."""

    def __init__(
        self,
        folder: Path,
        keys: KeyProvider,
        clock: Clock,
        ids: IdFactory,
        *,
        max_segment_bytes: int = 8 * 2**20,
        max_segment_age: timedelta = timedelta(seconds=30),
        max_bytes: int = 2**30,
    ) -> None:
        """Nothing is written until the first ``append``; reading needs no lock."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._keys = keys
        self._clock = clock
        self._ids = ids
        self._max_segment_bytes = max_segment_bytes
        self._max_segment_age = max_segment_age
        self._max_bytes = max_bytes
        self._waiting: queue.Queue[_Waiting | None] = queue.Queue()
        self._pending_bytes = 0
        self._guard = threading.Lock()
        self._segment_guard = threading.RLock()
        self._thread: threading.Thread | None = None
        self._lock = WriterLock(folder)
        self._left: list[str] = []
        """Segments that are written no more and not sealed yet."""
        self._segment: SegmentWriter | None = None
        self._opened_at: datetime | None = None
        self._closed = False

    # Writing

    def submit(self, tenant_id: str, payload: bytes) -> Future[str]:
        """Queue a record; the future gives the segment's id once it is durable.

        Raises:
            SpoolFull: when the bytes that wait reach the bound.
            SpoolBusy: when another process writes to the spool.
            SpoolError: when the spool is closed, or the disk refuses.

        """
        if len(payload) > MAX_RECORD:
            raise SpoolError(f"a record of {len(payload)} bytes is too big for the spool")
        with self._guard:
            if self._closed:
                raise SpoolError("the spool is closed")
            self._start()
            if self.bytes_held() + self._pending_bytes + len(payload) > self._max_bytes:
                raise SpoolFull(f"the spool holds its bound of {self._max_bytes} bytes")
            self._pending_bytes += len(payload)
            future: Future[str] = Future()
            self._waiting.put((tenant_id, payload, future))
        return future

    def append(self, tenant_id: str, payload: bytes) -> str:
        """Make a record durable and return the id of its segment.

        Raises:
            SpoolFull: when the bytes that wait reach the bound.
            SpoolError: when the disk refuses.

        """
        return self.submit(tenant_id, payload).result()

    def _start(self) -> None:
        if self._thread is not None:
            return
        if not self._lock.take():
            raise SpoolBusy(f"another process writes to {self.folder.name}")
        try:
            segments.recover(self.folder)
        except OSError as error:
            self._lock.drop()
            raise SpoolError(f"the spool cannot take up what a writer left: {error}") from error
        self._thread = threading.Thread(target=self._run, name="spool-writer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            batch, ended = self._take()
            if batch:
                self._write(batch)
            with self._segment_guard:
                if ended or self._due() or self._asked():
                    self._rotate()
            if ended:
                return

    def _take(self) -> tuple[list[_Waiting], bool]:
        batch: list[_Waiting] = []
        try:
            item = self._waiting.get(timeout=_POLL_S)
            while item is not None:
                self._begin(item, batch)
                if len(batch) == _BATCH:
                    return batch, False
                item = self._waiting.get_nowait()
        except queue.Empty:
            return batch, False
        return batch, True

    def _begin(self, item: _Waiting, batch: list[_Waiting]) -> None:
        """Take up a record, unless its caller has gone: nobody would learn that it is durable."""
        _, payload, future = item
        if future.set_running_or_notify_cancel():
            batch.append(item)
        else:
            with self._guard:
                self._pending_bytes -= len(payload)

    def _write(self, batch: list[_Waiting]) -> None:
        try:
            with self._segment_guard:
                segment = self._segment or self._open()
                segment.write([(tenant_id, payload) for tenant_id, payload, _ in batch])
        except Exception as error:  # noqa: BLE001  (every caller waits on this thread: each must get an answer)
            # The file's end is unknown now, and a position must never be encrypted twice: leave the segment.
            with self._segment_guard:
                self._rotate()
            failure = SpoolError(f"the spool cannot write: {error}")
            failure.__cause__ = error
            self._settle(batch, failure)
            return
        self._settle(batch, segment.id)

    def _settle(self, batch: list[_Waiting], outcome: str | SpoolError) -> None:
        with self._guard:
            self._pending_bytes -= sum(len(payload) for _, payload, _ in batch)
        for _, _, future in batch:
            if isinstance(outcome, str):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

    def _open(self) -> SegmentWriter:
        self._opened_at = self._clock.now()
        segment_id = f"{self._lock.next_number(to_unix_nano(self._opened_at)):020d}-{self._ids.hex(8)}"
        self._segment = SegmentWriter(self.folder, segment_id, self._keys.key(KeyName.SPOOL))
        return self._segment

    def _due(self) -> bool:
        if self._segment is None or self._opened_at is None:
            return bool(self._left)
        old = self._clock.now() - self._opened_at >= self._max_segment_age
        return old or self._segment.size >= self._max_segment_bytes

    def _asked(self) -> bool:
        return (self.folder / _REQUEST).exists()

    def _rotate(self) -> None:
        segment, self._segment, self._opened_at = self._segment, None, None
        if segment is not None:
            segment.close()
            self._left.append(segment.id)
        try:
            while self._left:
                segments.seal_segment(self.folder, self._left[0])
                self._left.pop(0)
            (self.folder / _REQUEST).unlink(missing_ok=True)
        except OSError:
            if segment is not None:  # said once; it is tried again at every look
                _log.exception("segment %s cannot be sealed yet", segment.id)

    def close(self) -> None:
        """Write what waits, seal, and let another process write."""
        with self._guard:
            self._closed = True
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
        self._lock.drop()

    def pause(self) -> None:
        """As ``close``, until the next record: that one takes the lock again."""
        self.close()
        with self._guard:
            self._closed, self._thread = False, None

    # Reading

    def seal(self, timeout_s: float = 5.0) -> None:
        """Seal the open segment, whoever writes it, so that ``sealed`` gives everything acknowledged before."""
        if self._sealed_here():
            return
        deadline = time.monotonic() + timeout_s
        (self.folder / _REQUEST).touch()  # the holder may be another reader, who answers nobody
        while self._asked() and time.monotonic() < deadline and not self._sealed_here():
            time.sleep(_POLL_S / 4)

    def _sealed_here(self) -> bool:
        """Seal as the writer, or for one that is gone; False while another process holds the spool."""
        with self._guard:
            if self._thread is not None and self._thread.is_alive():
                with self._segment_guard:
                    self._rotate()
                    return True
            if self._lock.take():
                try:
                    segments.recover(self.folder)
                finally:
                    self._lock.drop()
                return True
        return False

    def sealed(self) -> Iterator[str]:
        """Ids of the sealed segments, oldest first. One whose key is gone is being destroyed, and is finished off."""
        for path in sorted(self.folder.glob(f"*{SEALED}")):
            if (self.folder / f"{path.stem}{KEY}").exists():
                yield path.stem
            else:
                segments.destroy_segment(self.folder, path.stem)

    def read(self, segment_id: str) -> list[tuple[str, bytes]]:
        """The (tenant, payload) records of a sealed segment, in order.

        Raises:
            SegmentCorrupt: when the segment fails its checks.
            SpoolError: when it is gone, or the spool key is not the one that sealed it.

        """
        return segments.read_segment(self.folder, segment_id, self._keys.key(KeyName.SPOOL))

    def destroy(self, segment_id: str) -> None:
        """Delete the segment's key, then its data. Idempotent."""
        segments.destroy_segment(self.folder, segment_id)

    def seal_aside(self, label: str, data: bytes) -> bytes:
        """Bytes under the spool key, for what must rest outside the spool (quarantine)."""
        return seal(self._keys.key(KeyName.SPOOL), label, data)

    def open_aside(self, label: str, sealed: bytes) -> bytes:
        """The inverse of ``seal_aside``.

        Raises:
            SpoolError: when it does not open.

        """
        return unseal(self._keys.key(KeyName.SPOOL), label, sealed)

    def bytes_held(self) -> int:
        """Bytes on disk that wait for the drain."""
        return sum(segments.segment_sizes(self.folder))

    def segments_held(self) -> int:
        """Segments on disk, open or sealed."""
        return len(segments.segment_sizes(self.folder))
