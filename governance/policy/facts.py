"""The facts that decide a verdict, and how they follow from what was recorded.

Facts are bitemporal: what counts at a moment is what was recorded by then and holds then. Of a person's statements on a
purpose the one that took effect last counts; of two that took effect together the one recorded last; of two recorded
together the one that forbids. A withdrawal has no expiry: only a new consent ends it, and one that a sender's clock
dates ahead restrains from when it is known. A fact that another one supersedes does not count from the moment at which
that was recorded.

A question about the present counts ``everything`` that is recorded, and takes what was recorded as begun for begun: a
clock that was set back hides nothing. A question about the past counts what was recorded by then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from governance.records.assessment import DataCategory
from governance.records.rights import (
    CONSENT_BASES,
    Basis,
    ConsentEvent,
    ConsentState,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    RightsFact,
)

ALLOWING: Final[frozenset[ConsentStatus]] = frozenset({ConsentStatus.GIVEN, ConsentStatus.RENEWED})
"""Statuses that allow on the basis of consent."""
RESTRAINT: Final[dict[ConsentStatus, int]] = {
    ConsentStatus.GIVEN: 0,
    ConsentStatus.RENEWED: 0,
    ConsentStatus.EXPIRED: 1,
    ConsentStatus.REFUSED: 2,
    ConsentStatus.WITHDRAWN: 3,
    ConsentStatus.OBJECTED: 4,
}
"""Which of two simultaneous events counts: the higher one."""
_Recorded = Contract | ConsentEvent | RightsFact


class FactSignature(NamedTuple):
    """Everything that decides a verdict, and nothing else. Rows with equal signatures have equal verdicts."""

    subject_known: bool
    suppressed: bool
    contract: bool
    """Whether any contract holds."""
    basis: Basis | None
    """Basis of the contract's term for the purpose and the person's jurisdiction; None where it has none."""
    shared_adapter: bool
    """Whether the contract allows use in an adapter that other tenants use."""
    sharing: bool
    """Whether the use is such a use."""
    consent: ConsentStatus | None
    """The person's status for the purpose at the moment; None where they never said anything."""
    compatible: bool = True
    """Whether data was collected for the purpose, or consent or an assessment bridges to it."""
    region_allowed: bool = True
    """Whether the contract allows people of the person's jurisdiction; an unknown one is not allowed."""
    held: bool = False
    restricted: bool = False
    minor: bool = False
    special_category: bool = False
    special_basis: bool = False
    contested: bool = False
    unlawful: bool = False
    declared: bool = False
    """Whether a declaration of pseudonymised processing covers the purpose and what is known of the row's data."""


FLAGS: Final[dict[FactKind, str]] = {
    FactKind.HOLD: "held",
    FactKind.RESTRICTION: "restricted",
    FactKind.MINOR: "minor",
    FactKind.SPECIAL_CATEGORY: "special_category",
    FactKind.SPECIAL_BASIS: "special_basis",
    FactKind.CONTESTED: "contested",
    FactKind.UNLAWFUL: "unlawful",
}
"""Kinds that are a fact of the signature by themselves."""
CATEGORIES: Final[dict[FactKind, DataCategory]] = {
    FactKind.SPECIAL_CATEGORY: DataCategory.SPECIAL_CATEGORY,
    FactKind.MINOR: DataCategory.MINOR,
}
"""Kinds that tell of a category of data."""


def signature(
    contract: Contract | None,
    purpose: Purpose,
    *,
    known: bool,
    suppressed: bool,
    sharing: bool,
    consent: ConsentStatus | None,
    standing: Collection[tuple[FactKind, str]],
) -> FactSignature:
    """The signature of a row: its tenant's contract, its person, and the (kind, value) of the facts that stand."""
    kinds = {kind for kind, _ in standing}
    regions = regions_of(standing)
    basis = term_basis(contract, purpose, regions)
    named = contract is None or contract.collected_for is None or purpose in contract.collected_for
    bridged = basis in CONSENT_BASES or FactKind.COMPATIBILITY in kinds
    allowed = contract is None or contract.regions is None or (bool(regions) and regions <= set(contract.regions))
    return FactSignature(
        subject_known=known,
        suppressed=suppressed,
        contract=contract is not None,
        basis=basis,
        shared_adapter=contract is not None and contract.shared_adapter,
        sharing=sharing,
        consent=consent,
        compatible=bridged or (named and basis is not Basis.PIPA_15_3),
        region_allowed=allowed,
        declared=_declared(standing),
        **{fact: True for kind, fact in FLAGS.items() if kind in kinds},
    )


