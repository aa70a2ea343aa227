"""The short loop: the demo's own command with every real part, killed at four steps, and gone on with each time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SESSIONS, REAL = 168, 6
KILL_AT = ("sessions played", "segment ", "training: {'event': 'step'", "candidate: ")
"""What the demo says right before it is killed with SIGKILL, in this order."""

pytestmark = [pytest.mark.model, pytest.mark.vllm, pytest.mark.timeout(2400)]


def ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Loop:
    """One data home and the commands on it."""

    def __init__(self, home: Path) -> None:
        intake, gateway, vllm, grpc = ports(4)
        chosen = {
            "DATA_HOME": home, "INTAKE_PORT": intake, "GATEWAY_PORT": gateway, "VLLM_PORT": vllm,
            "INTAKE_GRPC_PORT": grpc,
            "EVAL_TASKS": 16, "GATE_TASKS": 8, "EPOCHS": 1, "CONCURRENCY": 8,
        }  # fmt: skip
        self.home = home
        self.environment = {**os.environ, **{f"TIDEMILL_{name}": str(value) for name, value in chosen.items()}}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "pipelines", *words],
            cwd=ROOT,
            env={**self.environment, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=2000)
        return process.returncode, out, err

    def demo(self) -> tuple[str, ...]:
        return ("demo", "--json", "--home", str(self.home), "--sessions", str(SESSIONS), "--real", str(REAL))

    def killed_at(self, words: str) -> bool:
        """Run the demo and kill it with SIGKILL when it says ``words``; False when it ended before."""
        process = self.start(*self.demo())
        assert process.stderr is not None
        for line in process.stderr:
            if words in line:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                process.stderr.close()
                return True
        process.wait()
        return False


@pytest.fixture(scope="module")
def finished(base_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loop, dict[str, Any]]]:
    home = tmp_path_factory.mktemp("loop") / "home"
    cache = home.parent / "cache"
    cache.mkdir()
    (cache / "base-model").symlink_to(base_model_dir)
    loop = Loop(home)
    try:
        killed = [words for words in KILL_AT if loop.killed_at(words)]
        code, out, err = loop.run(*loop.demo())
        assert code == 0, f"{out}\n{err[-4000:]}"
        yield loop, {**json.loads(out.splitlines()[-1]), "killed": killed}
    finally:
        loop.run("down")


def test_it_was_killed_where_it_hurts(finished: tuple[Loop, dict[str, Any]]) -> None:
    assert set(finished[1]["killed"]) == set(KILL_AT)


def test_nothing_is_lost_or_doubled(finished: tuple[Loop, dict[str, Any]]) -> None:
    loop, summary = finished
    assert summary["sessions"] == {"total": SESSIONS, "real": REAL, "simulated": SESSIONS - REAL}
    assert sum(day["success"] + day["failure"] + day["unknown"] for day in summary["days"]) > 0
    code, out, _ = loop.run("ledger", "--json")
    assert code == 0, out
    assert all(line["balances"] for line in summary["ledger"])


def test_every_row_left_out_has_a_reason(finished: tuple[Loop, dict[str, Any]]) -> None:
    for row in finished[1]["rows"]:
        if row["step"] != "failures routed":
            assert row["considered"] == row["kept"] + sum(row["excluded"].values()), row
    dataset = next(row for row in finished[1]["rows"] if row["step"] == "runs trained on")
    assert dataset["excluded"]["contract_forbids_shared_adapter"] > 0
    assert dataset["kept"] > 0


def test_the_levers_move_for_their_reasons(finished: tuple[Loop, dict[str, Any]]) -> None:
    levers = {one["lever"] for one in finished[1]["proposals"]}
    assert {"harness", "weights"} <= levers
    routed = {one["key"]: one["lever"] for one in finished[1]["patterns"]}
    assert all(routed[one["pattern"]] == one["lever"] for one in finished[1]["proposals"])


def test_both_releases_ran_on_the_same_tasks(finished: tuple[Loop, dict[str, Any]]) -> None:
    gate = finished[1]["evaluation"]
    assert gate["tasks"] >= 8
    assert gate["verdict"] in {"pass", "inconclusive"}
    assert gate["low"] <= gate["difference"] <= gate["high"]


def test_a_person_left_and_nothing_of_them_is_found(finished: tuple[Loop, dict[str, Any]]) -> None:
    erasure = finished[1]["erasure"]
    assert erasure is not None
    assert erasure["facts"]["found by the rescan"] == 0
    states = {(row["kind"], row["state"]) for row in erasure["artifacts"]}
    assert ("trajectory", "deleted") in states
    assert ("dataset_row", "deleted") in states


def test_done_is_done(finished: tuple[Loop, dict[str, Any]]) -> None:
    loop, summary = finished
    code, out, err = loop.run(*loop.demo())
    assert code == 0
    assert err.count("done before") >= 4
    again = json.loads(out.splitlines()[-1])
    assert again["digests"] == summary["digests"]
    assert again["deployments"] == summary["deployments"]
    assert Path(again["report"]).stat().st_size > 10_000


def test_a_replay_of_the_recording_gives_equal_digests(finished: tuple[Loop, dict[str, Any]], tmp_path: Path) -> None:
    """The person who left is in neither: their records went from the recording, too."""
    loop, _ = finished
    intake, gateway = ports(2)
    code, out, err = loop.run(
        "replay", str(loop.home), str(tmp_path / "again"), "--json",
        "--intake-port", str(intake), "--gateway-port", str(gateway),
    )  # fmt: skip
    assert code == 0, f"{out}\n{err[-3000:]}"
    assert all(json.loads(out.splitlines()[-1])["equal"].values())
