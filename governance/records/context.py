"""The context: facts and playbook by digest, with a validity for each fact. Never memory content.

A fact's text holds no surrogate and no personal value; it may hold typed placeholders such as ``{customer.name}``
that the agent's app fills.
"""

from __future__ import annotations

from datetime import datetime

from governance.records.base import Record, UtcTime


class Fact(Record):
    """One statement that the agent may rely on between two times."""

    key: str
    """What it is about; two facts with one key never hold at the same time."""
    text: str
    valid_from: UtcTime
    valid_to: UtcTime | None = None

    def holds_at(self, moment: datetime) -> bool:
        """Whether the fact is valid at ``moment``."""
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


class Context(Record):
    """What the agent is told besides its prompt."""

    facts: tuple[Fact, ...] = ()
    playbook: tuple[str, ...] = ()
    memory_policy: str = "none"

    def facts_at(self, moment: datetime) -> tuple[Fact, ...]:
        """The facts that hold at ``moment``, by key."""
        return tuple(sorted((fact for fact in self.facts if fact.holds_at(moment)), key=lambda fact: fact.key))

    def with_fact(self, fact: Fact) -> Context:
        """A context in which ``fact`` supersedes the facts of its key from its ``valid_from`` on."""
        kept = []
        for old in self.facts:
            if old.key != fact.key or (old.valid_to is not None and old.valid_to <= fact.valid_from):
                kept.append(old)
            elif old.valid_from < fact.valid_from:
                kept.append(old.model_copy(update={"valid_to": fact.valid_from}))
        return self.model_copy(update={"facts": tuple(sorted([*kept, fact], key=lambda f: (f.key, f.valid_from)))})
