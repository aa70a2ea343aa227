"""The verdict: whether a person's record may be used for a purpose, judged from the facts that decide it.

1. A verdict is a pure function of a ``FactSignature`` and a purpose. The store gathers signatures set-wise in SQL,
   judges each distinct one once, and joins the verdicts back; judging row by row gives the same result.
2. ``comply`` (rights requests, holds, retention, audit) is always allowed.
3. An unknown subject, a suppressed subject, a missing contract and a contract without a term for the purpose deny.
4. On the basis of consent, only ``given`` and ``renewed``, unexpired, allow. On the other bases the person's
   withdrawal or refusal denies, and silence or an expired consent does not.
5. Facts are bitemporal: what counts at a moment is what was recorded by then and holds then. Of a person's events for
   a purpose the one that took effect last counts; of two that took effect together the one recorded last; of two
   recorded together the one that forbids. A withdrawal has no expiry: only a new consent ends it.

Source: GDPR Art. 4(11), 6(1), 7(3), 21; W3C DPV 2.3 consent statuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from governance.records.base import digest_json
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, Reason, Verdict

DENYING: dict[ConsentStatus, Reason] = {
    ConsentStatus.WITHDRAWN: Reason.CONSENT_WITHDRAWN,
    ConsentStatus.REFUSED: Reason.CONSENT_REFUSED,
}
"""Statuses that deny on every basis."""

ALLOWING: frozenset[ConsentStatus] = frozenset({ConsentStatus.GIVEN, ConsentStatus.RENEWED})
"""Statuses that allow on the basis of consent."""

RESTRAINT: dict[ConsentStatus, int] = {
    ConsentStatus.GIVEN: 0,
    ConsentStatus.RENEWED: 0,
    ConsentStatus.EXPIRED: 1,
    ConsentStatus.REFUSED: 2,
    ConsentStatus.WITHDRAWN: 3,
}
"""Which of two simultaneous events counts: the higher one."""

RULES: tuple[tuple[str, Reason], ...] = (
    ("purpose is comply: allow", Reason.COMPLY),
    ("subject is unknown: deny", Reason.UNKNOWN_SUBJECT),
    ("subject is suppressed: deny", Reason.SUPPRESSED),
    ("no contract holds: deny", Reason.NO_CONTRACT),
    ("no term for the purpose: deny", Reason.CONTRACT_FORBIDS_PURPOSE),
    ("the use is shared and the contract forbids it: deny", Reason.CONTRACT_FORBIDS_SHARED_ADAPTER),
    ("latest consent is withdrawn: deny", Reason.CONSENT_WITHDRAWN),
    ("latest consent is refused: deny", Reason.CONSENT_REFUSED),
    ("basis is consent and none was given: deny", Reason.NO_GRANT),
    ("basis is consent and it has expired: deny", Reason.CONSENT_EXPIRED),
    ("otherwise: allow", Reason.ALLOWED),
)
"""The rules in the order in which they are tried; the first that applies decides."""

POLICY_VERSION: str = digest_json(
    {
        "rules": [[rule, reason.value] for rule, reason in RULES],
        "denying": {status.value: reason.value for status, reason in DENYING.items()},
        "allowing": sorted(status.value for status in ALLOWING),
        "restraint": {status.value: rank for status, rank in RESTRAINT.items()},
    }
)
"""Names the rule table; every verdict carries it."""


class FactSignature(NamedTuple):
    """Everything that decides a verdict, and nothing else. Rows with equal signatures have equal verdicts."""

    subject_known: bool
    suppressed: bool
    contract: bool
    """Whether any contract holds."""
    basis: Basis | None
    """Basis of the contract's term for the purpose; None where it has none."""
    shared_adapter: bool
    """Whether the contract allows use in an adapter that other tenants use."""
    sharing: bool
    """Whether the use is such a use."""
    consent: ConsentStatus | None
    """The person's status for the purpose at the moment; None where they never said anything."""


