"""Changes of a world, compared: exactly the demonstrated ones, or the expected and none of the forbidden.

Theory. A state difference must be exactly the demonstrated one, as a multiset of changes. A key that the app made up
itself (one that the demonstration did not pass in) is compared by structure: the rows must be the same with such keys
replaced by a mark, so that two runs which create the same rows in another order are equal. Where a task is about one
effect and leaves the rest open, side effects say what must and what must not be among the changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from governance.records.base import canonical_json
from governance.records.task import GoldAction
from governance.records.verifier import How, SideEffect, SideEffects
from governance.records.world import StateChange
from training.values import leaves


def same_changes(left: Sequence[StateChange], right: Sequence[StateChange], gold: Iterable[GoldAction]) -> bool:
    """Whether two differences are one, whatever the order and the generated keys."""
    given = frozenset(leaf for action in gold for leaf in leaves(action.arguments))
    return _multiset(left, given) == _multiset(right, given)


def effects_hold(effects: SideEffects, changes: Iterable[StateChange]) -> bool:
    """Whether each expected effect is among the changes, each by a change of its own, and no forbidden one."""
    made = list(changes)
    if any(_is(effect, change) for effect in effects.forbidden for change in made):
        return False
    return _matched([[number for number, one in enumerate(made) if _is(effect, one)] for effect in effects.expected])


def _matched(options: Sequence[Sequence[int]]) -> bool:
    """Whether each can have one of its options to itself (augmenting paths, Kuhn 1955)."""
    taken: dict[int, int] = {}

    def place(one: int, tried: set[int]) -> bool:
        for option in options[one]:
            if option not in tried:
                tried.add(option)
                if option not in taken or place(taken[option], tried):
                    taken[option] = one
                    return True
        return False

    return all(place(one, set()) for one in range(len(options)))


def _is(effect: SideEffect, change: StateChange) -> bool:
    how = How.CREATED if change.before is None else How.DELETED if change.after is None else How.UPDATED
    row = change.before if change.after is None else change.after
    if change.table != effect.table or (effect.how is not None and effect.how is not how) or row is None:
        return False
    return all(
        name in row and canonical_json(row[name]) == canonical_json(value) for name, value in effect.where.items()
    )


def _multiset(changes: Sequence[StateChange], given: frozenset[str]) -> Counter[bytes]:
    """Changes without order, with generated keys marked."""
    marks = {
        change.key: f"<new {change.table}>" for change in changes if change.before is None and change.key not in given
    }
    return Counter(canonical_json(_marked(change.plain(), marks)) for change in changes)


def _marked(value: Any, marks: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _marked(item, marks) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item, marks) for item in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    return marks.get(str(value), value)
