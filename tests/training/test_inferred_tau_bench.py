"""A world inferred from tau-bench's airline runs of some tasks, replayed with the runs of others."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from governance.records.harness import Effect, ToolSpec
from governance.records.trajectory import Actor, ToolInvocation
from training.inferred import InferredApp, fidelity, infer, schema_of
from training.inferred.fidelity import Answered, answered
from training.state import SessionState, Snapshot

NOW = datetime(2024, 5, 15, 15, tzinfo=UTC)
WRITES = ("book_", "cancel_", "update_", "send_", "transfer_")


def calls_of(run: dict[str, Any]) -> list[ToolInvocation]:
    """The calls of a run, in order; a text that is JSON is its value, and one that begins with ``Error`` a refusal."""
    asked: dict[str, Any] = {}
    found: list[ToolInvocation] = []
    for message in run["traj"]:
        asked |= {call["id"]: call["function"] for call in message.get("tool_calls") or ()}
        if message["role"] != "tool":
            continue
        text, refused = message["content"], message["content"].startswith("Error")
        found.append(
            ToolInvocation(
                span_id=f"{len(found) + 1:016x}", call_id=message["tool_call_id"], name=message["name"],
                arguments=json.loads(asked[message["tool_call_id"]]["arguments"]),
                result=None if refused else value_of(text), error=text if refused else None,
                error_type="tool" if refused else None, actor=Actor.AGENT, started_at=NOW,
            )
        )  # fmt: skip
    return found


def value_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture(scope="module")
def runs(cases_dir: Path) -> dict[int, list[list[ToolInvocation]]]:
    folder = cases_dir / "trajectories" / "tau_bench" / "historical_trajectories"
    found: dict[int, list[list[ToolInvocation]]] = {}
    for run in json.loads((folder / "gpt-4o-airline.json").read_text()):
        found.setdefault(run["task_id"], []).append(calls_of(run))
    return found


def test_what_was_seen_in_some_tasks_is_answered_in_others(runs: dict[int, list[list[ToolInvocation]]]) -> None:
    names = sorted({call.name for many in runs.values() for run in many for call in run})
    tools = [
        ToolSpec(
            name=name, description=name, parameters={"type": "object"},
            effect=Effect.WRITE if name.startswith(WRITES) else Effect.READ,
        )
        for name in names
    ]  # fmt: skip
    made = [run for task, many in runs.items() if task <= 14 for run in many]
    held_out = [run for task, many in runs.items() if task >= 15 for run in many]
    world = infer(made, tools, NOW)
    assert infer(made, tools, NOW).digest() == world.digest()
    snapshot, app = Snapshot(world, schema_of(tools)), InferredApp(tools)

    read = {tool.name for tool in tools if tool.effect is Effect.READ}
    seen = {(call.name, json.dumps(call.arguments, sort_keys=True)) for run in made for call in run}
    said: Counter[tuple[bool, Answered]] = Counter()
    for run in held_out:
        state = SessionState.of(snapshot)
        for call in run:
            outcome = answered(app, state, call)
            if call.name in read:
                said[(call.name, json.dumps(call.arguments, sort_keys=True)) in seen, outcome] += 1
    occurred = sum(count for (known, _), count in said.items() if known)
    assert occurred >= 20, said
    assert said[True, Answered.EXACT] >= 0.9 * occurred, said
    wrong = said[True, Answered.WRONG] + said[False, Answered.WRONG]
    assert wrong <= 0.01 * sum(said.values()), said

    measured = fidelity(snapshot, app, held_out)
    assert sum(tool.calls for tool in measured.tools.values()) == sum(map(len, held_out)) == measured.exact.n
    assert measured.wrong.k == sum(tool.wrong for tool in measured.tools.values())
    assert not measured.admits(0.9), "most of what other tasks ask was never seen"
    print(said, measured.exact, measured.answered)  # noqa: T201 - the coverage, for who looks


def test_a_world_replays_what_it_was_made_from_or_says_why_not(runs: dict[int, list[list[ToolInvocation]]]) -> None:
    tools = [
        ToolSpec(
            name=name, description=name, parameters={"type": "object"},
            effect=Effect.WRITE if name.startswith(WRITES) else Effect.READ,
        )
        for name in sorted({call.name for many in runs.values() for run in many for call in run})
    ]  # fmt: skip
    every = [run for many in runs.values() for run in many]
    measured = fidelity(Snapshot(infer(every, tools, NOW), schema_of(tools)), InferredApp(tools), every)
    assert measured.wrong.k <= 0.01 * measured.wrong.n, measured
    assert measured.exact.value is not None
    assert measured.exact.value > 0.7, measured
    print(measured)  # noqa: T201 - the same
