"""Worlds: how fast a snapshot is restored, whether rollouts are isolated and repeatable, and what a tool call costs.

    python -m benchmarks.worlds --json
    python -m benchmarks.worlds --json --rollouts 100

- Restore: a session of a world of about 10 MB (orders with lines, customers, documents) is opened, copy-on-write, so
  nothing is copied yet; ``first_call`` is the first call of a session, which copies the whole table that it touches (of
  9 MB here). P50 and P90 of many.
- Rollouts: ``--rollouts`` sessions of 20 tool calls each, reads and writes drawn by the rollout's number, in a pool of
  processes, twice. The digest of each end state must be equal in both; sessions run side by side in each process, their
  calls interleaved, so one that reached another's state would show. One rollout in ten crashes in the middle of a call:
  its neighbours must end as they do without it.
- Overhead: a call of a tool that does nothing, through the session (schema, copies), in microseconds; the same over MCP
  (official SDK, in memory).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from governance.ports.tools import App, ToolRefusal, WorldState
from governance.records.base import canonical_json, digest_json
from governance.records.harness import Effect, ToolSpec
from governance.records.world import World, WorldSchema
from training.worlds import WorldHost, WorldSession

CALLS: Final = 20
SIDE_BY_SIDE: Final = 10
CRASHES: Final = 10
"""One rollout of so many crashes."""
SCHEMA: Final = WorldSchema(
    primary_keys={"orders": "order_id", "customers": "customer_id"}, subject_fields={}, personal_fields={}
)
ORDER: Final = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}


class Shop(App):
    """Orders that are read, refunded, and a tool that breaks."""

    def tools(self) -> tuple[ToolSpec, ...]:
        """Four of them."""
        effects = {"get_order": Effect.READ, "refund": Effect.WRITE, "break": Effect.WRITE, "nothing": Effect.READ}
        return tuple(
            ToolSpec(name=name, description=name, parameters=ORDER, effect=effect) for name, effect in effects.items()
        )

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        """One call."""
        if name == "nothing":
            return None
        row = next((one for one in state.tables["orders"] if one["order_id"] == arguments["order_id"]), None)
        if row is None:
            raise ToolRefusal("not_found", f"no order {arguments['order_id']}")
        if name == "break":
            row["status"] = "half"
            raise RuntimeError("the app broke in the middle")
        if name == "refund":
            row["status"] = "refunded"
            row["refunds"] = row.get("refunds", 0) + 1
        return row


@lru_cache(maxsize=1)
def world(orders: int = 6000) -> World:
    """About 10 MB."""
    rng = random.Random(7)

    def words(count: int) -> str:
        return " ".join(f"{rng.randrange(16**6):06x}" for _ in range(count))

    lines = [
        {
            "order_id": f"SO-{number}", "customer_id": f"C-{number % 500}", "status": "sent", "total": number % 997,
            "lines": [{"sku": f"P-{rng.randrange(900)}", "text": words(50)} for _ in range(4)],
        }
        for number in range(orders)
    ]  # fmt: skip
    customers = [{"customer_id": f"C-{number}", "note": words(60)} for number in range(500)]
    documents = {f"page {number}": words(200) for number in range(20)}
    tables = {"orders": tuple(lines), "customers": tuple(customers)}
    return World(tables=tables, documents=documents, at=datetime(2026, 1, 1, tzinfo=UTC))


@lru_cache(maxsize=1)
def host() -> tuple[WorldHost, str]:
    """A host of the world, and its digest."""
    digest = world().digest()
    return WorldHost(Shop(), {digest: world()}.__getitem__, SCHEMA), digest


def restored(times: int) -> list[float]:
    """Milliseconds of opening a session, each time a fresh one."""
    made, digest = host()
    made.open(digest).call("get_order", {"order_id": "SO-1"})
    taken = []
    for number in range(times):
        begin = time.perf_counter()
        session = made.open(digest)
        taken.append((time.perf_counter() - begin) * 1000)
        assert not session.changes(), number
    return taken


def first_call(times: int) -> list[float]:
    """Milliseconds of the first call of a session, which copies the table that it touches."""
    made, digest = host()
    taken = []
    for number in range(times):
        session = made.open(digest)
        begin = time.perf_counter()
        session.call("get_order", {"order_id": f"SO-{number}"})
        taken.append((time.perf_counter() - begin) * 1000)
    return taken


def script(number: int) -> list[tuple[str, str]]:
    """The calls of one rollout."""
    rng = random.Random(number)
    return [(rng.choice(("get_order", "refund")), f"SO-{rng.randrange(300)}") for _ in range(CALLS)]


def rolled_out(numbers: list[int], *, crash: bool) -> dict[int, str]:
    """Rollout to the digest of what it changed; calls of all interleaved."""
    made, digest = host()
    sessions: dict[int, WorldSession] = {number: made.open(digest) for number in numbers}
    scripts = {number: script(number) for number in numbers}
    broken: set[int] = set()
    for place in range(CALLS):
        for number, session in sessions.items():
            if number in broken:
                continue
            name, order = scripts[number][place]
            if crash and number % CRASHES == 0 and place == CALLS // 2:
                broken.add(number)
                name = "break"
            try:
                session.call(name, {"order_id": order})
            except RuntimeError:
                continue
    return {
        number: digest_json([change.plain() for change in session.changes()])
        for number, session in sessions.items()
        if number not in broken
    }


def in_processes(rollouts: int, *, crash: bool) -> tuple[dict[int, str], float]:
    """All of them, on every core, and the seconds."""
    groups = [list(range(at, min(at + SIDE_BY_SIDE, rollouts))) for at in range(0, rollouts, SIDE_BY_SIDE)]
    begin = time.perf_counter()
    found: dict[int, str] = {}
    with ProcessPoolExecutor() as pool:
        for part in pool.map(partial(rolled_out, crash=crash), groups):
            found |= part
    return found, time.perf_counter() - begin


def overhead(times: int) -> float:
    """Microseconds of a call that does nothing, once its session is warm."""
    made, digest = host()
    session = made.open(digest)
    session.call("nothing", {"order_id": "SO-1"})
    begin = time.perf_counter()
    for _ in range(times):
        session.call("nothing", {"order_id": "SO-1"})
    return (time.perf_counter() - begin) / times * 1e6


async def over_mcp(times: int) -> float:
    """The same over MCP."""
    from mcp import Client

    from training.mcp_face import server_of

    made, digest = host()
    async with Client(server_of(made.open(digest), Shop().tools(), "shop")) as client:
        await client.call_tool("nothing", {"order_id": "SO-1"})
        begin = time.perf_counter()
        for _ in range(times):
            await client.call_tool("nothing", {"order_id": "SO-1"})
        return (time.perf_counter() - begin) / times * 1e6


def measure(chosen: argparse.Namespace) -> dict[str, Any]:
    """Every figure."""
    opened, first = restored(chosen.restores), first_call(min(chosen.restores, 50))
    plain, seconds = in_processes(chosen.rollouts, crash=False)
    again, _ = in_processes(chosen.rollouts, crash=False)
    crashed, _ = in_processes(chosen.rollouts, crash=True)
    tenths, firsts = statistics.quantiles(opened, n=10), statistics.quantiles(first, n=10)
    return {
        "benchmark": "worlds",
        "world_mb": round(len(canonical_json(world().plain())) / 1e6, 1),
        "restore_p50_ms": round(tenths[4], 4),
        "restore_p90_ms": round(tenths[8], 4),
        "first_call_p50_ms": round(firsts[4], 3),
        "first_call_p90_ms": round(firsts[8], 3),
        "rollouts": chosen.rollouts,
        "rollouts_s": round(seconds, 2),
        "digests_equal": plain == again and len(plain) == chosen.rollouts,
        "crash_contained": len(crashed) < len(plain) and all(plain[one] == digest for one, digest in crashed.items()),
        "call_us": round(overhead(20_000), 1),
        "call_over_mcp_us": round(asyncio.run(over_mcp(1000)), 1),
    }


def main() -> None:
    """Measure and print; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print the JSON line only; nothing else is printed")
    parser.add_argument("--rollouts", type=int, default=1000, help="of 20 calls each")
    parser.add_argument("--restores", type=int, default=500, help="sessions that are opened")
    print(json.dumps(measure(parser.parse_args())))


if __name__ == "__main__":
    main()
