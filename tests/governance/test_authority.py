"""Who may act: tokens shown once and kept as digests, roles, tenants, and refusals that are written down."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from threading import Barrier, BrokenBarrierError, Thread

import pytest
from sqlalchemy import inspect, select

from governance.acting import INSTALLATION
from governance.authority import NOBODY, PREFIX, Authority
from governance.errors import Conflict, NotFound, RecordError, RoleDenied, TokenRefused
from governance.policy.audit_chain import faults
from governance.records.principal import Role, local_owner
from governance.store import Store, schema
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

OWNER = local_owner(7)
DAY = timedelta(days=1)


@pytest.fixture
def authority(store: Store, clock: ManualClock, ids: SeededIds) -> Authority:
    return Authority(store, clock, ids)


@pytest.fixture
def admin(authority: Authority) -> str:
    """The token of an admin, the first principal."""
    return authority.enrol("a-1", (Role.ADMIN,), None, None)[1]


def refusals(store: Store) -> list[tuple[str, str, str]]:
    events = [event for event in store.audit.list(INSTALLATION) if event.action == "act_refused"]
    return [(event.actor, event.target.removeprefix("act:"), event.detail["error"]) for event in events]


def test_without_a_principal_the_local_owner_acts_in_every_role_by_name(authority: Authority) -> None:
    for name, role in (("rights grant", Role.REVIEWER), ("cycle", Role.ENGINEER), ("keys rotate", Role.ADMIN)):
        who = authority.who(name, "acme", None, OWNER)
        assert (who.principal.name, who.role) == ("local-owner-7", role)


def test_another_account_is_not_the_owner(authority: Authority, store: Store) -> None:
    with pytest.raises(TokenRefused, match="another account"):
        authority.who("cycle", None, None, None)
    assert refusals(store) == [(NOBODY, "cycle", "TokenRefused")]


def test_from_the_first_principal_on_an_act_needs_a_token(authority: Authority, admin: str, store: Store) -> None:
    with pytest.raises(TokenRefused, match="TIDEMILL_TOKEN"):
        authority.who("rights grant", "acme", None, OWNER)
    assert authority.who("rights grant", "acme", admin, OWNER).principal.name == "a-1"
    assert refusals(store) == [(NOBODY, "rights grant", "TokenRefused")]


def test_a_role_that_does_not_fit_is_refused_and_written_down(authority: Authority, admin: str, store: Store) -> None:
    _, secret = authority.enrol("e-1", (Role.ENGINEER,), None, None)
    assert authority.who("cycle", None, secret, None).role is Role.ENGINEER
    with pytest.raises(RoleDenied, match="reviewer or admin; e-1 is engineer"):
        authority.who("subject erase", "acme", secret, None)
    assert refusals(store) == [("e-1", "subject erase", "RoleDenied")]


def test_a_tenants_principal_acts_on_that_tenant_alone(authority: Authority, admin: str) -> None:
    _, secret = authority.enrol("r-1", (Role.REVIEWER,), ("acme",), None)
    assert authority.who("rights grant", "acme", secret, None).principal.name == "r-1"
    for tenant in ("bolt", None):
        with pytest.raises(RoleDenied, match="may not act on"):
            authority.who("rights grant", tenant, secret, None)


def test_a_token_is_kept_as_its_digest_alone(authority: Authority, admin: str, store: Store) -> None:
    assert admin.startswith(PREFIX)
    assert len(admin) > 40
    with store.transaction():
        connection = store._kit.db._current
        assert connection is not None
        held = str(
            [
                list(connection.execute(select(schema.METADATA.tables[name])))
                for name in inspect(connection).get_table_names()
                if name in schema.METADATA.tables
            ]
        )
    assert "a-1" in held
    assert admin not in held
    assert admin.removeprefix(PREFIX) not in held


@pytest.mark.parametrize("wrong", ["", "tmp_", "x", "\udcff", "tmp_" + "A" * 43, "' or 1=1 --"])
def test_another_token_proves_nobody(authority: Authority, admin: str, wrong: str) -> None:
    with pytest.raises(TokenRefused, match="unknown"):
        authority.who("cycle", None, wrong, OWNER)


def test_a_token_ends(authority: Authority, admin: str, clock: ManualClock) -> None:
    _, secret = authority.enrol("e-1", (Role.ENGINEER,), None, clock.now() + DAY)
    assert authority.who("cycle", None, secret, None)
    clock.advance(DAY)
    with pytest.raises(TokenRefused, match="expired"):
        authority.who("cycle", None, secret, None)


def test_a_token_rotates_with_an_overlap(authority: Authority, admin: str, clock: ManualClock) -> None:
    new = authority.rotate("a-1", clock.now() + DAY, None)
    assert {authority.who("cycle", None, one, None).principal.name for one in (admin, new)} == {"a-1"}
    clock.advance(DAY)
    assert authority.who("cycle", None, new, None)
    with pytest.raises(TokenRefused):
        authority.who("cycle", None, admin, None)


def test_a_revoked_token_proves_nobody_and_the_name_stays(authority: Authority, admin: str, store: Store) -> None:
    _, secret = authority.enrol("e-1", (Role.ENGINEER,), None, None)
    assert len(authority.revoke("e-1")) == 1
    with pytest.raises(TokenRefused, match="revoked"):
        authority.who("cycle", None, secret, None)
    assert [one.name for one in store.principals.list()] == ["a-1", "e-1"]
    with pytest.raises(Conflict):
        authority.enrol("e-1", (Role.ENGINEER,), None, None)
    with pytest.raises(NotFound):
        authority.revoke("e-1", "00")


def test_the_first_principal_can_make_the_others(authority: Authority) -> None:
    for roles, tenants in (((Role.REVIEWER,), None), ((Role.ADMIN,), ("acme",))):
        with pytest.raises(RecordError, match="admin of all tenants"):
            authority.enrol("x-1", roles, tenants, None)


def test_nobody_is_locked_out(authority: Authority, admin: str, store: Store, clock: ManualClock) -> None:
    with pytest.raises(RecordError, match="last token of an admin"):
        authority.revoke("a-1")
    authority.rotate("a-1", clock.now(), clock.now() + DAY)
    clock.advance(DAY)
    with pytest.raises(TokenRefused):
        authority.who("cycle", None, None, OWNER)
    assert authority.who("principal rotate", None, None, OWNER).principal == OWNER


@pytest.mark.parametrize("name", ["tidemill", "local-owner-0", "Anna Kim", "", "a" * 65, "a\n"])
def test_names_are_handles_and_none_is_the_installations(authority: Authority, name: str) -> None:
    with pytest.raises(RecordError):
        authority.enrol(name, (Role.ADMIN,), None, None)


def test_what_happens_to_principals_is_in_the_audit(authority: Authority, admin: str, store: Store) -> None:
    authority.enrol("e-1", (Role.ENGINEER,), ("acme",), None)
    authority.rotate("e-1", store._kit.clock.now(), None)
    authority.revoke("e-1")
    acts = [(event.actor, event.action, event.target) for event in store.audit.list(INSTALLATION)]
    assert acts == [
        ("tester", "principal_added", "principal:a-1"),
        ("tester", "principal_added", "principal:e-1"),
        ("tester", "principal_rotated", "principal:e-1"),
        ("tester", "principal_revoked", "principal:e-1"),
    ]
    assert list(faults(store.audit.lines(INSTALLATION))) == []


def test_of_two_admins_who_end_each_other_at_once_one_stays(
    authority: Authority, admin: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority.enrol("a-2", (Role.ADMIN,), None, None)
    read, together = Authority._admin_tokens, Barrier(2)

    def slow(self: Authority, now: datetime) -> set[str]:
        found = read(self, now)
        with suppress(BrokenBarrierError):  # where they wait for each other, the second is not here yet
            together.wait(0.3)
        return found

    monkeypatch.setattr(Authority, "_admin_tokens", slow)
    refused: list[str] = []

    def revoke(name: str) -> None:
        try:
            authority.revoke(name)
        except RecordError:
            refused.append(name)

    both = [Thread(target=revoke, args=(name,)) for name in ("a-1", "a-2")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(refused) == 1
    assert [one.principal for one in store.principals.tokens() if one.revoked_at is None] == refused
