"""The harness: everything around the model that is data. Prompt, template, tool schemas, permissions, sampling.

The harness that is served is the harness that is evaluated and trained in: one record, one digest, one runtime
(``serving.runtime``). A corrected tool schema is a new harness with a new digest.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from governance.records.base import Record


class Effect(StrEnum):
    """Whether a tool changes the world."""

    READ = "read"
    WRITE = "write"
    ANSWER = "answer"
    """Speaks to the customer and ends the run."""


class ToolSpec(Record):
    """A tool as the model sees it: name, description, JSON Schema of its arguments (an object schema)."""

    name: str
    description: str
    parameters: dict[str, Any]
    effect: Effect


class PermissionRule(Record):
    """Which tools the agent may call for a request topic, in the order offered, and which facts it is told."""

    topic: str
    tools: tuple[str, ...]
    facts: tuple[str, ...] | None = None
    """Keys of the facts that the prompt states for the topic; None states all that hold."""


class Sampling(Record):
    """How the model's tokens are drawn."""

    temperature: float = 0.0
    max_tokens: int = 96
    seed: int = 0


class Harness(Record):
    """Prompt, template, tools, permissions, limits: the agent without its weights and facts."""

    agent_name: str
    system_prompt: str
    """With the fields ``{tools}`` and ``{facts}``."""
    chat_template: str
    """Jinja template of the model, with ``{% generation %}`` markers around assistant turns."""
    tools: tuple[ToolSpec, ...]
    permissions: tuple[PermissionRule, ...]
    answer_tool: str = "reply"
    """The tool that speaks to the customer and ends the run."""
    answer_after_write: bool = True
    """After a write succeeded, only the answer tool is offered."""
    repeat_tools: bool = True
    """Whether a tool that succeeded is offered again in the same run; a small model may repeat itself to the end."""
    max_steps: int = 4
    max_errors: int = 1
    """Tool errors after which the run stops and a person takes over."""
    sampling: Sampling = Sampling()

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def states(self, topic: str | None, fact_key: str) -> bool:
        """Whether the prompt of a topic states the fact of that key."""
        rule = next((rule for rule in self.permissions if rule.topic == topic), None)
        return rule is None or rule.facts is None or fact_key in rule.facts

    def permitted(self, topic: str | None) -> tuple[str, ...]:
        """Names of the tools offered for a topic; all of them where no rule names the topic."""
        for rule in self.permissions:
            if rule.topic == topic:
                return rule.tools
        return tuple(tool.name for tool in self.tools)
