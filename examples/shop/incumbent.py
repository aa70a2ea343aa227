"""The scripted incumbent: an engine that answers as the shop's old champion does, without a model.

Theory. Before Tidemill there was an agent already, and its week is what the first cycle learns from. This one reads
the same rendered conversation as a model would, believes the facts it finds there, obeys the schema that it is offered
(and so fails where the schema is wrong), and judges a problem by a crude rule: a word about time or looks earns a
credit, everything else a new item. It never calls the safety team. It is deterministic and takes no time, so a week
of traffic can be played in seconds; it stands behind the same port as a served model.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.records.message import Message, Role, ToolResultPart

MODEL: Final = "incumbent"
TOPIC_WORDS: Final = {"return": "return", "shipping": "shipping", "warranty": "warranty", "gift wrapping": "wrapping"}
"""A word of a question, and the word of the fact that answers it."""
CREDIT_WORDS: Final = ("late", "scratch", "days for it", "longer to arrive", "colour")
"""All that the old rule knows about small flaws."""

_ORDER: Final = re.compile(r"SO-([0-9]{4})")
_RESULT: Final = re.compile(r"\{.*\}", re.DOTALL)


def _branches(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Tool name to the schema of its arguments, from an action schema of one or several branches."""
    found: dict[str, dict[str, Any]] = {}
    for branch in schema.get("anyOf") or schema.get("oneOf") or [schema]:
        properties = branch.get("properties", {})
        tool = properties.get("tool", {})
        names = [tool["const"]] if "const" in tool else tool.get("enum", [])
        found.update({str(name): properties.get("arguments", {}) for name in names})
    return found


def _number(rule: dict[str, Any], digits: str) -> str:
    """The order number in the form that the schema asks for."""
    whole = f"SO-{digits}"
    pattern = rule.get("properties", {}).get("order_id", {}).get("pattern")
    return digits if pattern is not None and re.search(pattern, whole) is None else whole


def _result(message: Message) -> dict[str, Any] | None:
    """The tool's result that a message shows, if it shows one."""
    for part in message.parts:
        if isinstance(part, ToolResultPart) and isinstance(part.response, dict):
            return part.response
    found = _RESULT.search(message.text) if message.role in {Role.USER, Role.TOOL} else None
    try:
        value = json.loads(found.group()) if found else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _fact(system: str, question: str) -> str:
    """The line of the prompt that answers the question, or an excuse."""
    for asked, word in TOPIC_WORDS.items():
        if asked in question:
            for line in system.splitlines():
                if word in line.lower() and "(" not in line:
                    return line.strip().removeprefix("- ")
    return "I do not know that."


def _tell(result: dict[str, Any]) -> str:
    """What the old champion says after a tool answered."""
    return str(result.get("message") or f"Your order {result.get('order_id', '')} is {result.get('status', 'here')}.")


def judge(message: str, tools: tuple[str, ...]) -> str:
    """The old rule for problems; the first tool offered elsewhere."""
    if "give_credit" in tools and any(word in message.lower() for word in CREDIT_WORDS):
        return "give_credit"
    return "replace_item" if "replace_item" in tools else tools[0]


def act(request: CompletionRequest) -> dict[str, Any]:
    """The incumbent's next action."""
    branches = _branches(request.action_schema)
    tools = request.tools or tuple(branches)
    system = "\n".join(message.text for message in request.messages if message.role is Role.SYSTEM)
    asked = next((message.text for message in request.messages if message.role is Role.USER), "")
    result = _result(request.messages[-1]) if request.messages else None
    if result is not None and "reply" in tools:
        return {"tool": "reply", "arguments": {"text": _tell(result)}}
    digits = _ORDER.search(asked)
    doing = tuple(name for name in tools if name != "reply")
    if not doing or digits is None:
        return {"tool": "reply", "arguments": {"text": _fact(system, asked.lower())}}
    name = judge(asked, doing)
    return {"tool": name, "arguments": {"order_id": _number(branches.get(name, {}), digits.group(1))}}


class Incumbent(ChatEngine):
    """Answers every completion by rule."""

    async def complete(self, request: CompletionRequest) -> Completion:
        """One action as JSON; a rule samples no tokens, so there are no ids."""
        text = json.dumps(act(request))
        return Completion(
            text=text,
            token_ids=(),
            finish_reason="stop",
            model=MODEL,
            response_id=f"incumbent-{request.messages[-1].digest()[:16]}" if request.messages else "incumbent",
            input_tokens=sum(len(message.text.split()) for message in request.messages),
            output_tokens=len(text.split()),
        )
