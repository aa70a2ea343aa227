"""The table of acts: which roles may do what."""

from __future__ import annotations

import pytest

from governance.policy.acts import ACTS, COMMANDS, UNNAMED, act_of
from governance.records.principal import HUMAN_ROLES, Role

REVIEWERS = {Role.REVIEWER, Role.ADMIN}


@pytest.mark.parametrize("name", ACTS)
def test_an_act_is_open_or_the_services_or_peoples(name: str) -> None:
    act = ACTS[name]
    assert act.open or act.services or set(act.roles) <= set(HUMAN_ROLES)
    assert not (act.open and act.changes), "what nobody has to answer for changes nothing"
    assert len(set(act.roles)) == len(act.roles)


def test_what_the_table_does_not_name_is_an_admins_and_is_written_down() -> None:
    assert act_of("rights sell") == UNNAMED == ((Role.ADMIN,), True)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith(("subject", "pii look", "rights fact"))])
def test_what_shows_or_changes_peoples_data_is_a_reviewers(name: str) -> None:
    assert set(COMMANDS[name].roles) <= REVIEWERS


@pytest.mark.parametrize("name", ["tenant keys add", "keys rotate", "principal add", "principal revoke"])
def test_keys_and_principals_are_an_admins(name: str) -> None:
    assert COMMANDS[name] == UNNAMED
