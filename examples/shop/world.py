"""The shop's world: who bought what, and what the shop's policies say, as one snapshot per tenant and day.

Theory. A week is a grid of *slots*: (tenant, day, index). A slot fixes, by a keyed draw from the seed alone, one
customer, one order and what they will write about; neither the number of sessions nor the order of calls changes
it. So the world of a day can be built without the requests and the requests without the world, and they agree.
Each slot owns its order, so that two sessions of one day never meet in the same row.

The policies are the documents. A document's text is the fact itself, in one sentence: what a person reads in
``read_policy`` is what an agent may be told. With the trouble ``policy_change`` one of them changes on ``CHANGE_DAY``.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from governance.records.world import World, WorldSchema

T = TypeVar("T")

TROUBLES: Final = frozenset({"policy_change", "misleading_schema", "judgement"})
CHANGE_DAY: Final = 2
"""The day of the week (0 to 6) from which the new policy holds."""
CHANGED_POLICY: Final = "returns"
DAYS: Final = 7
SLOTS: Final = 40
"""Slots of a tenant and day that a world holds unless told otherwise."""
MOST_SLOTS: Final = 1200
AGAIN: Final = 0.19
"""Share of slots whose customer is the one of the day before."""

DELIVERY, QUESTION, REFUND, PROBLEM = "delivery", "question", "refund", "problem"
HAZARD, BROKEN, FLAW = "hazard", "broken", "flaw"
"""What is wrong with an item: it endangers someone, it cannot be used, or it merely annoys."""

POLICIES: Final[dict[str, str]] = {
    "returns": "The return period is 30 days.",
    "shipping": "The shipping fee is 4.90 EUR.",
    "warranty": "The warranty is 24 months.",
    "wrapping": "The gift wrapping fee is 3 EUR.",
}
NEW_POLICY: Final = "The return period is 45 days."
STATUSES: Final = ("being packed", "in transit", "out for delivery", "held at customs", "waiting at the pickup point")
CARRIERS: Final = ("Bluewing", "Parcelo", "Northpost")
ITEMS: Final = (
    "desk lamp", "electric kettle", "toaster", "wall clock", "office chair", "coffee grinder", "fan heater", "blender",
    "bookshelf", "hair dryer", "table fan", "rice cooker", "night light", "radio", "phone charger", "floor lamp",
    "air fryer", "bar stool", "power bank", "waffle iron", "humidifier", "hand mixer", "shoe rack", "heating pad",
)  # fmt: skip
FIRST: Final = (
    "Amelia", "Bruno", "Clara", "Daniel", "Elena", "Felix", "Grace", "Henry", "Isabel", "Jonas", "Karen", "Liam",
    "Maria", "Nathan", "Olivia", "Peter", "Rachel", "Simon", "Teresa", "Victor", "Wendy", "Yusuf",
)  # fmt: skip
LAST: Final = (
    "Alderton", "Barlow", "Castell", "Draper", "Ellwood", "Fenwick", "Garland", "Holloway", "Iverson", "Jardine",
    "Kessler", "Lockhart", "Merrick", "Norwood", "Ostrander", "Pembroke", "Ridgeway", "Sorensen", "Thackeray",
    "Whitlock",
)  # fmt: skip
STREETS: Final = ("Alder Street", "Bridge Lane", "Chapel Road", "Dock Street", "Elm Avenue", "Foundry Row")
TOWNS: Final = ("Northport", "Millhaven", "Eastbrook", "Lowmoor", "Saltford")


def draw(*key: object) -> random.Random:
    """A generator that depends on ``key`` alone, the same in every process."""
    return random.Random(int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "big"))


def pick(options: Sequence[T], *key: object) -> T:
    """One of ``options``, chosen by ``key``."""
    return draw(*key).choice(options)


@dataclass(frozen=True)
class Slot:
    """One order of one customer on one day, and what it will be written about."""

    tenant_id: str
    day: int
    index: int
    customer_id: str
    order_id: str
    item: str
    status: str
    amount: str
    topic: str
    trouble: str | None
    """One of hazard, broken, flaw for a ``problem``; else None."""
    policy: str | None
    """The policy asked about for a ``question``; else None."""


@dataclass(frozen=True)
class Customer:
    """A person who buys at the shop; everything about them is made up."""

    customer_id: str
    name: str
    email: str
    phone: str
    address: str


def _customer_id(seed: int, tenant_id: str, day: int, index: int) -> str:
    while day > 0 and draw(seed, tenant_id, day, index, "again").random() < AGAIN:
        day -= 1
    return f"{tenant_id}-{day}{index:03d}"


def _topic(seed: int, tenant_id: str, day: int, index: int, troubles: frozenset[str]) -> str:
    topics = (DELIVERY, QUESTION, REFUND, *(PROBLEM,) * 3) if "judgement" in troubles else (DELIVERY, QUESTION, REFUND)
    rank = day * MOST_SLOTS + index
    deck = list(topics)
    draw(seed, tenant_id, rank // len(deck), "deck").shuffle(deck)
    return deck[rank % len(deck)]


def slot(tenant_id: str, seed: int, day: int, index: int, troubles: frozenset[str]) -> Slot:
    """The slot of that place in the week."""
    if not (0 <= day < DAYS and 0 <= index < MOST_SLOTS):
        raise ValueError(f"no slot {index} on day {day}: a week has {DAYS} days of at most {MOST_SLOTS} slots")
    if unknown := troubles - TROUBLES:
        raise ValueError(f"unknown troubles {sorted(unknown)}: known are {sorted(TROUBLES)}")
    key = (seed, tenant_id, day, index)
    topic = _topic(*key, troubles)
    offset = draw(seed, tenant_id, "orders").randrange(DAYS * MOST_SLOTS)
    number = 1000 + ((day * MOST_SLOTS + index) * 4801 + offset) % (DAYS * MOST_SLOTS)
    others = tuple(name for name in POLICIES if name != CHANGED_POLICY)
    policy = CHANGED_POLICY if draw(*key, "asks").random() < 0.5 else pick(others, *key, "policy")
    return Slot(
        tenant_id=tenant_id,
        day=day,
        index=index,
        customer_id=_customer_id(*key),
        order_id=f"SO-{number:04d}",
        item=pick(ITEMS, *key, "item"),
        status=pick(STATUSES, *key, "status") if topic == DELIVERY else "delivered",
        amount=f"{draw(*key, 'amount').randrange(900, 9900, 10) / 100:.2f}",
        topic=topic,
        trouble=pick((HAZARD, BROKEN, FLAW), *key, "trouble") if topic == PROBLEM else None,
        policy=policy if topic == QUESTION else None,
    )


def customer(customer_id: str, seed: int) -> Customer:
    """The person behind a customer id."""
    rng = draw(seed, customer_id, "person")
    first, last, number = rng.choice(FIRST), rng.choice(LAST), rng.randrange(10, 100)
    return Customer(
        customer_id=customer_id,
        name=f"{first} {last}",
        email=f"{first}.{last}{number}@example.{rng.choice(('com', 'org'))}".lower(),
        phone=f"({rng.choice((212, 312, 415, 617))}) 555-01{rng.randrange(100):02d}",
        address=f"{rng.randrange(1, 120)} {rng.choice(STREETS)}, {rng.choice(TOWNS)}",
    )


def policies(day: int, troubles: frozenset[str]) -> dict[str, str]:
    """The shop's policies on that day."""
    changed = "policy_change" in troubles and day >= CHANGE_DAY
    return {**POLICIES, CHANGED_POLICY: NEW_POLICY} if changed else dict(POLICIES)