def judge(purpose: Purpose, facts: FactSignature, as_of: datetime) -> Verdict:
    """The verdict on a person's record for ``purpose`` at ``as_of``."""
    if purpose is Purpose.COMPLY:
        return _verdict(purpose, Reason.COMPLY, None, as_of)
    reason = _tenant_denial(facts) if facts.subject_known and not facts.suppressed else _subject_denial(facts)
    if reason is None:
        reason = _consent_denial(facts) or Reason.ALLOWED
    return _verdict(purpose, reason, facts.basis, as_of)


def judge_tenant(purpose: Purpose, contract: Contract | None, as_of: datetime) -> Verdict:
    """The verdict on what no single person is behind (a catalogue row, a policy text): the contract alone decides."""
    if purpose is Purpose.COMPLY:
        return _verdict(purpose, Reason.COMPLY, None, as_of)
    basis = term_basis(contract, purpose)
    facts = FactSignature(True, False, contract is not None, basis, True, False, None)  # noqa: FBT003 - a named tuple
    return _verdict(purpose, _tenant_denial(facts) or Reason.ALLOWED, basis, as_of)


def term_basis(contract: Contract | None, purpose: Purpose) -> Basis | None:
    """The basis that a contract names for a purpose; None where it has no term for it."""
    terms = contract.terms if contract else ()
    return next((term.basis for term in terms if term.purpose is purpose), None)


def contract_at(contracts: Iterable[Contract], as_of: datetime) -> Contract | None:
    """The contract that holds at ``as_of`` as far as was known then: the one that took effect last."""
    known = [
        contract
        for contract in contracts
        if contract.recorded_at <= as_of
        and contract.valid_from <= as_of
        and (contract.valid_to is None or as_of < contract.valid_to)
    ]
    return max(known, key=lambda c: (c.valid_from, c.recorded_at, c.id), default=None)


def consent_at(events: Iterable[ConsentEvent], as_of: datetime) -> ConsentStatus | None:
    """The status that one person's events for one purpose give at ``as_of``."""
    known = [event for event in events if event.recorded_at <= as_of and event.valid_from <= as_of]
    if not known:
        return None
    latest = max(known, key=lambda e: (e.valid_from, e.recorded_at, RESTRAINT[e.status], expiry_order(e.valid_to)))
    return effective_status(latest.status, latest.valid_to, as_of)


def expiry_order(valid_to: datetime | None) -> float:
    """Sorts expiries so that the sooner one comes last, and none comes first."""
    return float("-inf") if valid_to is None else -valid_to.timestamp()


def effective_status(status: ConsentStatus, valid_to: datetime | None, as_of: datetime) -> ConsentStatus:
    """A given consent whose time is over is expired; a withdrawal stays one."""
    if status in ALLOWING and valid_to is not None and valid_to <= as_of:
        return ConsentStatus.EXPIRED
    return status


def _subject_denial(facts: FactSignature) -> Reason:
    return Reason.SUPPRESSED if facts.subject_known else Reason.UNKNOWN_SUBJECT


def _tenant_denial(facts: FactSignature) -> Reason | None:
    if not facts.contract:
        return Reason.NO_CONTRACT
    if facts.basis is None:
        return Reason.CONTRACT_FORBIDS_PURPOSE
    if facts.sharing and not facts.shared_adapter:
        return Reason.CONTRACT_FORBIDS_SHARED_ADAPTER
    return None


def _consent_denial(facts: FactSignature) -> Reason | None:
    if facts.consent in DENYING:
        return DENYING[facts.consent]
    if facts.basis is not Basis.CONSENT or facts.consent in ALLOWING:
        return None
    return Reason.NO_GRANT if facts.consent is None else Reason.CONSENT_EXPIRED


def _verdict(purpose: Purpose, reason: Reason, basis: Basis | None, as_of: datetime) -> Verdict:
    allowed = reason in (Reason.ALLOWED, Reason.COMPLY)
    return Verdict(
        allowed=allowed,
        purpose=purpose,
        reasons=(reason,),
        basis=basis if allowed else None,
        as_of=as_of,
        policy_version=POLICY_VERSION,
    )
