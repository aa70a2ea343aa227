"""The detectors in processes of their own: as many as there are cores for, and each can be ended.

Theory. A regular expression or a model that does not come back cannot be stopped inside a process; a process can. So
each worker is one (spawned, never forked), loads the detectors once and answers one request at a time over a pipe.
A request that takes longer than its limit (``MaskingTimeout``), or a worker that dies, fails the whole call: nothing of
it goes on unmasked. The worker is ended and the next call starts a new one. Loading does not count against the limit,
which grows with the characters of a request, and a large call is several requests, so the limit stays near its base.
A worker whose parent is gone reads the end of its pipe and ends.

The texts of a call are shared out by length, so workers end at about the same time, and every text is found by one
detector as it would be found in this process.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Final

from governance.errors import MaskingError, MaskingTimeout
from governance.masking.detection import Detector, TextDetector, TextKind
from governance.masking.spans import Hit

LOAD_WITHIN_S: Final = 180.0
PART: Final = 100_000
"""Characters of one request to a worker; a longer text is a request of its own."""
SLOWEST: Final = 1_000
"""Characters a second that the limit allows for: several times slower than a busy core is (`docs/measurements.md`)."""
SMALL: Final = 2_000
"""Characters that are not worth sharing out."""
Texts = Sequence[tuple[str, TextKind]]


class ProcessDetector(TextDetector):
    """``Detector`` in worker processes."""

    def __init__(
        self, workers: int = 1, *, time_limit: float = 60.0, detector: Callable[[], TextDetector] = Detector
    ) -> None:
        """``time_limit`` in seconds is for one request, besides a second for each ``SLOWEST`` characters of it.

        ``detector`` is called in each worker, so it must be one that can be sent there (a class, or a ``partial``).
        """
        self._limit = time_limit
        self._workers = [_Worker(detector) for _ in range(workers)]
        self._lock = Lock()

    def find(self, texts: Texts) -> list[tuple[Hit, ...]]:
        """The findings of each text, without overlap, in order."""
        with self._lock:
            return [hits for part in _parts(texts, PART * len(self._workers)) for hits in self._find(part)]

    def _find(self, texts: Texts) -> list[tuple[Hit, ...]]:
        shares = _shares(texts, len(self._workers))
        busy = [(worker, share) for worker, share in zip(self._workers, shares, strict=False) if share]
        answers = self._answers(texts, busy)
        found: list[tuple[Hit, ...]] = [()] * len(texts)
        for (_, share), hits in zip(busy, answers, strict=True):
            for place, one in zip(share, hits, strict=True):
                found[place] = one
        return found

    def _answers(self, texts: Texts, busy: Sequence[tuple[_Worker, list[int]]]) -> list[list[tuple[Hit, ...]]]:
        """What each worker found. All are heard before a failure of one is raised, so none keeps an old answer."""
        asked: list[_Worker] = []
        try:
            for worker, share in busy:
                worker.ask([texts[place] for place in share])
                asked.append(worker)
        except MaskingError:
            for worker in asked:
                worker.end()
            raise
        longest = max((sum(len(texts[place][0]) for place in share) for _, share in busy), default=0)
        until = time.monotonic() + self._limit + longest / SLOWEST
        heard = [worker.answer(until) for worker, _ in busy]
        for one in heard:
            if isinstance(one, MaskingError):
                raise one
        return [one for one in heard if not isinstance(one, MaskingError)]

    def load(self) -> None:
        """Start every worker and wait until each has loaded."""
        with self._lock:
            for worker in self._workers:
                worker.start()
            for worker in self._workers:
                worker.wait_loaded()

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            for worker in self._workers:
                worker.end()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self, detector: Callable[[], TextDetector]) -> None:
        self._detector = detector
        self._process: Any = None
        self._pipe: Any = None
        self._loaded = False

    def start(self) -> None:
        """Start the process unless it lives."""
        if self._process is not None and self._process.is_alive():
            return
        self.end()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._detector), daemon=True, name="detector")
        self._process.start()
        theirs.close()

    def wait_loaded(self) -> None:
        """Wait until it has loaded its detectors."""
        if self._loaded:
            return
        answer = self._receive(time.monotonic() + LOAD_WITHIN_S, "loading")
        if isinstance(answer, MaskingError):
            self.end()
            raise answer
        self._loaded = True

    def ask(self, texts: Texts) -> None:
        """Give it work."""
        self.start()
        self.wait_loaded()
        try:
            self._pipe.send(texts)
        except OSError as error:
            self.end()
            raise MaskingError("a detector process died; nothing was masked") from error

    def answer(self, until: float) -> list[tuple[Hit, ...]] | MaskingError:
        """What it found, or why it found nothing."""
        answer: list[tuple[Hit, ...]] | MaskingError = self._receive(until, "detection")
        return answer

    def _receive(self, until: float, what: str) -> Any:
        """What comes over the pipe; a worker that does not answer is ended."""
        try:
            if self._pipe.poll(max(0.0, until - time.monotonic())):
                return self._pipe.recv()
            fault: MaskingError = MaskingTimeout(f"{what} took longer than its limit; nothing was masked")
        except (EOFError, OSError):
            fault = MaskingError("a detector process died; nothing was masked")
        self.end()
        return fault

    def end(self) -> None:
        """End the process; the next request starts a new one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None
        self._loaded = False


def _parts(texts: Texts, size: int) -> Iterator[Texts]:
    """The texts in runs of bounded size, in order."""
    start = held = 0
    for place, (text, _) in enumerate(texts):
        if place > start and held + len(text) > size:
            yield texts[start:place]
            start, held = place, 0
        held += len(text)
    if start < len(texts):
        yield texts[start:]


def _shares(texts: Texts, workers: int) -> list[list[int]]:
    """Which worker gets which texts: the longest first, to whoever has least."""
    lengths = [len(text) for text, _ in texts]
    count = 1 if sum(lengths) < SMALL else workers
    shares: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for place in sorted(range(len(texts)), key=lambda place: -lengths[place]):
        least = loads.index(min(loads))
        shares[least].append(place)
        loads[least] += lengths[place] + 50
    return shares


def _serve(pipe: Connection, detector: Callable[[], TextDetector]) -> None:
    """A worker: loads, says so, and answers until the pipe ends."""
    try:
        made = detector()
        pipe.send(_of(made.load))
        while True:
            texts = pipe.recv()
            pipe.send(_of(lambda: made.find(texts)))  # noqa: B023 - called at once
    except (EOFError, OSError, KeyboardInterrupt):
        return


def _of(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent hears of it
        return error if isinstance(error, MaskingError) else MaskingError(f"a detector failed ({type(error).__name__})")
