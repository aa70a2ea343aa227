"""The shop's customers: a week of requests, each with the goal that only its writer and the human operator know.

Theory. Wordings are put together from parts (greeting, frame, complaint, closing, contact), drawn by the slot's key,
so a week holds as many different messages as requests, and two customers share parts but hardly ever a message. What
a customer can see decides whether they were helped: the right thing happened to their order, nothing else did, and the
answer states what they asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from examples.shop import wordings
from examples.shop.world import (
    BROKEN,
    DAYS,
    DELIVERY,
    FLAW,
    HAZARD,
    NEW_POLICY,
    POLICIES,
    REFUND,
    Slot,
    customer,
    draw,
    policies,
    slot,
)
from governance.ports.people import Customer, Feedback
from governance.ports.tools import ToolSession
from governance.records.base import Record, UtcTime
from governance.records.rollout import AgentRequest, Rollout

TENANTS: Final = ("harbor", "juniper", "quarry")
ANONYMOUS: Final = 0.06
"""Share of customers whom the shop does not know."""
VALUES: Final = {
    POLICIES["returns"]: "30 days",
    NEW_POLICY: "45 days",
    POLICIES["shipping"]: "4.90",
    POLICIES["warranty"]: "24 months",
    POLICIES["wrapping"]: "3 EUR",
}
"""The part of a policy that an answer must state."""
TABLE_OF: Final = {
    "refund_order": "refunds",
    "replace_item": "replacements",
    "give_credit": "credits",
    "escalate_case": "cases",
}
"""The table in which a write leaves its row."""
WRITE_FOR: Final = {HAZARD: "escalate_case", BROKEN: "replace_item", FLAW: "give_credit"}


class Goal(Record):
    """What would satisfy the customer."""

    write: str | None
    """The tool that must have changed the customer's order, or None where nothing may change."""
    order_id: str
    states: tuple[str, ...]
    """Values that the answer must state."""
    policy: str | None = None
    """The policy that the question is about."""


class CustomerRequest(Record):
    """One message through the contact form."""

    tenant_id: str
    session_id: str
    user_id: str | None
    topic: str
    message: str
    day: int
    at: UtcTime
    goal: Goal

    def agent_request(self, world_digest: str) -> AgentRequest:
        """The request as the agent gets it."""
        return AgentRequest(
            tenant_id=self.tenant_id,
            session_id=self.session_id,
            user_id=self.user_id,
            topic=self.topic,
            message=self.message,
            world_digest=world_digest,
            at=self.at,
        )


def goal_of(one: Slot, troubles: frozenset[str]) -> Goal:
    """What the writer of that slot wants."""
    if one.topic == DELIVERY:
        return Goal(write=None, order_id=one.order_id, states=(one.status,))
    if one.policy is not None:
        value = VALUES[policies(one.day, troubles)[one.policy]]
        return Goal(write=None, order_id=one.order_id, states=(value,), policy=one.policy)
    if one.topic == REFUND:
        return Goal(write="refund_order", order_id=one.order_id, states=())
    if one.trouble is None:
        raise ValueError(f"slot {one.tenant_id}/{one.day}/{one.index} has a topic and nothing to say about it")
    return Goal(write=WRITE_FOR[one.trouble], order_id=one.order_id, states=())


def request_of(one: Slot, seed: int, start: datetime, troubles: frozenset[str]) -> CustomerRequest:
    """The message that the slot's customer writes."""
    key = (seed, one.tenant_id, one.day, one.index)
    who = customer(one.customer_id, seed)
    known = draw(seed, one.customer_id, "known").random() >= ANONYMOUS
    return CustomerRequest(
        tenant_id=one.tenant_id,
        session_id=f"{one.tenant_id}-{one.day}-{one.index:04d}",
        user_id=one.customer_id if known else None,
        topic=one.topic,
        message=wordings.message(one, who, seed),
        day=one.day,
        at=start + timedelta(days=one.day, seconds=draw(*key, "time").randrange(7 * 3600, 22 * 3600)),
        goal=goal_of(one, troubles),
    )


def week(
    seed: int, tenants: Iterable[str], sessions: int, start: datetime, troubles: frozenset[str]
) -> list[CustomerRequest]:
    """``sessions`` requests, spread evenly over the tenants and seven days, in order of time."""
    names = tuple(tenants)
    requests = []
    for number in range(sessions):
        index, place = divmod(number, DAYS * len(names))
        day, which = divmod(place, len(names))
        requests.append(request_of(slot(names[which], seed, day, index, troubles), seed, start, troubles))
    return sorted(requests, key=lambda request: (request.at, request.session_id))


def slots_needed(sessions: int, tenants: int) -> int:
    """How many slots each day's world must hold for that many sessions."""
    return -(-sessions // (DAYS * tenants))


def satisfied(goal: Goal, changed: Iterable[tuple[str, str]], answer: str | None) -> bool:
    """Whether the goal is reached, given the (table, order) pairs that the run touched and its answer."""
    wanted = [] if goal.write is None else [(TABLE_OF[goal.write], goal.order_id)]
    if answer is None or sorted(changed) != wanted:
        return False
    said = " ".join(answer.lower().split())
    return all(value.lower() in said for value in goal.states)


class ShopCustomer(Customer):
    """All writers of a week, found by session."""

    def __init__(self, requests: Iterable[CustomerRequest], seed: int, vote_share: float = 0.6) -> None:
        """``vote_share`` is the share of customers who leave a score."""
        self._goals = {request.session_id: request.goal for request in requests}
        self._seed = seed
        self._vote_share = vote_share

    def helped(self, request: AgentRequest, rollout: Rollout, tools: ToolSession) -> bool:
        """The right row and no other appeared, and the answer says what was asked."""
        changed = [
            (change.table, str((change.after or change.before or {}).get("order_id"))) for change in tools.changes()
        ]
        return satisfied(self._goals[request.session_id], changed, rollout.answer)

    def feedback(self, request: AgentRequest, *, helped_by_agent: bool) -> Feedback:
        """Some vote; those who were not helped by the agent vote it down and more often."""
        share = self._vote_share if helped_by_agent else min(1.0, 1.5 * self._vote_share)
        if draw(self._seed, request.session_id, "vote").random() >= share:
            return Feedback(score=None)
        return Feedback(score=1 if helped_by_agent else -1)
