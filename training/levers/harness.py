"""The harness lever: one argument's schema, corrected to what the tool accepts.

Theory. The form is inferred from accepted against refused values and never guessed (``training.levers.forms``). The
description that misled is replaced by the form in words. It quotes nobody's value and gives no example: a small model
writes an example down instead of what the customer wrote. Limits that the old schema set on the argument and that
accepted values keep stay. What the tool said is the pattern's evidence, for the person who reads it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from governance.records.harness import Harness, ToolSpec
from governance.records.lever import HarnessChange, Lever, Pattern, Proposal
from training.errors import LeverRefused
from training.levers.forms import describe, infer
from training.levers.personal import Detector, refuse_personal
from training.schemas import valid

_REPLACED: Final = ("type", "pattern", "enum", "const", "format", "description", "examples", "default", "title")


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
    rule = _rule(tool.parameters["properties"][argument], form, seen["accepted"])
    description = describe(form)
    refuse_personal(description, f"{tool.name}.{argument}", detect)
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


def _with(tool: ToolSpec, argument: str, rule: dict[str, Any]) -> ToolSpec:
    properties = {**tool.parameters["properties"], argument: rule}
    return tool.model_copy(update={"parameters": {**tool.parameters, "properties": properties}})
