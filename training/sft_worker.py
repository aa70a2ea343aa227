"""The training process: ``python -m training.sft_worker JOB.json``.

It holds the model, so that the process which asked for the training stays small, and can be killed at any time: it goes
on from its last checkpoint when the same job is started again. Its standard output carries JSON lines and nothing else
(what libraries print goes to standard error); the last line is ``done`` with the metrics or ``failed`` with the error's
name. It ends when its standard input closes, so it never outlives the process that started it, however that one ended;
and a lock on its folder keeps a second worker out.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from training.errors import AdapterFault, NoTarget, SftError, TrainingError, WorkerFailed
from training.sft_config import SftJob

ORPHANED = 3
"""Exit status of a worker whose parent is gone."""


def main(job_file: str) -> int:
    """Run one job; 0 when it ended with an adapter."""
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def emit(event: dict[str, Any]) -> None:
        channel.write(json.dumps(event) + "\n")

    try:
        job = SftJob.parse(json.loads(Path(job_file).read_bytes()), job_file)
        with (Path(job.work_dir) / "lock").open("w") as lock:
            _hold(lock.fileno())
            from training import sft_trainer

            emit({"event": "done", "metrics": sft_trainer.run(job, emit)})
    except TrainingError as error:
        emit({"event": "failed", "kind": type(error).__name__, "text": str(error)})
        return 1
    return 0


def _hold(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise WorkerFailed("another worker trains in this folder") from error


def _end_with_parent() -> None:
    """Standard input is a pipe that the parent holds and never writes to."""
    while os.read(0, 1024):
        pass
    os._exit(ORPHANED)


def named_error(kind: str, text: str) -> TrainingError:
    """The exception that a ``failed`` line speaks of."""
    known: dict[str, type[SftError]] = {one.__name__: one for one in (NoTarget, AdapterFault, WorkerFailed)}
    return known.get(kind, WorkerFailed)(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
