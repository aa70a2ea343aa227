"""Rights asked again: before training a row drops; after it a release stops, or goes on until a deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from governance.errors import PolicyError
from governance.policy import rebuilds
from governance.policy.rights import DEFAULT
from governance.policy.rights_file import DEFAULT_FILE, parse_policy
from governance.records.manifest import UseKind, UseOutcome
from governance.records.release import ReleaseBundle
from governance.records.rights import ConsentStatus, FactKind, Reason
from governance.records.rights_policy import InService, RebuildTerms, RightsPolicy, RightsRule
from governance.rights_at_use import RightsAtUse
from governance.store import Store
from tests.governance.conftest import block_key
from tests.governance.store_records import T0, adapter, bundle, consent, rights_fact
from tests.governance.test_store_manifests import ANN, BEN, CAY, DAY, filled
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

GOES_ON = RebuildTerms(goes_on=(Reason.CONSENT_WITHDRAWN, Reason.OBJECTED), days=30)
Opened = Callable[[RightsPolicy], tuple[Store, RightsAtUse]]


@pytest.fixture
def opened(database_url: str, clock: ManualClock, ids: SeededIds) -> Iterator[Opened]:
    """A store under a policy."""
    stores: list[Store] = []

    def under(policy: RightsPolicy) -> tuple[Store, RightsAtUse]:
        store = Store.open(database_url, clock=clock, block_key=block_key, ids=ids, policy=policy)
        stores.append(store)
        return store, RightsAtUse(store, clock, ids)

    yield under
    for store in stores:
        store.close()


def released(store: Store, at_use: RightsAtUse) -> ReleaseBundle:
    """A release that learned from three people."""
    root, _ = filled(store)
    version, _ = at_use.before_training(root, "c1")
    weights = adapter(version)
    store.adapters.put(weights, "adapters/1", {})
    made = bundle(weights=weights)
    store.releases.put(made, None, "cycle c1")
    return made


def leaves(store: Store, clock: ManualClock, who: str, status: ConsentStatus = ConsentStatus.WITHDRAWN) -> None:
    store.rights.add_consent(consent(who, status=status, at=clock.now()))


def test_before_training_the_row_drops_and_the_version_is_what_is_trained_on(
    opened: Opened, clock: ManualClock
) -> None:
    store, at_use = opened(DEFAULT)
    root, rows = filled(store)
    clock.advance(DAY)
    leaves(store, clock, ANN)
    version, left = at_use.before_training(root, "c1")
    assert [one.subject for one in left] == [BEN, CAY]
    (use,) = store.manifests.uses([version], UseKind.TRAINING)
    assert (use.root, use.outcome, use.dropped) == (root, UseOutcome.DROPPED, {"consent_withdrawn": 1})
    assert store.manifests.version(version).parent == root
    learned = at_use.trained(version, [rows[1].digest()])
    assert store.manifests.version(learned).exclusions == {"consent_withdrawn": 1, "rejected_by_trainer": 1}
    assert at_use.trained(learned, [rows[1].digest()]) == learned
    assert store.manifests.problems(learned) == []


@pytest.mark.parametrize("how", ["withdrawal", "objection", "erasure", "unlawful"])
def test_what_was_lost_since_stops_a_release_at_gate_and_promotion(
    opened: Opened, clock: ManualClock, how: str
) -> None:
    store, at_use = opened(DEFAULT)
    made = released(store, at_use)
    assert at_use.of_candidate(made).outcome is UseOutcome.WENT_ON
    clock.advance(DAY)
    if how == "erasure":
        store.erasable().erase("acme", ANN)
    elif how == "unlawful":
        now = clock.now()
        store.rights.add_facts([rights_fact(FactKind.UNLAWFUL, ANN, valid_from=now, recorded_at=now)])
    else:
        leaves(store, clock, ANN, ConsentStatus.OBJECTED if how == "objection" else ConsentStatus.WITHDRAWN)
    found = at_use.of_candidate(made)
    assert found.outcome is UseOutcome.STOPPED
    assert sum(found.dropped.values()) == 1
    assert "1 of 3 rows may not be trained on now" in found.reasons[0]


def test_by_policy_it_goes_on_until_the_deadline_that_counts_from_the_loss(opened: Opened, clock: ManualClock) -> None:
    store, at_use = opened(DEFAULT.model_copy(update={"rebuild": GOES_ON}))
    made = released(store, at_use)
    clock.advance(DAY)
    left = clock.now()
    leaves(store, clock, ANN)
    clock.advance(20 * DAY)
    leaves(store, clock, BEN, ConsentStatus.OBJECTED)
    found = at_use.of_candidate(made)
    assert (found.outcome, found.deadline) == (UseOutcome.PENDING_REBUILD, left + 30 * DAY)
    at_use.note(UseKind.PROMOTION, found)
    (use,) = store.manifests.uses(kind=UseKind.PROMOTION)
    assert (use.outcome, use.deadline, use.target) == (
        UseOutcome.PENDING_REBUILD,
        left + 30 * DAY,
        made.release.digest(),
    )
    clock.advance(10 * DAY)
    assert at_use.of_candidate(made).outcome is UseOutcome.STOPPED
    assert at_use.of_champion(made).outcome is UseOutcome.STOPPED


def test_a_reason_that_the_policy_does_not_name_stops_the_others_too(opened: Opened, clock: ManualClock) -> None:
    store, at_use = opened(DEFAULT.model_copy(update={"rebuild": GOES_ON}))
    made = released(store, at_use)
    clock.advance(DAY)
    leaves(store, clock, ANN)
    leaves(store, clock, BEN, ConsentStatus.REFUSED)
    assert at_use.of_candidate(made).outcome is UseOutcome.STOPPED


def test_a_champion_has_a_deadline_and_what_the_floor_names_ends_at_once(opened: Opened, clock: ManualClock) -> None:
    store, at_use = opened(DEFAULT)
    made = released(store, at_use)
    clock.advance(DAY)
    leaves(store, clock, ANN)
    assert at_use.of_champion(made).outcome is UseOutcome.PENDING_REBUILD
    now = clock.now()
    store.rights.add_facts([rights_fact(FactKind.UNLAWFUL, BEN, valid_from=now, recorded_at=now)])
    assert at_use.of_champion(made).outcome is UseOutcome.STOPPED


def test_a_release_without_an_adapter_learned_from_nobody(opened: Opened) -> None:
    _, at_use = opened(DEFAULT)
    found = at_use.of_candidate(bundle())
    assert (found.outcome, found.reasons, found.datasets) == (UseOutcome.WENT_ON, (), ())


def test_the_deadline_itself_is_too_late() -> None:
    terms = RebuildTerms(goes_on=(Reason.MINOR,), days=2, in_service=InService.AT_ONCE)
    just = T0 + 2 * DAY - timedelta(microseconds=1)
    assert rebuilds.of_candidate({"minor": 1}, T0, just, terms).outcome is UseOutcome.PENDING_REBUILD
    assert rebuilds.of_candidate({"minor": 1}, T0, T0 + 2 * DAY, terms).outcome is UseOutcome.STOPPED
    assert rebuilds.of_champion({"minor": 1}, T0, just, terms).outcome is UseOutcome.STOPPED
    assert rebuilds.of_champion({}, None, just, terms).outcome is UseOutcome.WENT_ON


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[rebuild]\ngoes_on = ["suppressed"]', "goes_on is a list of"),
        ('[rebuild]\ngoes_on = "minor"', "goes_on is a list of"),
        ("[rebuild]\ndays = 31", "from 1 to 30"),
        ("[rebuild]\ndays = true", "from 1 to 30"),
        ('[rebuild]\nwhen_over = "wait"', "when_over is one of roll_back, suspend"),
        ("[rebuild]\nmoon = 1", "unknown key 'moon'"),
        ("rebuild = 1", "[rebuild]: must be a table"),
        ('[assessment]\nrequired = "no"', "required is true or false"),
        ("[assessment]\ntenants = { harbor = 1 }", "tenants names tenants"),
    ],
)
def test_a_policy_cannot_go_below_the_floor(text: str, says: str) -> None:
    rules, _, _ = DEFAULT_FILE.read_text().partition("# ---- weights")
    top, table = (text, "") if text.startswith("rebuild") else ("", text)
    with pytest.raises(PolicyError) as error:
        parse_policy(f"{top}\n{rules}\n{table}", "here")
    assert says in str(error.value)
    assert "here: [" in str(error.value)


def test_a_policy_without_the_tables_has_the_stricter_values() -> None:
    rules, _, _ = DEFAULT_FILE.read_text().partition("# ---- weights")
    plain = parse_policy(rules, "here")
    assert (plain.rebuild, plain.assessment, plain.version) == (DEFAULT.rebuild, DEFAULT.assessment, DEFAULT.version)
    text = rules + '[rebuild]\ngoes_on = ["objected"]\ndays = 7\n[assessment]\nrequired = false\n'
    changed = parse_policy(text, "here")
    assert (changed.rebuild.goes_on, changed.rebuild.days) == ((Reason.OBJECTED,), 7)
    assert changed.version != plain.version
    assert changed.assessment.required_of("anybody") is False


def test_a_loss_that_only_the_policy_says_counts_from_when_it_was_noted(
    database_url: str, clock: ManualClock, ids: SeededIds
) -> None:
    """Under a policy that changed nothing says when: the deadline does not move with each look."""
    rule = RightsRule(reason=Reason.NO_GRANT, when={"consent": ("given",)})
    strict = DEFAULT.model_copy(update={"rules": (*DEFAULT.rules, rule)})
    store = Store.open(database_url, clock=clock, block_key=block_key, ids=ids)
    made = released(store, RightsAtUse(store, clock, ids))
    store.close()
    store = Store.open(database_url, clock=clock, block_key=block_key, ids=ids, policy=strict)
    at_use = RightsAtUse(store, clock, ids)
    clock.advance(5 * DAY)
    noted = clock.now()
    found = at_use.of_champion(made)
    assert (found.outcome, found.lost_at) == (UseOutcome.PENDING_REBUILD, noted)
    at_use.note(UseKind.SERVICE, found)
    clock.advance(30 * DAY)
    later = at_use.of_champion(made)
    assert (later.outcome, later.lost_at) == (UseOutcome.STOPPED, noted)
    store.close()