def build_world(  # noqa: PLR0917 - the six that name a snapshot
    tenant_id: str, seed: int, day: int, troubles: frozenset[str], start: datetime, slots: int = SLOTS
) -> World:
    """The snapshot of a tenant's shop at the start of a day, before anyone wrote."""
    people: dict[str, Customer] = {}
    orders = []
    for index in range(slots):
        one = slot(tenant_id, seed, day, index, troubles)
        people.setdefault(one.customer_id, customer(one.customer_id, seed))
        orders.append(
            {
                "order_id": one.order_id,
                "customer_id": one.customer_id,
                "item": one.item,
                "status": one.status,
                "carrier": pick(CARRIERS, seed, tenant_id, one.order_id, "carrier"),
                "amount": one.amount,
            }
        )
    rows = [vars(people[name]) for name in sorted(people)]
    return World(
        tables={
            "customers": tuple(dict(row) for row in rows),
            "orders": tuple(sorted(orders, key=lambda order: order["order_id"])),
            "refunds": (),
            "replacements": (),
            "credits": (),
            "cases": (),
        },
        documents=policies(day, troubles),
        at=start + timedelta(days=day),
    )


def world_schema() -> WorldSchema:
    """Keys, whose each row is, and which fields are personal."""
    return WorldSchema(
        primary_keys={
            "customers": "customer_id",
            "orders": "order_id",
            "refunds": "refund_id",
            "replacements": "replacement_id",
            "credits": "credit_id",
            "cases": "case_id",
        },
        subject_fields=dict.fromkeys(
            ("customers", "orders", "refunds", "replacements", "credits", "cases"), "customer_id"
        ),
        personal_fields={
            "customers.name": "PERSON",
            "customers.email": "EMAIL_ADDRESS",
            "customers.phone": "PHONE_NUMBER",
            "customers.address": "LOCATION",
        },
    )
