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
from training.inferred.entries import call_key
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
def runs(cases_dir: Path) -> list[tuple[int, int, list[ToolInvocation]]]:
    """Task, trial and calls of each run."""
    folder = cases_dir / "trajectories" / "tau_bench" / "historical_trajectories"
    held = json.loads((folder / "gpt-4o-airline.json").read_text())
    return [(run["task_id"], run["trial"], calls_of(run)) for run in held]


@pytest.fixture(scope="module")
def tools(runs: list[tuple[int, int, list[ToolInvocation]]]) -> list[ToolSpec]:
    effects = {
        call.name: Effect.WRITE if call.name.startswith(WRITES) else Effect.READ for *_, run in runs for call in run
    }
    return [
        ToolSpec(name=name, description=name, parameters={"type": "object"}, effect=effect)
        for name, effect in sorted(effects.items())
    ]


@pytest.mark.parametrize(("by", "bound", "fewest"), [("task", 14, 1), ("trial", 1, 100)])
def test_what_was_seen_in_some_runs_is_answered_in_others(
    runs: list[tuple[int, int, list[ToolInvocation]]], tools: list[ToolSpec], by: str, bound: int, fewest: int
) -> None:
    """Made from tasks 0 to 14, and from trials 0 and 1 of every task; replayed with the rest."""
    column = 0 if by == "task" else 1
    made = [run[2] for run in runs if run[column] <= bound]
    held_out = [run[2] for run in runs if run[column] > bound]
    world = infer(made, tools, NOW)
    assert infer(made, tools, NOW).digest() == world.digest()
    snapshot, app = Snapshot(world, schema_of(tools)), InferredApp(tools)
    reads = {tool.name for tool in tools if tool.effect is Effect.READ}
    seen = {call_key(call.name, call.arguments) for run in made for call in run}
    said: Counter[tuple[bool, Answered]] = Counter()
    for run in held_out:
        state = SessionState.of(snapshot)
        for call in run:
            outcome = answered(app, state, call)
            if call.name in reads:
                said[call_key(call.name, call.arguments) in seen, outcome] += 1
    occurred = sum(count for (known, _), count in said.items() if known)
    assert occurred >= fewest, said
    assert said[True, Answered.EXACT] >= 0.9 * occurred, said
    assert sum(count for (_, one), count in said.items() if one is Answered.WRONG) <= 0.01 * sum(said.values()), said
    assert not any(count for (known, one), count in said.items() if not known and one is not Answered.UNRECORDED)

    measured = fidelity(snapshot, app, held_out)
    assert sum(tool.calls for tool in measured.tools.values()) == sum(map(len, held_out)) == measured.exact.n
    assert measured.wrong.k == sum(tool.wrong for tool in measured.tools.values())
    assert not measured.admits(0.95)
    print(by, dict(said), measured.exact.value, measured.answered.value)  # noqa: T201 - the coverage, for who looks


def test_a_world_replays_what_it_was_made_from_or_says_why_not(
    runs: list[tuple[int, int, list[ToolInvocation]]], tools: list[ToolSpec]
) -> None:
    every = [run for *_, run in runs]
    measured = fidelity(Snapshot(infer(every, tools, NOW), schema_of(tools)), InferredApp(tools), every)
    assert measured.wrong.k <= 0.01 * measured.wrong.n, measured
    assert (measured.exact.value or 0.0) > 0.9, measured
