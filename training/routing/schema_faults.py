"""Schema faults: the declared schema allows what the tool refuses.

Theory. The agent's call was valid under the schema that the harness declares, the tool refused its arguments, and a
person's call of the same tool with another value was accepted. One such run may be a slip. Where many are, and a form
(a closed set, a pattern, a type) admits every accepted value and no refused one, the declaration is at fault and not
the model. Where no form separates them the model wrote a wrong value in the right form, which no schema mends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from governance.records.error_kind import ErrorKind
from governance.records.harness import Harness
from governance.records.lever import Lever, Pattern
from governance.records.trajectory import Actor, ToolInvocation, Trajectory
from training.evidence import succeeded
from training.levers.forms import infer
from training.routing.divergence import Divergence, pattern, people, some
from training.routing.thresholds import Thresholds
from training.routing.window import Window
from training.schemas import valid

REFUSALS: Final = frozenset({"schema", "validation", "invalid_argument", "invalid_arguments", "not_found"})
"""Types by which tools refuse arguments; a tool that states others is read by the kind of its error."""
_KINDS: Final = frozenset({ErrorKind.SCHEMA, ErrorKind.NOT_FOUND})
MOST_QUOTED: Final = 200

Place = tuple[str, str]
"""Tool and argument."""


def misled(call: ToolInvocation, harness: Harness) -> bool:
    """Whether the harness allowed the call and the tool refused its arguments."""
    tool = harness.tool(call.name)
    refused = call.error_type in REFUSALS or call.error_kind in _KINDS
    if tool is None or not refused or not isinstance(call.arguments, dict):
        return False
    return valid(tool.parameters, call.arguments)


def _missing(call: ToolInvocation) -> bool:
    """Whether the tool did not find what was named, so that nothing is wrong with the form of the name."""
    return call.error_type == "not_found" or call.error_kind is ErrorKind.NOT_FOUND


def place_of(divergence: Divergence, harness: Harness) -> Place | None:
    """The argument whose declaration misled the agent in this run, or None."""
    for wrong in divergence.agent_calls:
        if not misled(wrong, harness):
            continue
        for right in divergence.human_calls:
            if right.name == wrong.name and succeeded(right) and isinstance(right.arguments, dict):
                argument = _argument(wrong, right.arguments, harness)
                if argument is not None:
                    return wrong.name, argument
    return None


def _argument(wrong: ToolInvocation, right: dict[str, Any], harness: Harness) -> str | None:
    """Of the arguments that differ, the one whose accepted value the declaration rules out, else the one named."""
    tool = harness.tool(wrong.name)
    rules = tool.parameters.get("properties", {}) if tool else {}
    differing = [name for name in sorted(wrong.arguments) if name in right and right[name] != wrong.arguments[name]]
    ruled_out = [name for name in differing if not valid(rules.get(name, {}), right[name])]
    named = [name for name in differing if name in (wrong.error or "")]
    return next(iter([*ruled_out, *named, *differing]), None)


def judge(place: Place, group: Sequence[Divergence], window: Window) -> Pattern:
    """The pattern of the runs that one argument misled."""
    name, argument = place
    runs = [one.trajectory for one in group]
    tried, refused, evidence = _evidence(place, window)
    fault = _short_of(runs, refused / max(1, tried), window.thresholds)
    if infer(evidence["accepted"], evidence["rejected"], evidence["times_accepted"]) is None:
        fault = "no form tells the accepted values from the refused ones, so the schema is not what misled"
    key = f"tool_rejects_declared_argument:{name}.{argument}"
    if fault is not None:
        return pattern(key, window.scope, Lever.NONE, f"Held: {fault}.", runs=runs, evidence=evidence)
    wrong, right = (", ".join(some(map(str, evidence[side]), 2)) for side in ("rejected", "accepted"))
    reason = (
        f"{name} refused {refused} of {tried} calls that the declared schema of {argument} allows (such as {wrong}), "
        f"while people's {right} was accepted: no fact changes that, and a corrected schema does."
    )
    return pattern(key, window.scope, Lever.HARNESS, reason, runs=runs, evidence=evidence)


def _evidence(place: Place, window: Window) -> tuple[int, int, dict[str, Any]]:
    """How many calls the agent tried, how many were refused, and the values on both sides."""
    name, argument = place
    calls = [call for one in window.trajectories for call in one.calls if call.name == name]
    calls = [call for call in calls if isinstance(call.arguments, dict) and argument in call.arguments]
    tried = [call for call in calls if call.actor is Actor.AGENT]
    refused = [call for call in tried if misled(call, window.harness)]
    by_form = [call for call in refused if not _missing(call)] or refused
    right = [call for call in calls if succeeded(call)]
    evidence = {
        "tool": name,
        "argument": argument,
        "accepted": _distinct([call.arguments[argument] for call in right]),
        "times_accepted": len(right),
        "rejected": _distinct([call.arguments[argument] for call in by_form]),
        "error_texts": dict(Counter(call.error or "" for call in by_form).most_common(3)),
        "refused_share": round(len(refused) / max(1, len(tried)), 4),
    }
    return len(tried), len(refused), evidence


def _short_of(runs: Sequence[Trajectory], share: float, thresholds: Thresholds) -> str | None:
    return short_of(runs, thresholds) or (
        f"only {share:.0%} of the calls were refused, fewer than {thresholds.share:.0%}"
        if share < thresholds.share
        else None
    )


def short_of(runs: Sequence[Trajectory], thresholds: Thresholds) -> str | None:
    """What a group of runs lacks to be a pattern, or None."""
    if len(runs) < thresholds.trajectories:
        return f"{len(runs)} runs are fewer than the {thresholds.trajectories} that make a pattern"
    if people(runs) < thresholds.subjects:
        return f"{people(runs)} people are fewer than the {thresholds.subjects} that make a pattern"
    return None


def _distinct(values: Sequence[Any]) -> list[Any]:
    found = {repr(value): value for value in values}
    return [found[name] for name in sorted(found)][:MOST_QUOTED]
