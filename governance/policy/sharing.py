"""Which tenants may stand in one shared scope. An adapter never mixes tenants unless every contract allows it."""

from __future__ import annotations

from collections.abc import Mapping

from governance.records.rights import Contract, Purpose
from governance.records.scope import Scope


def may_share(contract: Contract | None) -> bool:
    """Whether a tenant's contract lets its rows into an adapter that other tenants use."""
    if contract is None or not contract.shared_adapter:
        return False
    return any(term.purpose is Purpose.TRAIN_WEIGHTS for term in contract.terms)


def shared_tenants(contracts: Mapping[str, Contract | None]) -> tuple[str, ...]:
    """The tenants that form the shared scope, sorted; empty where fewer than two may share."""
    sharing = tuple(sorted(tenant for tenant, contract in contracts.items() if may_share(contract)))
    return sharing if len(sharing) > 1 else ()


def scopes(agent_name: str, contracts: Mapping[str, Contract | None]) -> tuple[Scope, ...]:
    """The scopes of an agent: one shared by the tenants that may share, one for each other tenant."""
    shared = shared_tenants(contracts)
    alone = [(tenant,) for tenant in sorted(contracts) if tenant not in shared]
    return tuple(Scope(agent_name=agent_name, tenants=tenants) for tenants in ([shared] if shared else []) + alone)
