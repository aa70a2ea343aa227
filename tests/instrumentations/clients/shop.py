"""The shop that every client's agent works for: instructions, tools, questions. Standard library only.

A client is a process of its own, as a customer's agent is: it has the framework and its instrumentation, and nothing
of Tidemill. What it does is said by its environment; ``converse`` walks through the same conversation with each.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

MODEL = "small-talk-1"
INSTRUCTIONS = "You are the support agent of a small shop. Be brief."
QUESTIONS = ("Where is my order A-1001? Write to mara.lind@example.org.", "Then please cancel it.")
STREAM = "stream"
PLAIN = "plain"


def look_up_order(order_id: str) -> str:
    """Look up an order by its id."""
    return json.dumps({"order_id": order_id, "status": "delayed", "parcel_id": "P-77"})


def track_parcel(parcel_id: str) -> str:
    """Track a parcel by its id."""
    return json.dumps({"parcel_id": parcel_id, "stops": ["depot", "truck"]})


def estimate_arrival(parcel_id: str, express: bool) -> str:
    """Estimate when a parcel arrives."""
    return json.dumps({"days": 2 if express else 4})


def cancel_order(order_id: str, reason: str, refund_cents: int) -> str:
    """Cancel an order. Where the client is told to hold, it waits here for a line, with all that went before sent."""
    if os.environ.get("SHOP_HOLD"):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        sys.stdin.readline()
    if not order_id.startswith("A-"):
        return f"Error: order {order_id} not found"
    return json.dumps({"cancelled": order_id, "refund_cents": refund_cents})


TOOLS: tuple[Callable[..., str], ...] = (look_up_order, track_parcel, estimate_arrival, cancel_order)


def schemas() -> list[dict[str, object]]:
    """The tools in the form of the chat completions API, for clients without a framework."""
    kinds = {"str": "string", "bool": "boolean", "int": "integer"}
    found: list[dict[str, object]] = []
    for tool in TOOLS:
        held = {name: {"type": kinds[str(kind)]} for name, kind in tool.__annotations__.items() if name != "return"}
        parameters = {"type": "object", "properties": held, "required": list(held)}
        function = {"name": tool.__name__, "description": tool.__doc__, "parameters": parameters}
        found.append({"type": "function", "function": function})
    return found


def call(name: str, arguments: str) -> str:
    """Run a tool by name on arguments as JSON."""
    return {tool.__name__: tool for tool in TOOLS}[name](**json.loads(arguments))


def user() -> str:
    """Who talks to the agent."""
    return os.environ["SHOP_USER"]


def sessions() -> list[tuple[str, bool]]:
    """The session of each way to answer that was asked for, and whether it streams."""
    ways = os.environ.get("SHOP_WAYS", PLAIN).split(",")
    return [(f"{os.environ['SHOP_SESSION']}-{way}", way == STREAM) for way in ways]
