"""A process that appends to a spool from several threads and prints each record once it is acknowledged."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.spool import Spool


def main() -> None:
    folder, run = Path(sys.argv[1]), sys.argv[2]
    spool = Spool(
        folder,
        DerivedKeyProvider("spool test"),
        SystemClock(),
        RandomIds(),
        max_segment_bytes=20_000,
        max_segment_age=timedelta(seconds=0.2),
    )
    guard = threading.Lock()

    def work(thread: int) -> None:
        for number in range(1_000_000):
            name = f"{run}/{thread}/{number}"
            spool.append("acme", name.encode() + b" " + b"x" * (number * 37 % 2000))
            with guard:
                print(name, flush=True)  # noqa: T201  (the acknowledgement)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
