"""The verdict: whether a row may be used for a purpose, judged from the facts that decide it.

1. A verdict is a pure function of a ``FactSignature``, a purpose and a policy. The store gathers signatures set-wise in
   SQL, judges each distinct one once, and joins the verdicts back; judging row by row gives the same result.
2. ``comply`` (rights requests, holds, retention, audit) is always allowed.
3. Otherwise the policy's rules are tried in order (``governance/policy/rights_policy.toml``): the first that matches
   denies with its reason, and what none denies is allowed.
4. Silence denies where the basis is consent, and an unknown person, an erased one, a missing contract and a purpose
   without a term deny whatever a policy says (``governance.policy.rights_file``).

Source: GDPR Art. 4(11), 6(1), 6(4), 7(3), 9, 18, 21; W3C DPV 2.3 consent statuses.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from governance.policy.facts import FactSignature, regions_of, signature, term_basis
from governance.policy.rights_file import default_policy
from governance.records.rights import CONSENT_BASES, Basis, ConsentStatus, Contract, FactKind, Purpose, Reason, Verdict
from governance.records.rights_policy import FactValue, RightsPolicy, RightsRule

DEFAULT: Final[RightsPolicy] = default_policy()


def judge(purpose: Purpose, facts: FactSignature, as_of: datetime, policy: RightsPolicy = DEFAULT) -> Verdict:
    """The verdict on a row for ``purpose`` at ``as_of``."""
    return _verdict(purpose, _reason(purpose, facts, policy), facts.basis, as_of, policy)


def judge_tenant(
    purpose: Purpose,
    contract: Contract | None,
    as_of: datetime,
    policy: RightsPolicy = DEFAULT,
    standing: Collection[tuple[FactKind, str]] = (),
) -> Verdict:
    """The verdict on what no single person is behind (a catalogue row, a policy text).

    The contract decides, and the facts that stand for everybody of the tenant.
    """
    asked = term_basis(contract, purpose, regions_of(standing)) in CONSENT_BASES
    given = ConsentStatus.GIVEN if asked else None  # nobody is there to ask
    facts = signature(contract, purpose, known=True, suppressed=False, sharing=False, consent=given, standing=standing)
    facts = facts._replace(compatible=True, region_allowed=True)
    return _verdict(purpose, _reason(purpose, facts, policy), facts.basis, as_of, policy)


def _reason(purpose: Purpose, facts: FactSignature, policy: RightsPolicy) -> Reason:
    if purpose is Purpose.COMPLY:
        return Reason.COMPLY
    return next((rule.reason for rule in policy.rules if _matches(rule, purpose, facts)), Reason.ALLOWED)


def _matches(rule: RightsRule, purpose: Purpose, facts: FactSignature) -> bool:
    if rule.purposes is not None and purpose not in rule.purposes:
        return False
    return all(_plain(getattr(facts, name)) in values for name, values in rule.when.items())


def _plain(value: FactValue | None) -> FactValue:
    """A fact as a policy writes it."""
    return "none" if value is None else value


def _verdict(purpose: Purpose, reason: Reason, basis: Basis | None, as_of: datetime, policy: RightsPolicy) -> Verdict:
    allowed = reason in (Reason.ALLOWED, Reason.COMPLY)
    return Verdict(
        allowed=allowed,
        purpose=purpose,
        reasons=(reason,),
        basis=basis if allowed else None,
        as_of=as_of,
        policy_version=policy.version,
    )
