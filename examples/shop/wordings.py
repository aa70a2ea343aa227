"""How customers write: parts of messages, and the one function that puts them together.

Theory. A message is greeting + body + contact + closing. Bodies are frames around an order number, an item and, for a
problem, one complaint out of a list per kind of trouble. The lists share their grammar and their everyday words, so no
single word gives the kind away: the reader has to understand whether something is dangerous, unusable or a nuisance.
"""

from __future__ import annotations

from typing import Final

from examples.shop.world import BROKEN, DELIVERY, FLAW, HAZARD, REFUND, Customer, Slot, draw

GREETINGS: Final = (
    "Hello, this is {name}.", "Hi, my name is {name}.", "Good morning.", "Hello.",
    "Hi there,", "Dear team,", "Good evening.",
    "", "",
)  # fmt: skip
CONTACTS: Final = ("My email is {email}.", "You can call me at {phone}.", "Write to {email}.", "", "", "", "", "")
CLOSINGS: Final = (
    "What can you do?", "Please help.", "What happens now?",
    "Please let me know.", "Can you sort this out?", "Thank you.",
    "Kind regards, {name}", "", "",
)  # fmt: skip

DELIVERY_BODIES: Final = (
    "Where is my order {order}?",
    "I am waiting for my {item}, order {order}. Where is it?",
    "What is the status of order {order}?",
    "When will the {item} come? The order is {order}.",
    "Has order {order} been sent yet?",
    "I ordered a {item} ({order}) and heard nothing since.",
    "Could you check how far {order} has come?",
    "Can you look up {order} for me? It is the {item}.",
)
REFUND_BODIES: Final = (
    "I sent back the {item} of order {order}. Please refund it.",
    "Order {order} went back to you last week. I want my money back.",
    "I returned my {item} ({order}) and wait for the refund.",
    "Please refund order {order}, you have the {item} back.",
    "When do I get my money for {order}? The {item} is back with you.",
    "The {item} from {order} was returned on Monday. Please pay me back.",
)
QUESTION_BODIES: Final = {
    "returns": (
        "What is the return period of the {item}?",
        "How long is your return period?",
        "I am not sure about the {item}. How many days is the return period?",
        "Is there a return period for a {item}, and how long is it?",
        "I may want to send the {item} back. What is your return period?",
        "Please tell me the return period.",
    ),
    "shipping": (
        "What is the shipping fee for a {item}?",
        "How much is the shipping fee?",
        "I would like to buy a {item}. What is your shipping fee?",
    ),
    "warranty": (
        "What is the warranty of the {item}?",
        "How long is the warranty?",
        "I would like to buy a {item}. How many months is the warranty?",
    ),
    "wrapping": (
        "What is the gift wrapping fee?",
        "How much is your gift wrapping fee for a {item}?",
        "The {item} is a present. What is the fee for gift wrapping?",
    ),
}
PROBLEM_FRAMES: Final = (
    "About the {item} of order {order}: {trouble}.",
    "My {item} ({order}): {trouble}.",
    "I bought a {item}, order {order}. {Trouble}.",
    "{Trouble}. It is the {item} of order {order}.",
    "I have to tell you something about order {order}, the {item}: {trouble}.",
    "Order {order}. I got the {item} and {trouble}.",
    "We were glad about the {item}, but {trouble}. The order is {order}.",
    "The order is {order}, a {item}. I am sorry to say that {trouble}.",
)
TROUBLES: Final = {
    HAZARD: (
        "it started to smoke when I used it", "sparks came out of it", "it gave me an electric shock",
        "it burned my hand", "it caught fire", "the cable melted", "a bare wire sticks out of it",
    ),
    BROKEN: (
        "it does not turn on", "it arrived in pieces", "it stopped working after a day",
        "I received another product", "the main part is missing", "it is completely dead", "it never worked",
    ),
    FLAW: (
        "it has a small scratch on the side", "the colour is a little paler than in the picture",
        "it came four days late", "the carton was dented but it works", "there is a faint stain on it",
        "the paint has a tiny chip", "it squeaks a little but works fine",
    ),
}  # fmt: skip


def _body(one: Slot, key: tuple[object, ...]) -> str:
    rng = draw(*key, "body")
    if one.topic == DELIVERY:
        return rng.choice(DELIVERY_BODIES)
    if one.topic == REFUND:
        return rng.choice(REFUND_BODIES)
    if one.policy is not None:
        return rng.choice(QUESTION_BODIES[one.policy])
    trouble = rng.choice(TROUBLES[one.trouble or FLAW])
    frame = rng.choice(PROBLEM_FRAMES)
    return frame.replace("{trouble}", trouble).replace("{Trouble}", trouble[0].upper() + trouble[1:])


def message(one: Slot, who: Customer, seed: int) -> str:
    """What the customer of a slot writes."""
    key = (seed, one.tenant_id, one.day, one.index)
    rng = draw(*key, "frame")
    contact = rng.choice(CONTACTS)
    parts = (rng.choice(GREETINGS), _body(one, key), "" if one.policy else contact, rng.choice(CLOSINGS))
    text = " ".join(part for part in parts if part)
    return text.format(name=who.name, email=who.email, phone=who.phone, order=one.order_id, item=one.item)
