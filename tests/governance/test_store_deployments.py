"""The deployment table is the truth: what served when, and what may serve."""

from __future__ import annotations

from datetime import timedelta

import pytest

from governance.errors import Conflict, NotFound, PurposeDenied
from governance.store import Store
from tests.governance.store_records import adapter, bundle, fact
from tests.support.clock import ManualClock


def test_which_release_answered_at_a_past_moment(store: Store, clock: ManualClock) -> None:
    """REG-03."""
    assert store.deployments.current("shop@acme") is None
    first, second = bundle(), bundle(weights=adapter("1" * 64), facts=(fact(),))
    for version, release in enumerate((first, second)):
        store.releases.put(release, None, "test")
        store.deployments.switch("shop@acme", version, release.release.digest(), "better", "manager")
        clock.advance(hours=1)
    rolled = store.deployments.switch("shop@acme", 2, first.release.digest(), "rollback", "manager")
    assert rolled.previous_digest == second.release.digest()
    assert store.deployments.at("shop@acme", clock.now()) == rolled
    answered = store.deployments.at("shop@acme", clock.now() - timedelta(minutes=29))
    assert answered is not None
    assert store.releases.get(answered.release_digest) == second
    assert store.deployments.at("shop@acme", store.deployments.history("shop@acme")[0].at.replace(year=2000)) is None
    assert store.deployments.scopes() == ("shop@acme",)


def test_the_slower_promoter_gets_a_conflict(store: Store) -> None:
    digest = bundle().release.digest()
    store.deployments.switch("shop@acme", 0, digest, "first", "a")
    with pytest.raises(Conflict, match="version 1, not at 0"):
        store.deployments.switch("shop@acme", 0, digest, "first", "b")


def test_a_tainted_release_is_never_promoted(store: Store) -> None:
    release = bundle()
    digest = release.release.digest()
    store.releases.put(release, "0" * 64, "candidate")
    store.releases.taint(digest, "unlawful source")
    store.releases.put(release, None, "again")
    assert store.releases.tainted() == {digest}
    assert store.releases.origin(digest) == ("0" * 64, "candidate")
    assert store.releases.list() == (release,)
    with pytest.raises(PurposeDenied, match="unlawful source"):
        store.deployments.switch("shop@acme", 0, digest, "try", "manager")


def test_retired_is_a_state(store: Store) -> None:
    ref = adapter("1" * 64)
    store.adapters.put(ref, "adapters/one", {"logprobs": [-0.5]})
    assert store.adapters.get(ref.content_digest) == (ref, "adapters/one", {"logprobs": [-0.5]})
    assert store.adapters.state(ref.content_digest) == "active"
    store.adapters.retire(ref.content_digest, "erasure")
    store.adapters.put(ref, "adapters/two", {})
    assert store.adapters.state(ref.content_digest) == "retired"
    assert store.adapters.list() == (ref,)
    for missing in (store.adapters.get, store.adapters.state, store.releases.get, store.releases.origin):
        with pytest.raises(NotFound):
            missing("9" * 64)
