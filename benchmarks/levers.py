"""Which levers move for which troubles: a control, without a model.

For the whole world and for each trouble left out of it, a week is played by the scripted incumbent, sent through the
real intake and door, and routed. A lever must move exactly for its trouble.

    python benchmarks/levers.py --json --sessions 600
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from pipelines.demo.play import Week
from pipelines.demo.run import Demo
from pipelines.operations import main_scope, turn_of
from pipelines.product import choose, load_demo_product
from pipelines.services import control_service, start_all
from pipelines.settings import adopt_environment, load_settings
from pipelines.steps import improving, intake
from pipelines.turn import Window
from pipelines.wiring import Mill

LEVER_OF = {"policy_change": "context", "misleading_schema": "harness", "judgement": "weights"}


def free_ports(count: int) -> list[int]:
    """Loopback ports that nothing listens on."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return found


def levers(sessions: int, seed: int, removed: str | None, folder: Path, cache: Path) -> dict[str, Any]:
    """Play one week without ``removed`` and say which levers its patterns ask for."""
    intake_port, gateway_port = free_ports(2)
    settings = load_settings(
        data_home=folder / (removed or "everything"), cache_dir=cache, agent="examples.shop.product:build",
        intake_port=intake_port, gateway_port=gateway_port, intake_grpc_port=0,
    )  # fmt: skip
    adopt_environment(settings)
    without = [removed] if removed else []
    choose(settings, {"sessions": sessions, "real_sessions": 0, "seed": seed, "without": without})
    started = time.monotonic()
    with Mill(settings) as mill:
        demo = Demo(mill, lambda line: print(line, file=sys.stderr))
        demo.prepare()
        start_all(mill.supervisor, [control_service(settings)], lambda _: None)
        try:
            Week(mill, load_demo_product(settings)).play()
        finally:
            mill.supervisor.stop("control")
        turn = turn_of(mill, main_scope(mill), Window(*load_demo_product(settings).span))
        for step in (intake.base_model, intake.trajectories, intake.worlds):
            step(mill, turn)
        found = improving.patterns(mill, turn)["patterns"]
    moved = sorted({one["lever"] for one in found} - {"none"})
    expected = sorted(lever for trouble, lever in LEVER_OF.items() if trouble != removed)
    return {"moved": moved, "as_expected": moved == expected, "seconds": round(time.monotonic() - started, 1)}


def main() -> None:
    """Run every control and print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON (always does)")
    parser.add_argument("--sessions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    cache = Path(__file__).resolve().parents[1] / "data" / "cache"
    with tempfile.TemporaryDirectory() as folder:
        results = {
            f"without {removed}" if removed else "everything": levers(
                chosen.sessions, chosen.seed, removed, Path(folder), cache
            )
            for removed in (None, *LEVER_OF)
        }
    print(json.dumps({**results, "ok": all(one["as_expected"] for one in results.values())}))


if __name__ == "__main__":
    main()
