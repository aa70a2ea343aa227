"""A scope: an agent and the tenants it serves with one release. There is exactly one champion per scope."""

from __future__ import annotations

from governance.records.base import Record


class Scope(Record):
    """Agent x tenant, or a group of tenants whose contracts all allow sharing."""

    agent_name: str
    tenants: tuple[str, ...]

    @property
    def name(self) -> str:
        """``agent@tenant`` or ``agent@tenant+tenant``."""
        return f"{self.agent_name}@{'+'.join(self.tenants)}"


def tenants_of(name: str) -> tuple[str, ...]:
    """The tenants in a scope's name."""
    return tuple(name.partition("@")[2].split("+"))
