"""Who acts: bound once, read everywhere, and never more than what was bound."""

from __future__ import annotations

import threading

import pytest
from pydantic import ValidationError

from governance.acting import Acting, acting, acts_as, complying
from governance.errors import RoleDenied
from governance.records.principal import THE_SERVICE, Principal, PrincipalKind, Role, local_owner
from governance.records.rights import Purpose
from governance.store import Store
from tests.governance.store_records import T0, T1

SERVICE = Acting(THE_SERVICE, Role.SERVICE)


def person(*roles: Role, name: str = "r-17", tenants: tuple[str, ...] | None = None) -> Principal:
    return Principal(name=name, kind=PrincipalKind.PERSON, roles=roles, tenants=tenants)


def read(store: Store) -> object:
    return store.trajectories.list(Purpose.COMPLY, ["acme"], T0, T1).rows


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ADMIN])
def test_a_comply_read_names_who_read_and_in_which_role(store: Store, role: Role) -> None:
    with acts_as(Acting(person(role), role)):
        read(store)
    (event,) = store.audit.list("acme")
    assert (event.actor, event.role, event.action) == ("r-17", role, "read_for_comply")


@pytest.mark.parametrize("role", [Role.ENGINEER, Role.RELEASE_MANAGER])
def test_other_roles_may_not_read_for_comply(store: Store, role: Role) -> None:
    with acts_as(Acting(person(role), role)), pytest.raises(RoleDenied, match="r-17 acts as"):
        read(store)
    assert store.audit.list("acme") == ()


def test_a_person_with_more_roles_reads_in_the_one_that_they_act_in(store: Store) -> None:
    both = person(Role.ENGINEER, Role.REVIEWER)
    with acts_as(Acting(both, Role.ENGINEER)), pytest.raises(RoleDenied):
        read(store)


def test_the_service_reads_for_comply_only_on_a_duty_that_it_names(store: Store) -> None:
    with acts_as(SERVICE):
        with pytest.raises(RoleDenied):
            read(store)
        with complying("request 7"):
            read(store)
    (event,) = store.audit.list("acme")
    assert (event.actor, event.role, event.detail) == ("tidemill", "service", {"duty": "request 7"})


def test_the_service_says_on_whose_word_it_does_its_duty(store: Store) -> None:
    with acts_as(Acting(person(Role.ENGINEER), Role.ENGINEER)), complying("retention"), complying("audit"):
        read(store)
    (event,) = store.audit.list("acme")
    assert event.detail == {"duty": "audit", "asked_by": "r-17"}


def test_a_thread_that_nobody_bound_is_the_service_without_a_duty() -> None:
    seen: list[Acting] = []
    thread = threading.Thread(target=lambda: seen.append(acting()))
    with acts_as(Acting(person(Role.ADMIN), Role.ADMIN)):
        thread.start()
        thread.join()
    assert seen == [SERVICE]
    assert not seen[0].may_comply


def test_nobody_acts_in_a_role_that_they_do_not_hold() -> None:
    before = acting()
    with pytest.raises(RoleDenied, match="does not hold"), acts_as(Acting(person(Role.ENGINEER), Role.ADMIN)):
        pass
    assert acting() == before


@pytest.mark.parametrize(
    ("kind", "roles"),
    [
        (PrincipalKind.PERSON, ()),
        (PrincipalKind.PERSON, (Role.SERVICE,)),
        (PrincipalKind.PERSON, (Role.ADMIN, Role.ADMIN)),
        (PrincipalKind.SERVICE, (Role.SERVICE, Role.ADMIN)),
        (PrincipalKind.LOCAL_OWNER, (Role.SERVICE,)),
    ],
)
def test_roles_fit_the_kind(kind: PrincipalKind, roles: tuple[Role, ...]) -> None:
    with pytest.raises(ValidationError):
        Principal(name="x", kind=kind, roles=roles)


def test_the_local_owner_holds_every_human_role_and_is_named() -> None:
    owner = local_owner(1000)
    assert owner.name == "local-owner-1000"
    assert set(owner.roles) == set(Role) - {Role.SERVICE}


def test_a_tenants_principal_covers_no_other_tenant_and_nothing_of_all() -> None:
    bound = person(Role.REVIEWER, tenants=("acme",))
    assert [bound.covers(tenant) for tenant in ("acme", "bolt", None)] == [True, False, False]
