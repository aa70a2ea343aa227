"""Trajectories as ``tidemill trajectories show ID --json`` prints them, and what of them a conversation decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from click.testing import CliRunner

from governance.records.rights import Purpose
from governance.records.signal import SignalKind
from governance.records.trajectory import Trajectory
from pipelines.cli import main
from tests.instrumentations.conftest import EARLY, Intake
from tests.instrumentations.customers import TENANT

FIGURES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


def of_session(intake: Intake, session: str) -> list[Trajectory]:
    """The trajectories of a session, in order."""
    later = datetime.now(UTC) + timedelta(days=1)
    rows = intake.mill.store.trajectories.list(Purpose.DEBUG, [TENANT], EARLY, later).rows
    return sorted((row for row in rows if row.session_id == session), key=lambda row: row.started_at)


def shown(intake: Intake, trajectory: Trajectory) -> dict[str, Any]:
    """The canonical form, from the command."""
    command = ["trajectories", "show", trajectory.id, "--json"]
    done = CliRunner().invoke(main, command, env=intake.mill.settings.environment())
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.output)
    return told


def mask(intake: Intake, value: Any) -> Any:
    """A value with every text in it masked as the door masks it."""
    if isinstance(value, str):
        return intake.masker.mask(TENANT, [value])[0].value
    if isinstance(value, dict):
        return {key: mask(intake, item) for key, item in value.items()}
    return type(value)(mask(intake, item) for item in value) if isinstance(value, list | tuple) else value


def comparable(told: Mapping[str, Any]) -> dict[str, Any]:
    """What a conversation decides, and no framework.

    Left out: span ids and times, which differ from run to run; ids of executed calls, which some frameworks' tool spans
    do not have; the agent's name, which clients without agents do not have; flags, which say how words came (as log
    events, say).
    """
    return {
        "turns": [_turn(turn) for turn in told["turns"]],
        "subagents": told["subagents"],
        "calls": [(call["name"], call["arguments"], call["result"], call["error"]) for call in told["tool_calls"]],
        "usage": {key: told["usage"][key] for key in FIGURES},
        "failures": [one["label"] for one in told["signals"] if one["kind"] == SignalKind.TOOL_ERROR],
        "outcome": told["outcome"],
        "incomplete": told["incomplete"],
        "model": told["model"],
    }


def _turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("role", "actor", "content", "tool_calls", "tool_results", "earlier")
    return {key: turn[key] for key in kept if key in turn}


def without_ids(value: Any) -> Any:
    """A value without the ids in it."""
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key != "id"}
    return type(value)(without_ids(item) for item in value) if isinstance(value, list | tuple) else value
