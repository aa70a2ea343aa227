"""The shop as an agent product: what the loop asks for, and the people who make its week.

Theory. Everything follows from the options (seed, sessions, troubles, start), so every process of one data home speaks
of the same week. Two tenants' contracts allow a shared adapter, the third forbids it. Using conversations to find and
fix faults rests on legitimate interest; training weights rests on each customer's consent, which most give, some
refuse and some were never asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from examples.shop.app import ShopApp
from examples.shop.customers import TENANTS, CustomerRequest, ShopCustomer, slots_needed, week
from examples.shop.harness import AGENT_NAME, champion_context, champion_harness
from examples.shop.incumbent import Incumbent
from examples.shop.operator import ShopOperator
from examples.shop.world import DAYS, TROUBLES, build_world, draw, world_schema
from governance.ports.engine import ChatEngine
from governance.ports.product import DemoProduct, PlayedRequest
from governance.records.base import digest_json
from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, PurposeTerm
from governance.records.world import World, WorldSchema

NOTICE: Final = (
    "We would like to use your conversations with our support to train the model behind it. "
    "You can withdraw at any time."
)
"""What every customer of the played week was shown. Synthetic."""
GIVEN, REFUSED = 0.86, 0.93
"""Below the first a customer consents, below the second they refuse, above it they were never asked."""
FORBIDS_SHARING: Final = "quarry"
BASES: Final = {
    Purpose.SERVE: Basis.CONTRACT,
    Purpose.DEBUG: Basis.LEGITIMATE_INTEREST,
    Purpose.EVALUATE: Basis.LEGITIMATE_INTEREST,
    Purpose.IMPROVE_CONTEXT: Basis.LEGITIMATE_INTEREST,
    Purpose.IMPROVE_HARNESS: Basis.LEGITIMATE_INTEREST,
    Purpose.TRAIN_WEIGHTS: Basis.CONSENT,
}


class Shop(DemoProduct):
    """The fictional shop."""

    def __init__(self, seed: int, sessions: int, real_sessions: int, start: datetime, troubles: frozenset[str]) -> None:
        """``start`` is the first midnight of the week; ``real_sessions`` of ``sessions`` meet the real champion."""
        self._seed, self._sessions, self._real = seed, sessions, real_sessions
        self._start, self._troubles = start, troubles

    @property
    def agent_name(self) -> str:
        """As its traces say."""
        return AGENT_NAME

    @property
    def tenants(self) -> tuple[str, ...]:
        """Three shops that share one agent."""
        return TENANTS

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Seven days."""
        return self._start, self._start + timedelta(days=DAYS)

    @property
    def troubles(self) -> frozenset[str]:
        """Names of what is wrong."""
        return self._troubles

    def app(self) -> ShopApp:
        """The shop's tools."""
        return ShopApp()

    def world_schema(self) -> WorldSchema:
        """Keys, people, personal fields."""
        return world_schema()

    def harness(self) -> Harness:
        """The champion's harness before the first cycle."""
        return champion_harness(self._troubles)

    def context(self) -> Context:
        """The champion's facts before the first cycle."""
        return champion_context(self._start)

    def contracts(self) -> tuple[Contract, ...]:
        """One per tenant, in force since a month before the week."""
        since = self._start - timedelta(days=30)
        terms = tuple(PurposeTerm(purpose=purpose, basis=basis) for purpose, basis in BASES.items())
        return tuple(
            Contract(
                id=f"{tenant}-2026",
                tenant_id=tenant,
                terms=terms,
                shared_adapter=tenant != FORBIDS_SHARING,
                valid_from=since,
                recorded_at=since,
            )
            for tenant in TENANTS
        )

    @cached_property
    def _worlds(self) -> dict[str, tuple[str, World]]:
        slots = slots_needed(self._sessions, len(TENANTS))
        made = (
            (tenant, build_world(tenant, self._seed, day, self._troubles, self._start, slots=slots))
            for day in range(DAYS)
            for tenant in TENANTS
        )
        return {world.digest(): (tenant, world) for tenant, world in made}

    def snapshots(self, start: datetime, end: datetime) -> Iterable[tuple[str, World]]:
        """The snapshot of each tenant and day."""
        return [(tenant, world) for tenant, world in self._worlds.values() if start <= world.at < end]

    def source_world(self, world_digest: str) -> World:
        """The unmasked snapshot of that digest."""
        return self._worlds[world_digest][1]

    @cached_property
    def _requests(self) -> list[CustomerRequest]:
        return week(self._seed, TENANTS, self._sessions, self._start, self._troubles)

    def week(self) -> Sequence[PlayedRequest]:
        """Every request; those that meet the real champion are spread evenly over the week."""
        names = {(tenant, world.at): digest for digest, (tenant, world) in self._worlds.items()}
        every = max(1, len(self._requests) // max(1, self._real))
        chosen = {position * every for position in range(self._real)}
        return [
            PlayedRequest(
                request=one.agent_request(names[one.tenant_id, self._start + timedelta(days=one.day)]),
                real=position in chosen,
            )
            for position, one in enumerate(self._requests)
        ]

    def consents(self) -> tuple[ConsentEvent, ...]:
        """What the known customers said about training, before the week."""
        known = sorted({(one.tenant_id, one.user_id) for one in self._requests if one.user_id})
        events = (self._consent(tenant, user) for tenant, user in known)
        return tuple(event for event in events if event is not None)

    def _consent(self, tenant: str, user: str) -> ConsentEvent | None:
        said = draw(self._seed, user, "consent").random()
        if said >= REFUSED:
            return None
        at = self._start - timedelta(days=7)
        return ConsentEvent(
            id=digest_json([tenant, user, "consent"])[:32],
            tenant_id=tenant,
            subject=user,
            purpose=Purpose.TRAIN_WEIGHTS,
            status=ConsentStatus.GIVEN if said < GIVEN else ConsentStatus.REFUSED,
            notice_digest=digest_json(NOTICE),
            valid_from=at,
            recorded_at=at,
            actor="subject",
        )

    def customer(self) -> ShopCustomer:
        """The writers."""
        return ShopCustomer(self._requests, self._seed)

    def operator(self) -> ShopOperator:
        """The support desk."""
        return ShopOperator(self._requests)

    def incumbent(self) -> ChatEngine:
        """The scripted incumbent."""
        return Incumbent()


def build(**options: Any) -> Shop:
    """The shop of these options; each has a default.

    Raises:
        ValueError: for an unknown trouble, a start without a time zone, or more real sessions than sessions.
    """
    without = frozenset(options.get("without", ()))
    if unknown := without - TROUBLES:
        raise ValueError(f"unknown troubles {sorted(unknown)}; there are {sorted(TROUBLES)}")
    start = datetime.fromisoformat(options.get("start", "2026-11-16T00:00:00+00:00"))
    if start.tzinfo is None:
        raise ValueError(f"start {start.isoformat()} has no time zone")
    sessions, real = int(options.get("sessions", 720)), int(options.get("real_sessions", 48))
    if not 0 <= real <= sessions:
        raise ValueError(f"{real} real sessions of {sessions}")
    return Shop(int(options.get("seed", 7)), sessions, real, start.astimezone(UTC), TROUBLES - without)
