"""Process rules: what an agent must and must not do on its way, as data that a company writes down.

A rule holds for the tenants and agents that it names, or for all of them. ``governance.policy.process`` judges a run by
it. Tools are named exactly or by a pattern with ``*`` and ``?``.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from governance.records.base import Record


class _Rule(Record):
    """What every rule says of itself."""

    name: str = Field(min_length=1)
    """Unique; what a breach is labelled with."""
    reason: str = ""
    """Why the rule exists, for whoever reads a breach."""
    tenants: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


class OnlyAfter(_Rule):
    """A tool may be called only after another tool succeeded, for the same values where ``same`` names arguments."""

    kind: Literal["only_after"] = "only_after"
    tool: str
    after: str
    same: tuple[str, ...] = ()


class NeverCalled(_Rule):
    """A tool that the agent may not call at all."""

    kind: Literal["never_called"] = "never_called"
    tool: str


class CalledAtMost(_Rule):
    """How often a tool may succeed in one run."""

    kind: Literal["called_at_most"] = "called_at_most"
    tool: str
    times: int = Field(ge=1)


class ArgumentBounds(_Rule):
    """Bounds of a number among a tool's arguments; ``argument`` is a path with dots."""

    kind: Literal["argument_bounds"] = "argument_bounds"
    tool: str
    argument: str
    least: float | None = None
    most: float | None = None


class ArgumentAmong(_Rule):
    """The only values that an argument of a tool may have."""

    kind: Literal["argument_among"] = "argument_among"
    tool: str
    argument: str
    values: tuple[str | int | float | bool, ...]


class NeverSaid(_Rule):
    """A regular expression that nothing the agent says to the customer may match."""

    kind: Literal["never_said"] = "never_said"
    pattern: str = Field(min_length=1)

    @field_validator("pattern")
    @classmethod
    def _is_expression(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return value


ProcessRule = Annotated[
    OnlyAfter | NeverCalled | CalledAtMost | ArgumentBounds | ArgumentAmong | NeverSaid, Field(discriminator="kind")
]


class ProcessRules(Record):
    """The rules of a company."""

    rule: tuple[ProcessRule, ...] = ()

    @field_validator("rule")
    @classmethod
    def _unique(cls, rules: tuple[ProcessRule, ...]) -> tuple[ProcessRule, ...]:
        names = [one.name for one in rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"several rules are named {', '.join(twice)}")
        return rules


class Breach(Record):
    """One place where a run broke a rule."""

    rule: str
    reason: str
    span_ids: tuple[str, ...]
    what: str
    """In words, without anything that was said."""
