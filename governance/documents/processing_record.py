"""The record of processing activities of GDPR Art. 30(1), one section a purpose, from the tables as they are now."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from governance.documents.page import Document, Field, section
from governance.policy.facts import facts_at
from governance.records.manifest import UseKind
from governance.records.pseudonymised import AIM_IRI
from governance.records.retention import RETENTION
from governance.records.rights import BASIS_IRI, PURPOSE_IRI, Basis, Contract, FactKind, Purpose
from governance.records.scope import tenants_of
from governance.store import Store

NOT_HELD = "no table holds it"
EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


def processing_record(store: Store, tenant_id: str, now: datetime) -> Document:
    """What is done with a tenant's data, why, for how long, and to whom it goes."""
    contract = store.rights.contract_at(tenant_id, now)
    fields = [*_controller(tenant_id, contract), *_people(store, tenant_id, now)]
    for purpose in Purpose:
        fields += _purpose(store, tenant_id, contract, purpose, now)
    fields += [*_recipients(store, tenant_id), *_limits(store), *_measures(store, tenant_id)]
    return Document(
        kind="processing-record",
        title=f"Record of processing activities: {tenant_id}",
        about=tenant_id,
        as_of=now,
        fields=tuple(fields),
    )


def _controller(tenant_id: str, contract: Contract | None) -> list[Field]:
    none = "" if contract else "no contract holds: only structure is kept"
    held = None if contract is None else {"id": contract.id, "from": contract.valid_from.isoformat()}
    return section(
        "Controller (Art. 30(1)(a))",
        [
            ("tenant", tenant_id, ("contracts",)),
            ("contract", held, ("contracts",), none),
            ("contact of controller and data protection officer", None, (), NOT_HELD),
        ],
    )


def _people(store: Store, tenant_id: str, now: datetime) -> list[Field]:
    people = store.trajectories.people(tenant_id)
    facts = [one for one in facts_at(store.rights.facts(tenant_id), now, everything=True) if one.subject]
    kinds = Counter(one.kind.value for one in facts)
    types: Counter[str] = Counter()
    for line in store.ledger.lines():
        if line.tenant_id == tenant_id:
            for found in line.findings.values():
                types.update(found)
    return section(
        "Categories of people and data (Art. 30(1)(c))",
        [
            ("people with stored runs", people, ("trajectories",), "" if people else "nothing is held of anybody"),
            ("minors", kinds[FactKind.MINOR.value], ("rights_facts",)),
            ("facts about people, by kind", dict(sorted(kinds.items())), ("rights_facts",)),
            ("personal values masked, by type", dict(sorted(types.items())), ("ledger",)),
        ],
    )


def _purpose(store: Store, tenant_id: str, contract: Contract | None, purpose: Purpose, now: datetime) -> list[Field]:
    if purpose is Purpose.COMPLY:
        named: dict[str, Any] | None = {"rests on": "legal obligation"}
    else:
        named = _bases(contract, purpose)
    assessed = [
        {"document": one.document, "until": one.valid_to.isoformat()}
        for one in store.assessments.of(tenant_id)
        if one.purpose is purpose and one.supersedes is None and one.valid_from <= now < one.valid_to
    ]
    allowed = _allowed(store, tenant_id, purpose, now)
    return section(
        f"Purpose {purpose.value} (Art. 30(1)(b))",
        [
            ("purpose", PURPOSE_IRI[purpose], ()),
            ("legal basis", named, ("contracts",), "" if named else "no term: the purpose is forbidden"),
            ("runs that may be used now", allowed, ("trajectories", "consent_events", "rights_facts")),
            ("assessments", assessed, ("assessments",), "" if assessed else "none is recorded"),
            *_declared(store, tenant_id, contract, purpose, now),
        ],
    )


def _declared(
    store: Store, tenant_id: str, contract: Contract | None, purpose: Purpose, now: datetime
) -> list[tuple[Any, ...]]:
    """The declarations of pseudonymised processing, where the contract names that basis for the purpose."""
    named = (one for one in (contract.terms if contract else ()) if one.purpose is purpose)
    if Basis.PIPA_28_2 not in {one.basis for one in named}:
        return []
    recorded = store.pseudonymised.declared(tenant_id)
    over = {one.supersedes for one in recorded}
    standing = [
        {"document": one.document, "aim": one.aim.value, "iri": AIM_IRI[one.aim], "until": one.valid_to.isoformat()}
        for one in recorded
        if one.purpose is purpose and one.supersedes is None and one.id not in over and now < one.valid_to
    ]
    why = "" if standing else "none stands"
    return [("pseudonymised processing (PIPA 28-2)", standing, ("pseudonymised_declarations",), why)]


def _bases(contract: Contract | None, purpose: Purpose) -> dict[str, Any] | None:
    """The general term's basis, and under their codes those of jurisdictions."""
    terms = [term for term in (contract.terms if contract else ()) if term.purpose is purpose]
    of = {term.jurisdiction: {"basis": term.basis.value, "iri": BASIS_IRI[term.basis]} for term in terms}
    general: dict[str, Any] = of.pop(None, {})
    return (general | {str(code): one for code, one in sorted(of.items(), key=str)}) or None


def _allowed(store: Store, tenant_id: str, purpose: Purpose, now: datetime) -> dict[str, int]:
    """Reason of the verdict to runs."""
    found = store.trajectories.verdicts(purpose, [tenant_id], *EVER, as_of=now)
    return dict(sorted(Counter(one.reasons[0].value for one in found.values()).items()))


def _recipients(store: Store, tenant_id: str) -> list[Field]:
    to: dict[str, str] = {}
    for use in store.manifests.uses(kind=UseKind.EXPORT):
        if tenant_id in tenants_of(use.scope):
            to[use.target] = use.as_of.isoformat()
    return section(
        "Recipients and transfers (Art. 30(1)(d), (e))",
        [
            ("recipients of exports", to, ("dataset_uses",), "" if to else "nothing was exported"),
            ("transfers to third countries", None, (), NOT_HELD),
        ],
    )


def _limits(store: Store) -> list[Field]:
    days = {name.value: f"{term.days} days" for name, term in RETENTION.items()}
    tables = {name: f"{info.retention_class.value}; {info.expiry}" for name, info in store.tables().items()}
    return section(
        "Time limits for erasure (Art. 30(1)(f))",
        [
            ("by class", days, ()),
            ("by table", tables, tuple(sorted(tables)), "class; column of the expiry, or why none"),
        ],
    )


def _measures(store: Store, tenant_id: str) -> list[Field]:
    events, root = store.audit.root(tenant_id)
    sealed = sum(count for (tenant, _), count in store.quarantine.held().items() if tenant == tenant_id)
    return section(
        "Security measures (Art. 30(1)(g))",
        [
            ("audit chain", {"events": events, "last link": root}, ("audit_events",)),
            ("policy of rights", store.policy.version, (), "by which every read is judged"),
            ("sealed in quarantine now", sealed, ("quarantine",)),
        ],
    )
