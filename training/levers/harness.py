"""The harness lever: one argument's schema, corrected to what the tool accepts.

Theory. The form is inferred from accepted against refused values and never guessed (``training.levers.forms``). The
description that misled is replaced: it shows a made-up example of the form and quotes the tool's own words, where all
refusals said the same (words that vary between refusals hold somebody's values). Limits that the old schema set on the
argument and that accepted values keep stay.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from governance.records.harness import Harness, ToolSpec
from governance.records.lever import HarnessChange, Lever, Pattern, Proposal
from training.errors import LeverRefused
from training.levers.forms import example, infer
from training.levers.personal import Detector, refuse_personal
from training.schemas import valid

_REPLACED: Final = ("type", "pattern", "enum", "const", "format", "description", "examples", "default", "title")
_LONGEST_HINT: Final = 160


def propose(pattern: Pattern, harness: Harness, created_at: datetime, detect: Detector | None = None) -> Proposal:
    """The tool with the corrected argument.

    Raises:
        LeverRefused: when the pattern is not of this lever, no form separates the values, or a text would hold a
            personal value.

    """
    if pattern.lever is not Lever.HARNESS:
        raise LeverRefused(f"{pattern.key}: its lever is {pattern.lever.value}, not harness")
    seen = pattern.evidence
    tool = harness.tool(str(seen["tool"]))
    argument = str(seen["argument"])
    if tool is None or argument not in tool.parameters.get("properties", {}):
        raise LeverRefused(f"{pattern.key}: the harness declares no such argument")
    form = infer(seen["accepted"], seen["rejected"], seen["times_accepted"])
    if form is None:
        raise LeverRefused(f"{pattern.key}: no form admits what was accepted and none of what was refused")
    for member in form.get("enum", ()):
        refuse_personal(str(member), f"{tool.name}.{argument}", detect)
    rule = _rule(tool.parameters["properties"][argument], form, seen["accepted"])
    description = _description(form, seen["error_texts"], f"{tool.name}.{argument}", detect)
    corrected = _with(tool, argument, {**rule, **form, "description": description})
    return Proposal(
        pattern_key=pattern.key,
        scope=pattern.scope,
        change=HarnessChange(tool=corrected),
        reason=pattern.reason,
        created_at=created_at,
    )


def _rule(old: dict[str, Any], form: dict[str, Any], accepted: list[Any]) -> dict[str, Any]:
    """What of the old rule the accepted values keep."""
    kept = {name: value for name, value in old.items() if name not in _REPLACED}
    return {name: value for name, value in kept.items() if all(valid({**form, name: value}, one) for one in accepted)}


def _description(form: dict[str, Any], texts: dict[str, int], where: str, detect: Detector | None) -> str:
    shown = example(form)
    parts = [f"such as {shown}"] if shown else [f"a JSON {form['type']}"]
    if len(texts) == 1:
        hint = " ".join(next(iter(texts)).split())[:_LONGEST_HINT]
        try:
            refuse_personal(hint, where, detect)
        except LeverRefused:
            hint = ""
        parts += [f'the tool says: "{hint}"'] if hint else []
    return "; ".join(parts)


def _with(tool: ToolSpec, argument: str, rule: dict[str, Any]) -> ToolSpec:
    properties = {**tool.parameters["properties"], argument: rule}
    return tool.model_copy(update={"parameters": {**tool.parameters, "properties": properties}})
