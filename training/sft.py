"""Supervised fine-tuning: rows in, an adapter named by its content out.

Guarantees. The adapter is trained from the frozen base on exactly the rows that a right still covers at this moment:
``still_allowed`` is asked right before the rows are written for the worker, and the dataset digest that the adapter
carries is over what was learned, not over what was offered. The same rows, base and settings are the same job: started
again it returns what it made before, or goes on from its last checkpoint. An adapter gets its name after it was found
finite and not empty (``training.adapters``). If a person was erased while it trained, its folder is gone and so is the
training. The model lives in a process of its own (``training.sft_worker``).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from governance.records.base import digest_json
from governance.records.dataset import DatasetRow
from governance.records.release import AdapterRef, BaseModelRef
from training.adapters import ROWS, SOURCES, TRAINING, WORK, AdapterShelf, write_json
from training.errors import NoTarget, WorkerFailed
from training.sft_config import SftConfig, SftJob
from training.sft_worker import named_error

Progress = Callable[[dict[str, Any]], None]
StillAllowed = Callable[[Sequence[DatasetRow]], Sequence[DatasetRow]]

ROOT: Final = Path(__file__).resolve().parent.parent
QUIET: Final = (
    "HF_HUB_OFFLINE=1",
    "HF_HUB_DISABLE_TELEMETRY=1",
    "TOKENIZERS_PARALLELISM=false",
)
"""The worker asks nobody on the internet and reports to nobody; TRL would, when a trainer is made."""


@dataclass(frozen=True)
class TrainedAdapter:
    """An adapter, where it lies, and how it came about."""

    ref: AdapterRef
    path: Path
    probe: dict[str, Any]
    metrics: dict[str, Any]
    rows: tuple[str, ...]
    """Digests of the rows that were learned, sorted."""
    dropped: int
    """Rows that lost their right since the dataset was built."""


def train(
    rows: Iterable[DatasetRow],
    *,
    base: BaseModelRef,
    base_dir: Path,
    shelf: AdapterShelf,
    config: SftConfig,
    progress: Progress | None = None,
    still_allowed: StillAllowed | None = None,
) -> TrainedAdapter:
    """Train an adapter on ``rows``, or return the one that the same job made.

    Raises:
        NoTarget: when no row is left to learn from.
        AdapterFault: when what was trained is not finite or changes nothing.
        WorkerFailed: when the process ended without a result, or the rows were erased meanwhile.

    """
    offered = tuple(rows)
    allowed = tuple(still_allowed(offered)) if still_allowed is not None else offered
    if not allowed:
        raise NoTarget(f"no row is left: {len(offered)} were offered and none may be used now")
    key = job_key(allowed, base, config)
    made = shelf.made_by(key)
    if made is None:
        made = _make(allowed, key, base, base_dir, shelf, config, progress)
    return _read(shelf, made, config, len(offered) - len(allowed))


def job_key(rows: Sequence[DatasetRow], base: BaseModelRef, config: SftConfig) -> str:
    """The same rows, base and settings are the same job."""
    return digest_json([sorted(row.digest() for row in rows), base.content_digest, config.plain()])


def _make(  # noqa: PLR0917 - one job's parts, handed on as they came
    rows: Sequence[DatasetRow],
    key: str,
    base: BaseModelRef,
    base_dir: Path,
    shelf: AdapterShelf,
    config: SftConfig,
    progress: Progress | None,
) -> str:
    work = (shelf.folder / WORK / key).resolve()
    job = SftJob(key=key, base_dir=str(base_dir.resolve()), base_name=base.name, work_dir=str(work), config=config)
    _prepare(work, job, rows)
    metrics = _run_worker(work, progress)
    rejected = {(one["trajectory_id"], one["step"]) for one in metrics["rejected"]}
    learned = sorted(row.digest() for row in rows if (row.trajectory_id, row.step) not in rejected)
    if not (work / SOURCES).exists():
        raise WorkerFailed("a person whose rows were learned was erased meanwhile")
    filled = work / "adapter"
    shutil.copy(work / SOURCES, filled / SOURCES)
    write_json(filled / TRAINING, {"key": key, "rows": learned, "metrics": metrics, "config": config.plain()})
    digest = shelf.publish(filled)
    shutil.rmtree(work, ignore_errors=True)
    return digest


def _prepare(work: Path, job: SftJob, rows: Sequence[DatasetRow]) -> None:
    """The list of people first: a folder that holds rows can always be found by person."""
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / SOURCES, sorted({(row.tenant_id, row.subject) for row in rows}))
    (work / ROWS).write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")
    write_json(work / "job.json", job.plain())


def _run_worker(work: Path, progress: Progress | None) -> dict[str, Any]:
    """Start the worker, pass its events on, and return its metrics; it is ended when this ends early."""
    program = [shutil.which("env") or "env", *QUIET, sys.executable, "-m", "training.sft_worker"]
    with (work / "stderr.log").open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*program, str(work / "job.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            start_new_session=True,
            text=True,
        )
        try:
            last = _follow(process.stdout, progress) if process.stdout else {}
            process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdin:
                process.stdin.close()
    if last.get("event") == "failed":
        raise named_error(last["kind"], last["text"])
    if last.get("event") != "done":
        raise WorkerFailed(f"the worker ended with status {process.returncode}: {_tail(work / 'stderr.log')}")
    metrics: dict[str, Any] = last["metrics"]
    return metrics


def _follow(lines: IO[str], progress: Progress | None) -> dict[str, Any]:
    """Each event to ``progress``; the last one comes back."""
    last: dict[str, Any] = {}
    for line in lines:
        last = json.loads(line)
        if progress is not None:
            progress(last)
    return last


def _tail(log: Path) -> str:
    if not log.exists():
        return "its folder is gone: a person whose rows it learned was erased"
    with log.open(encoding="utf-8", errors="replace") as lines:
        return "".join(deque(lines, maxlen=6)).strip()


def _read(shelf: AdapterShelf, digest: str, config: SftConfig, dropped: int) -> TrainedAdapter:
    path = shelf.path(digest)
    record = json.loads((path / TRAINING).read_bytes())
    ref = AdapterRef(
        content_digest=digest,
        rank=config.rank,
        target_modules=config.target_modules,
        dataset_digest=digest_json(record["rows"]),
    )
    metrics, rows = record["metrics"], tuple(record["rows"])
    return TrainedAdapter(ref=ref, path=path, probe=shelf.probe(digest), metrics=metrics, rows=rows, dropped=dropped)
