"""Synthetic support conversations for masking: the traces of ``benchmarks.traces`` with sentences that hold people.

A text is made of sentences in which plain words of English and made-up words stand beside names, mail addresses,
telephone, card and order numbers, dates and codes. About one sentence in eight holds something personal; the rest are
what agents and customers write between. Names combine common given names with the syllables of ``masking.words``, cards
pass Luhn, and everything follows from the seed: no text stands in two traces.
"""

from __future__ import annotations

import random
from typing import Final

from benchmarks.traces import Traces, vocabulary
from governance.masking import words

_PLAIN: Final = (
    "the {w} of my {w} has not arrived since {d}",
    "could you check whether {w} {w} is included in the {w} plan",
    "I ordered a {w} {w} and it came without the {w}",
    "please note that refunds for {o} take {n} days",
    "we have updated {o} and the total is now {n}.{n} EUR",
    "Thanks for waiting, the {w} team looked at the {w} again",
    "what happens if I change the {w} to {w} before {d}",
    "The {w} in Northport opens at {n} and closes at {n}",
    "flight HAT{n} to JFK leaves on {d}, cabin basic economy",
    "it says {w} is not available, error {n}, and then it stops",
    "is there anything else that I can help you with today",
    "your request {o} was passed on to the {w} department",
    "that is fine, let us keep the {w} as it is",
    "Let me look that up for you, one moment",
)
_PERSONAL: Final = (
    "this is {name}, I wrote to you about {o}",
    "my mail is {mail} if you need to send the {w}",
    "you can call me at {phone} after {n}",
    "the card number is {card} and it expires soon",
    "I live at {n} {last} Street and was born on {d}",
    "My name is {name} and the user id is {first}_{last}_{n4}",
    "Kind regards, {name}",
)
_ONE_IN: Final = 8
WORDS_OF_A_SENTENCE: Final = 10


class Sentences:
    """Sentences, one after the other, from a source of chance."""

    def __init__(self, source: random.Random) -> None:
        """``source`` decides everything."""
        self._source = source
        self._words = vocabulary()
        self._given = sorted(words.GIVEN)

    def text(self, size: int) -> str:
        """Sentences of about ``size`` words together."""
        count = max(1, round(size / WORDS_OF_A_SENTENCE))
        return " ".join(self._sentence() for _ in range(count))

    def of_length(self, characters: int) -> str:
        """A text of exactly so many characters."""
        made = self._sentence()
        while len(made) < characters:
            made = f"{made} {self._sentence()}"
        return made[:characters]

    def _sentence(self) -> str:
        kind = _PERSONAL if self._source.randrange(_ONE_IN) == 0 else _PLAIN
        made = self._source.choice(kind)
        while "{w}" in made:
            made = made.replace("{w}", self._source.choice(self._words), 1)
        while "{n}" in made:
            made = made.replace("{n}", str(self._source.randrange(10, 99)), 1)
        made = made.format(**self._values())
        return made[0].upper() + made[1:] + self._source.choice(".?!.")

    def _values(self) -> dict[str, str]:
        pick = self._source
        first = pick.choice(self._given)
        last = (pick.choice(words.FAMILY_STARTS) + pick.choice(words.FAMILY_ENDS)).title()
        n4 = f"{pick.randrange(10_000):04}"
        return {
            "name": f"{first.title()} {last}",
            "first": first,
            "last": last,
            "mail": f"{first}.{last.lower()}{pick.randrange(100)}@mail.example",
            "phone": f"(212) {pick.randrange(200, 999)}-{n4}",
            "card": _card(pick),
            "o": f"SO-{pick.randrange(10_000):04}",
            "d": f"2026-{pick.randrange(1, 13):02}-{pick.randrange(1, 29):02}",
            "n4": n4,
        }


class Chats(Traces):
    """Traces whose messages are such sentences."""

    def __init__(self, seed: int, start_unix_nano: int) -> None:
        """As ``Traces``."""
        super().__init__(seed, start_unix_nano)
        self._sentences = Sentences(self._source)

    def _text(self, bounds: tuple[int, int]) -> str:
        return self._sentences.text(self._source.randint(*bounds))


def _card(pick: random.Random) -> str:
    """A number of sixteen digits in groups that passes Luhn."""
    digits = [4, *(pick.randrange(10) for _ in range(14))]
    total = sum(sum(divmod(2 * digit, 10)) if place % 2 == 0 else digit for place, digit in enumerate(digits))
    text = "".join(map(str, [*digits, -total % 10]))
    return " ".join(text[place : place + 4] for place in range(0, 16, 4))