def regions_of(standing: Collection[tuple[FactKind, str]]) -> frozenset[str]:
    """The jurisdictions that facts name."""
    return frozenset(value for kind, value in standing if kind is FactKind.JURISDICTION)


def term_basis(contract: Contract | None, purpose: Purpose, regions: Collection[str] = ()) -> Basis | None:
    """The basis that a contract names for a purpose and a person's jurisdictions; None where it has no term for it.

    The term of a jurisdiction goes before its country's (``US-CA``, ``US``), and that before the general one. Where
    several jurisdictions lead to several bases, none is the one on which the use rests.
    """
    terms = contract.terms if contract else ()
    of = {term.jurisdiction: term.basis for term in terms if term.purpose is purpose}
    found = {_basis_in(of, region) for region in regions or ("",)}
    return found.pop() if len(found) == 1 else None


def _basis_in(of: Mapping[str | None, Basis], region: str) -> Basis | None:
    return next((of[name] for name in (region, region.partition("-")[0], None) if name in of), None)


def _declared(standing: Collection[tuple[FactKind, str]]) -> bool:
    """Whether one declaration covers every category that the row is known to hold."""
    kinds = {kind for kind, _ in standing}
    holds = {DataCategory.COMMUNICATION} | {CATEGORIES[kind] for kind in kinds & CATEGORIES.keys()}
    declared = (value.split(",") for kind, value in standing if kind is FactKind.PSEUDONYMISED)
    return any(holds <= set(categories) for categories in declared)


def contract_at(contracts: Iterable[Contract], as_of: datetime, *, everything: bool = False) -> Contract | None:
    """The contract that holds at ``as_of`` as far as was known then: the one that took effect last.

    Where the clock was set back, that one may have been recorded after ``as_of``. Then none is in force: it may not
    have begun, and the one before it may allow what this one forbids.
    """
    known = [one for one in contracts if _known(one, as_of, everything) and _holds(one, as_of)]
    latest = max(known, key=lambda c: (c.valid_from, c.recorded_at, c.id), default=None)
    return None if latest is None or latest.recorded_at > as_of else latest


def consent_at(events: Iterable[ConsentEvent], as_of: datetime, *, everything: bool = False) -> ConsentStatus | None:
    """The status that one person's events for one purpose give at ``as_of``."""
    return consent_state(events, as_of, everything=everything).status


def consent_state(events: Iterable[ConsentEvent], as_of: datetime, *, everything: bool = False) -> ConsentState:
    """What counts of one person's events for one purpose at ``as_of``, as far as was known then."""
    known = [
        event
        for event in events
        if _known(event, as_of, everything) and (RESTRAINT[event.status] > 0 or _begun(event, as_of))
    ]
    if not known:
        return ConsentState(status=None, as_of=as_of)
    latest = max(known, key=_order)
    return ConsentState(
        status=effective_status(latest.status, latest.valid_to, as_of),
        event_id=latest.id,
        notice_digest=latest.notice_digest,
        since=min(latest.valid_from, max(as_of, latest.recorded_at)),
        as_of=as_of,
    )


def _order(event: ConsentEvent) -> tuple[datetime, datetime, int, float, str]:
    """The greatest of a person's words counts; the last part only makes it one and the same each time."""
    force = (RESTRAINT[event.status], expiry_order(event.valid_to), event.status.value)
    return event.valid_from, event.recorded_at, *force


def facts_at(facts: Iterable[RightsFact], as_of: datetime, *, everything: bool = False) -> list[RightsFact]:
    """The facts that stand at ``as_of`` as far as was known then."""
    known = [fact for fact in facts if _known(fact, as_of, everything)]
    replaced = {fact.supersedes for fact in known}
    return [fact for fact in known if fact.id not in replaced and _holds(fact, as_of)]


def expiry_order(valid_to: datetime | None) -> float:
    """Sorts expiries so that the sooner one comes last, and none comes first."""
    return float("-inf") if valid_to is None else -valid_to.timestamp()


def effective_status(status: ConsentStatus, valid_to: datetime | None, as_of: datetime) -> ConsentStatus:
    """A given consent whose time is over is expired; a withdrawal stays one."""
    if status in ALLOWING and valid_to is not None and valid_to <= as_of:
        return ConsentStatus.EXPIRED
    return status


def _known(record: _Recorded, as_of: datetime, everything: bool) -> bool:  # noqa: FBT001 - private
    return everything or record.recorded_at <= as_of


def _begun(record: _Recorded, as_of: datetime) -> bool:
    return record.valid_from <= max(as_of, record.recorded_at)


def _holds(record: _Recorded, as_of: datetime) -> bool:
    return _begun(record, as_of) and (record.valid_to is None or as_of < record.valid_to)
