"""The person who takes over: does with the same tools what the agent should have done, and says so in one sentence.

Theory. A takeover is a demonstration. It uses actions of the agent's own form, the shortest right sequence, and one
style of answer per kind of request, which states what the tool gave back. The person reads the shop's policy where an
agent relies on its facts, and so shows what the facts should be; and knows the goal, as a person understands a letter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from examples.shop.customers import CustomerRequest, Goal
from governance.ports.people import Demonstration, Operator
from governance.ports.tools import ToolSession
from governance.records.rollout import AgentRequest, RolloutCall


def plan(goal: Goal) -> tuple[str, dict[str, Any]]:
    """The one call, before the answer, that serves the goal."""
    if goal.policy is not None:
        return "read_policy", {"topic": goal.policy}
    return goal.write or "get_order", {"order_id": goal.order_id}


def answer_for(name: str, result: dict[str, Any]) -> str:
    """What a person tells the customer after that call."""
    return str(result["text"] if name == "read_policy" else result["message"])


class ShopOperator(Operator):
    """The support desk of a week."""

    def __init__(self, requests: Iterable[CustomerRequest]) -> None:
        """``requests`` are the letters that the desk can read."""
        self._goals = {request.session_id: request.goal for request in requests}

    def take_over(self, request: AgentRequest, tools: ToolSession) -> Demonstration:
        """The right call, then the answer."""
        name, arguments = plan(self._goals[request.session_id])
        result = tools.call(name, arguments)
        calls = [RolloutCall(name=name, arguments=arguments, result=result)]
        text = answer_for(name, result)
        calls.append(RolloutCall(name="reply", arguments={"text": text}, result=tools.call("reply", {"text": text})))
        return Demonstration(calls=tuple(calls), answer=text)
