"""Verdicts of the past, judged again: what they were, or that nobody can say any more."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import NotFound, PolicyError
from governance.policy.rights_file import DEFAULT_FILE, parse_policy
from governance.records.retention import RETENTION, RetentionClass
from governance.records.rights import ConsentStatus, FactKind, Purpose, Reason, Suppression, Verdict
from governance.store import Store
from tests.governance.store_records import T0, consent, contract, person, rights_fact
from tests.support.clock import ManualClock

TRAIN = Purpose.TRAIN_WEIGHTS
TERM = RETENTION[RetentionClass.EVIDENCE]
EXAMPLE = itertools.count(1)
ROW = ("acme", person(1), "")
STRICT = DEFAULT_FILE.read_text() + '\n[[rule]]\nreason = "held"\npurposes = ["debug"]\nwhen = { held = true }\n'

acts = st.lists(
    st.tuples(st.sampled_from([*ConsentStatus, FactKind.HOLD, FactKind.MINOR, FactKind.UNLAWFUL]), st.integers(0, 40)),
    max_size=8,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=acts)
def test_a_verdict_replayed_is_what_it_was(
    store: Store, clock: ManualClock, acts: list[tuple[ConsentStatus | FactKind, int]]
) -> None:
    who, now = person(next(EXAMPLE)), clock.now()
    row = ("acme", who, "")
    store.rights.add_contract(contract())
    seen: list[tuple[datetime, Verdict]] = []
    for number, (what, hours) in enumerate(acts):
        now = clock.advance(hours=hours + 1)
        if isinstance(what, ConsentStatus):
            store.rights.add_consent(consent(who, status=what, at=now))
        else:
            store.rights.add_facts([rights_fact(what, who, id=f"{who}/{number}", valid_from=now, recorded_at=now)])
        seen.append((now, store.rights.verdict(TRAIN, "acme", who, now)))
    clock.advance(days=400)
    for moment, then in seen:
        assert store.rights.replay(TRAIN, row, moment).verdict == then


def test_a_replay_is_under_the_policy_of_then(database_url: str, clock: ManualClock) -> None:
    first = Store.open(database_url, clock=clock)
    first.rights.add_contract(contract(purposes={Purpose.DEBUG}))
    first.rights.add_consents([consent(ROW[1], purpose=Purpose.DEBUG)])
    first.rights.add_facts([rights_fact(FactKind.HOLD, ROW[1])])
    before = clock.now()
    assert first.rights.verdict(Purpose.DEBUG, "acme", ROW[1], before).allowed
    first.close()
    clock.advance(days=1)
    policy = parse_policy(STRICT, "strict")
    second = Store.open(database_url, clock=clock, policy=policy)
    now = clock.now()
    assert [one.version for _, one in second.policies.history()] == [first.policy.version, policy.version]
    assert not second.rights.verdict(Purpose.DEBUG, "acme", ROW[1], now).allowed
    then = second.rights.replay(Purpose.DEBUG, ROW, before)
    assert (then.reason, then.policy_version) == (Reason.ALLOWED, first.policy.version)
    assert second.rights.replay(Purpose.DEBUG, ROW, now).reason is Reason.HELD
    other = second.rights.replay(Purpose.DEBUG, ROW, before, policy.version[:12])
    assert (other.reason, other.policy_version) == (Reason.HELD, policy.version)
    assert second.policies.get(policy.version) == policy
    for unknown in ("0" * 64, ""):
        with pytest.raises(NotFound):
            second.policies.get(unknown)
    second.close()
    third = Store.open(database_url, clock=clock, policy=policy)
    assert len(third.policies.history()) == 2, "the same policy comes into force once"
    third.close()


def test_before_an_erasure_nobody_can_say_and_after_it_the_answer_is_no(store: Store, clock: ManualClock) -> None:
    store.rights.add_contract(contract())
    store.rights.add_consent(consent(ROW[1]))
    then = clock.now()
    assert store.rights.replay(TRAIN, ROW, then).reason is Reason.ALLOWED
    since = clock.advance(days=1)
    store.rights.suppress(Suppression(tenant_id="acme", subject=ROW[1], since=since, request_id="r"))
    store.erasable().erase("acme", ROW[1])
    for purpose in (TRAIN, Purpose.DEBUG):
        found = store.rights.replay(purpose, ROW, then)
        assert (found.verdict, found.reason) == (None, Reason.EVIDENCE_EXPIRED)
    assert store.rights.replay(TRAIN, ROW, since).reason is Reason.SUPPRESSED
    assert store.rights.replay(Purpose.COMPLY, ROW, then).reason is Reason.COMPLY
    assert store.rights.replay(TRAIN, ("acme", person(2), ""), then).reason is Reason.NO_GRANT


def test_what_was_taken_back_stays_evidence_for_its_term_and_then_has_expired(store: Store, clock: ManualClock) -> None:
    """A consent of long ago decided until it was withdrawn: it is kept for a term after that."""
    store.rights.add_contract(contract())
    given = clock.now()
    store.rights.add_consent(consent(ROW[1], at=given))
    withdrawn = clock.advance(days=TERM.days - 30)
    store.rights.add_consent(consent(ROW[1], status=ConsentStatus.WITHDRAWN, at=withdrawn))
    asked = withdrawn - timedelta(days=1)
    while clock.now() < asked + TERM - timedelta(days=200):
        store.sweep(clock.advance(days=190))
        assert store.rights.replay(TRAIN, ROW, asked).reason is Reason.ALLOWED
    clock.set(asked + TERM)
    store.sweep(clock.now())
    assert store.rights.replay(TRAIN, ROW, asked).reason is Reason.EVIDENCE_EXPIRED
    assert store.rights.replay(TRAIN, ROW, withdrawn).reason is Reason.CONSENT_WITHDRAWN
    clock.advance(days=TERM.days + 1)
    store.sweep(clock.now())
    assert len(store.rights.consent_events("acme", ROW[1], Purpose.COMPLY)) == 1
    assert store.rights.verdict(TRAIN, "acme", ROW[1], clock.now()).reasons == (Reason.CONSENT_WITHDRAWN,)


def test_no_policy_denies_for_want_of_evidence() -> None:
    text = STRICT.replace('reason = "held"\npurposes = ["debug"]', 'reason = "evidence_expired"')
    with pytest.raises(PolicyError, match="no reason to deny"):
        parse_policy(text, "mine")


def test_the_first_policy_answers_for_what_was_before_it(store: Store) -> None:
    assert store.rights.replay(TRAIN, ROW, T0).policy_version == store.policy.version
