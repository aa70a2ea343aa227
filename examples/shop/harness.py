"""The champion that the week starts with: its harness and its context, as records.

Theory. The prompt is short, because a small model on a CPU pays for every token: what to do, the tools of the topic,
the facts that hold. A topic decides which tools are offered, so that structured output keeps the model inside its
permissions and only judgement is left to it. Two things are wrong on purpose, each where its trouble asks for it: the
schema of ``refund_order`` wants four bare digits where the app wants the whole order number, and the facts go stale
when the shop changes a policy, since nothing but a new context can tell the model.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from examples.shop.app import TOOLS
from examples.shop.world import DELIVERY, POLICIES, PROBLEM, QUESTION, REFUND
from governance.records.context import Context, Fact
from governance.records.harness import Harness, PermissionRule, Sampling, ToolSpec

AGENT_NAME: Final = "shop-support"

SYSTEM_PROMPT: Final = """You are the support agent of a shop. Answer with one JSON action.
Tools:
{tools}
Facts:
{facts}"""

CHAT_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}"
    "{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}"
    "{{ '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""The template that the base model ships with, rendering the same text, with the assistant's tokens marked."""

MISLEADING_ORDER_ID: Final[dict[str, Any]] = {
    "type": "string",
    "pattern": "^[0-9]{4}$",
    "description": "the four digits of the order number",
}

PERMISSIONS: Final = (
    PermissionRule(topic=DELIVERY, tools=("get_order",), facts=()),
    PermissionRule(topic=QUESTION, tools=("reply",)),
    PermissionRule(topic=REFUND, tools=("refund_order",), facts=()),
    PermissionRule(topic=PROBLEM, tools=("replace_item", "give_credit", "escalate_case"), facts=()),
)
"""``read_policy`` is for people at the desk; once a write succeeded, the harness offers ``reply`` alone."""


def _misled(tool: ToolSpec) -> ToolSpec:
    parameters = {**tool.parameters, "properties": {"order_id": MISLEADING_ORDER_ID}}
    return tool.model_copy(update={"parameters": parameters})


def champion_harness(troubles: frozenset[str]) -> Harness:
    """The harness in production at the start of the week."""
    misleading = "misleading_schema" in troubles
    return Harness(
        agent_name=AGENT_NAME,
        system_prompt=SYSTEM_PROMPT,
        chat_template=CHAT_TEMPLATE,
        tools=tuple(_misled(tool) if misleading and tool.name == "refund_order" else tool for tool in TOOLS),
        permissions=PERMISSIONS,
        answer_tool="reply",
        answer_after_write=True,
        repeat_tools=False,
        max_steps=4,
        max_errors=1,
        sampling=Sampling(temperature=0.0, max_tokens=64, seed=0),
    )


def champion_context(start: datetime) -> Context:
    """The facts that the shop's policies stated when the champion was released, a month before ``start``."""
    since = start - timedelta(days=30)
    facts = (Fact(key=key, text=text, valid_from=since) for key, text in POLICIES.items())
    return Context(facts=tuple(sorted(facts, key=lambda fact: fact.key)))
