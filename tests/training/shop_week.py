"""A week at the example shop, played by a scripted incumbent: the runs that routing and tasks are tested on."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from examples.shop.app import ShopApp
from examples.shop.customers import CustomerRequest, ShopCustomer, slots_needed, week
from examples.shop.harness import champion_context, champion_harness
from examples.shop.operator import ShopOperator
from examples.shop.world import build_world, world_schema
from governance.ports.tools import ToolRefusal, ToolSession
from governance.records.base import digest_json
from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.message import Role, text_message
from governance.records.rollout import Rollout, StopReason
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, Outcome, ToolInvocation, Trajectory, Turn
from governance.records.world import World, WorldRef
from training.worlds import WorldHost

START = datetime(2026, 6, 1, tzinfo=UTC)
TENANTS = ("harbor", "juniper")
Move = tuple[list[tuple[str, dict[str, Any]]], str | None]


class Week:
    """Everything that a cycle would read from the store."""

    def __init__(self, troubles: Iterable[str] = (), sessions: int = 210, slips: float = 0.1, seed: int = 7) -> None:
        self.troubles = frozenset(troubles)
        self.seed, self.slips = seed, slips
        self.worlds: dict[str, World] = {}
        self._digests: dict[tuple[str, int], str] = {}
        self.refs: dict[tuple[str, str], WorldRef] = {}
        self.host = WorldHost(ShopApp(), lambda digest: self.worlds[digest], world_schema())
        self.harness: Harness = champion_harness(self.troubles)
        self.context: Context = champion_context(START)
        self.trajectories: list[Trajectory] = []
        self.signals: list[Signal] = []
        requests = week(seed, TENANTS, sessions, START, self.troubles)
        customer, operator = ShopCustomer(requests, seed, vote_share=0.6), ShopOperator(requests)
        slots = slots_needed(sessions, len(TENANTS))
        for request in requests:
            self._play(request, customer, operator, slots)

    def lookup(self, tenant_id: str, source_digest: str) -> WorldRef | None:
        return self.refs.get((tenant_id, source_digest))

    def _world(self, request: CustomerRequest, slots: int) -> str:
        if (request.tenant_id, request.day) in self._digests:
            return self._digests[request.tenant_id, request.day]
        world = build_world(request.tenant_id, self.seed, request.day, self.troubles, START, slots)
        digest = self._digests[request.tenant_id, request.day] = world.digest()
        self.worlds[digest] = world
        ref = WorldRef(tenant_id=request.tenant_id, source_digest=digest, masked_digest=digest, at=world.at)
        self.refs[request.tenant_id, digest] = ref
        return digest

    def _incumbent(self, request: CustomerRequest) -> Move:
        """Reads facts and schemas as a model would, always gives credit, and slips at random."""
        rng = random.Random(f"{self.seed}/{request.session_id}")
        order = request.goal.order_id
        if rng.random() < self.slips:
            return [], "Thank you for writing to us."
        if request.topic == "delivery":
            return [("get_order", {"order_id": order})], f"Your order {order} is {request.goal.states[0]}."
        if request.topic == "question":
            facts = {fact.key: fact.text for fact in self.context.facts_at(request.at)}
            return [], facts[str(request.goal.policy)]
        if request.topic == "refund":
            wrong = "misleading_schema" in self.troubles
            return [("refund_order", {"order_id": order[3:] if wrong else order})], f"I have refunded {order}."
        return [("give_credit", {"order_id": order})], f"I have given you a credit for {order}."

    def _play(self, request: CustomerRequest, customer: ShopCustomer, operator: ShopOperator, slots: int) -> None:
        digest = self._world(request, slots)
        session, asked = self.host.open(digest), request.agent_request(digest)
        script, answer = self._incumbent(request)
        calls = [
            invoke(session, name, arguments, actor=Actor.AGENT, request=request, number=at)
            for at, (name, arguments) in enumerate(script)
        ]
        if any(call.error for call in calls):
            answer = None
        turns = [turn(Actor.CUSTOMER, request.message, request)]
        turns += [turn(Actor.AGENT, answer, request)] if answer else []
        rollout = Rollout(
            release_digest="0" * 64, model="base", steps=(), calls=(), answer=answer, stop=StopReason.ANSWERED
        )
        helped = customer.helped(asked, rollout, session)
        score = customer.feedback(asked, helped_by_agent=helped).score
        outcome = Outcome.SUCCESS if helped and score == 1 else Outcome.UNKNOWN
        if not helped:
            outcome = Outcome.FAILURE
            fresh = Recorder(self.host.open(digest), request, len(calls))
            shown = operator.take_over(asked, fresh)
            calls += fresh.calls
            turns.append(turn(Actor.HUMAN, shown.answer, request))
        self._keep(request, digest, (turns, calls), outcome, score)

    def _keep(
        self,
        request: CustomerRequest,
        digest: str,
        said_and_done: tuple[list[Turn], list[ToolInvocation]],
        outcome: Outcome,
        score: int | None,
    ) -> None:
        turns, calls = said_and_done
        subject = "unknown" if request.user_id is None else digest_json(request.user_id)
        one = Trajectory(
            tenant_id=request.tenant_id,
            trace_id=digest_json(request.session_id)[:32],
            session_id=request.session_id,
            subject=subject,
            agent_name="shop-support",
            topic=request.topic,
            world_digest=digest,
            started_at=request.at,
            ended_at=request.at,
            turns=tuple(turns),
            calls=tuple(calls),
            outcome=outcome,
        )
        self.trajectories.append(one)
        if score is not None:
            self.signals.append(
                Signal(
                    id=digest_json([one.id, "feedback"]), tenant_id=one.tenant_id, trajectory_id=one.id,
                    subject=subject, kind=SignalKind.FEEDBACK, value=float(score), at=request.at,
                )
            )  # fmt: skip


class Recorder(ToolSession):
    """Records a person's calls."""

    def __init__(self, session: ToolSession, request: CustomerRequest, first: int) -> None:
        self.session, self.request, self.first = session, request, first
        self.calls: list[ToolInvocation] = []

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        made = invoke(
            self.session,
            name,
            arguments,
            actor=Actor.HUMAN,
            request=self.request,
            number=self.first + len(self.calls),
        )
        self.calls.append(made)
        return made.result

    def changes(self) -> Any:
        return self.session.changes()


def invoke(
    session: ToolSession, name: str, arguments: dict[str, Any], *, actor: Actor, request: CustomerRequest, number: int
) -> ToolInvocation:
    result, error, error_type = None, None, None
    try:
        result = session.call(name, arguments)
    except ToolRefusal as refusal:
        error, error_type = str(refusal), refusal.error_type
    return ToolInvocation(
        span_id=f"{number + 1:016x}", call_id=f"call-{number}", name=name, arguments=arguments, result=result,
        error=error, error_type=error_type, actor=actor, started_at=request.at,
    )  # fmt: skip


def turn(actor: Actor, text: str, request: CustomerRequest) -> Turn:
    role = Role.USER if actor is Actor.CUSTOMER else Role.ASSISTANT
    return Turn(actor=actor, message=text_message(role, text), span_id="f" * 16, at=request.at)
