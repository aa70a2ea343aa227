"""The prompt: harness + facts + tools -> messages. Pure, so serving, evaluation and training read the same words.

The system prompt names the tools of the request's topic once, at the start; later steps only append, so the token
prefix of a run never changes. Each tool is one line (a small model on a CPU pays for every token):

    get_order(order_id): look up an order and its status

A field's own description and pattern go into the line where the schema states them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from governance.records.context import Fact
from governance.records.harness import Harness, ToolSpec
from governance.records.message import Message, Role, TextPart, ToolCallPart, ToolResultPart, text_message
from serving.action import Action, dump
from serving.action import render as render_action


def render(harness: Harness, facts: Sequence[Fact], tools: Sequence[ToolSpec], playbook: Sequence[str] = ()) -> Message:
    """The system message: the harness's prompt with its tools and facts filled in.

    Only the two fields are replaced, not every brace, so that a fact may hold ``{customer.name}`` or JSON.
    """
    lines = [fact.text for fact in facts] + list(playbook)
    filled = {"{tools}": "\n".join(tool_line(tool) for tool in tools), "{facts}": "\n".join(lines)}
    return text_message(Role.SYSTEM, _fill(harness.system_prompt, filled))


def _fill(template: str, values: dict[str, str]) -> str:
    """Replace each field in one pass, so that a value's text is never read as a field."""
    first = min((template.find(field) for field in values if field in template), default=-1)
    if first < 0:
        return template
    field = next(field for field in values if template.startswith(field, first))
    return template[:first] + values[field] + _fill(template[first + len(field) :], values)


def tool_line(tool: ToolSpec) -> str:
    """``name(field: note, field): description``."""
    fields: dict[str, Any] = tool.parameters.get("properties", {})
    return f"{tool.name}({', '.join(_field(name, rule) for name, rule in fields.items())}): {tool.description}"


def _field(name: str, rule: dict[str, Any]) -> str:
    notes = [str(rule["description"])] if rule.get("description") else []
    if rule.get("enum"):
        notes.append("one of " + ", ".join(map(str, rule["enum"])))
    return f"{name}: {'; '.join(notes)}" if notes else name


def call_message(call_id: str, action: Action) -> Message:
    """The assistant's message that asks for a call."""
    part = ToolCallPart(id=call_id, name=action.tool, arguments=action.arguments)
    return Message(role=Role.ASSISTANT, parts=(part,))


def result_message(call_id: str, result: Any) -> Message:
    """The tool's message that answers it."""
    return Message(role=Role.TOOL, parts=(ToolResultPart(id=call_id, response=result),))


def chat(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Messages as a chat template reads them: role and content.

    A call is rendered once, as its action's text; arguments are an object there, never a JSON string in JSON.
    """
    return [
        {"role": message.role.value, "content": "\n".join(_content(part) for part in message.parts)}
        for message in messages
    ]


def _content(part: TextPart | ToolCallPart | ToolResultPart) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ToolResultPart):
        return part.response if isinstance(part.response, str) else dump(part.response)
    if part.corrupt or not isinstance(part.arguments, dict):
        return str(part.arguments)
    return render_action(Action(tool=part.name, arguments=part.arguments))
