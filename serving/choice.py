"""Where an action is a choice: its tokens that rule out a tool that was offered.

Theory. An action is ``{"tool":NAME,"arguments":{...}}``, and structured output holds the model to the tools on offer.
So most of its tokens are settled before the model speaks (punctuation, the rest of a name that only one tool has, a
number copied from the letter), and the judgement lies in the few at which a tool that was still possible stops being
it. Those positions are found on the exact ids: the text said so far is compared with the opening of each tool's action.
A step with one tool has no choice, and a text that opens no offered tool's action has none that can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from serving.action import dump

UNFINISHED = "\ufffd"
"""What a tokenizer decodes the first bytes of a letter to, until the rest has come."""


def choices(ids: Sequence[int], offered: Sequence[str], decode: Callable[[Sequence[int]], str]) -> tuple[int, ...]:
    """Positions in ``ids`` of the tokens that rule out one of the ``offered`` tools."""
    possible = {name: dump({"tool": name})[:-1] + "," for name in offered}
    places: list[int] = []
    for place in range(len(ids)):
        if len(possible) <= 1:
            return tuple(places)
        said = decode(ids[: place + 1]).rstrip(UNFINISHED)
        left = {name: opening for name, opening in possible.items() if _agree(opening, said)}
        if not left:
            return ()
        if len(left) < len(possible):
            places.append(place)
        possible = left
    return tuple(places)


def _agree(opening: str, said: str) -> bool:
    return opening.startswith(said) or said.startswith(opening)
