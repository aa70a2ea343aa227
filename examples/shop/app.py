"""The shop's own application: seven tools over its tables and policies.

Theory. Each call is a pure function of the state and its arguments: ids of new rows follow from the order's number,
amounts from the order, and nothing reads a clock. So the same calls on the same snapshot give the same rows, and a
state diff can be compared row by row. Refusals speak like a real service's: an error type for the machine, and a
text that says what would have been right. A success carries a ``message`` fit for the customer, which even a very
small model can pass on. ``tools()`` states the true schemas; a harness may have them wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from governance.ports.tools import App, Tables, ToolRefusal, WorldState
from governance.records.harness import Effect, ToolSpec

ORDER_PATTERN: Final = "^SO-[0-9]{4}$"
CREDIT: Final = "5.00"
"""What the shop credits for a small flaw."""

SENTENCE: Final = "^(The|Your|I|Please)( [A-Za-z0-9'-]+,?)+([.][0-9][0-9]( [A-Za-z0-9'-]+)+)?[.]$"
"""A reply is one plain sentence in the shop's style; a small model left to itself greets, wanders and goes on until it
is cut off. Nothing in the pattern is counted (``{8,100}``): a grammar compiler unrolls that, for minutes."""
HINTS: Final = {"order_id": ": write the whole order number with its letters, for example SO-1234"}

Arguments = dict[str, Any]
Row = dict[str, Any]


def order_tool(name: str, description: str, effect: Effect) -> ToolSpec:
    """A tool whose one argument is an order number."""
    parameters = {
        "type": "object",
        "properties": {"order_id": {"type": "string", "pattern": ORDER_PATTERN}},
        "required": ["order_id"],
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=parameters, effect=effect)


def text_tool(name: str, field: str, description: str, effect: Effect, pattern: str) -> ToolSpec:
    """A tool whose one argument is a text."""
    parameters = {
        "type": "object",
        "properties": {field: {"type": "string", "pattern": pattern}},
        "required": [field],
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=parameters, effect=effect)


TOOLS: Final = (
    order_tool("get_order", "look up an order and its status", Effect.READ),
    text_tool("read_policy", "topic", "read a policy of the shop", Effect.READ, "^[a-z]+$"),
    order_tool("refund_order", "pay back a returned order", Effect.WRITE),
    order_tool("replace_item", "for an item that is broken, incomplete or wrong", Effect.WRITE),
    order_tool("give_credit", "for a late item or a small flaw", Effect.WRITE),
    order_tool("escalate_case", "for a dangerous item", Effect.WRITE),
    text_tool("reply", "text", "answer the customer in one sentence", Effect.ANSWER, SENTENCE),
)


def _order(tables: Tables, arguments: Arguments) -> Row:
    number = arguments["order_id"]
    for row in tables["orders"]:
        if row["order_id"] == number:
            return row
    raise ToolRefusal("not_found", f"there is no order {number}")


def _add(tables: Tables, table: str, key: str, row: Row) -> None:
    """Insert, refusing a second row of the same key."""
    if any(old[key] == row[key] for old in tables[table]):
        raise ToolRefusal("conflict", f"{row[key]} exists already: this was done before")
    tables[table].append(row)


def _get_order(state: WorldState, arguments: Arguments) -> Row:
    order = _order(state.tables, arguments)
    message = f"Your order {order['order_id']} is {order['status']}."
    return {"order_id": order["order_id"], "status": order["status"], "message": message}


def _read_policy(state: WorldState, arguments: Arguments) -> Row:
    topic = arguments["topic"]
    if topic not in state.documents:
        known = ", ".join(sorted(state.documents))
        raise ToolRefusal("not_found", f"there is no policy {topic}; there are {known}")
    return {"topic": topic, "text": state.documents[topic]}


def _refund_order(state: WorldState, arguments: Arguments) -> Row:
    order = _order(state.tables, arguments)
    if order["status"] != "delivered":
        raise ToolRefusal(
            "conflict", f"order {order['order_id']} is {order['status']}; only delivered ones are refunded"
        )
    row = _row("refund_id", "RF", order) | {"amount": str(Decimal(order["amount"]))}
    _add(state.tables, "refunds", "refund_id", row)
    return {
        "order_id": order["order_id"],
        "message": f"I have refunded {row['amount']} EUR for order {order['order_id']}.",
    }


def _replace_item(state: WorldState, arguments: Arguments) -> Row:
    order = _order(state.tables, arguments)
    _add(state.tables, "replacements", "replacement_id", _row("replacement_id", "RE", order) | {"item": order["item"]})
    return {
        "order_id": order["order_id"],
        "message": f"I am sending you a new {order['item']} for order {order['order_id']}.",
    }


def _give_credit(state: WorldState, arguments: Arguments) -> Row:
    order = _order(state.tables, arguments)
    _add(state.tables, "credits", "credit_id", _row("credit_id", "CR", order) | {"amount": CREDIT})
    return {
        "order_id": order["order_id"],
        "message": f"I have given you a credit of {CREDIT} EUR for order {order['order_id']}.",
    }


def _escalate_case(state: WorldState, arguments: Arguments) -> Row:
    order = _order(state.tables, arguments)
    _add(state.tables, "cases", "case_id", _row("case_id", "CA", order) | {"queue": "safety"})
    number, item = order["order_id"], order["item"]
    message = f"Please do not use the {item}, our safety team will call you about order {number}."
    return {"order_id": number, "message": message}


def _row(key: str, prefix: str, order: Row) -> Row:
    number = str(order["order_id"]).removeprefix("SO-")
    return {key: f"{prefix}-{number}", "order_id": order["order_id"], "customer_id": order["customer_id"]}


def _reply(_state: WorldState, _arguments: Arguments) -> Row:
    return {"sent": True}


_FUNCTIONS: Final[dict[str, Callable[[WorldState, Arguments], Row]]] = {
    "get_order": _get_order,
    "read_policy": _read_policy,
    "refund_order": _refund_order,
    "replace_item": _replace_item,
    "give_credit": _give_credit,
    "escalate_case": _escalate_case,
    "reply": _reply,
}


def _check(tool: ToolSpec, arguments: Arguments) -> None:
    """Refuse arguments that the tool's schema does not allow."""
    properties: dict[str, dict[str, Any]] = tool.parameters["properties"]
    for field in sorted(set(arguments) | set(properties)):
        if field not in properties:
            raise ToolRefusal("schema", f"{tool.name} takes no argument {field}; it takes {', '.join(properties)}")
        if field not in arguments:
            raise ToolRefusal("schema", f"{tool.name} needs the argument {field}")
        value, rule = arguments[field], properties[field]
        if not isinstance(value, str):
            raise ToolRefusal("schema", f"{field} must be a string")
        if "pattern" in rule and re.search(rule["pattern"], value) is None:
            raise ToolRefusal("schema", f"{field} must match {rule['pattern']}{HINTS.get(field, '')}")


class ShopApp(App):
    """The tools of the shop."""

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools with their true schemas."""
        return TOOLS

    def call(self, state: WorldState, name: str, arguments: dict[str, Any]) -> Any:
        """Execute one call against ``state``.

        Raises:
            ToolRefusal: ``unknown_tool``, ``schema``, ``not_found`` or ``conflict``.

        """
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            raise ToolRefusal("unknown_tool", f"there is no tool {name}")
        _check(tool, arguments)
        return _FUNCTIONS[name](state, arguments)
