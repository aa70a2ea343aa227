"""What people ask about their data, on the command line: copies, corrections, rest, deadlines, certificates."""

from __future__ import annotations

import json
import shutil
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.records.message import Role, text_message
from governance.records.rights import (
    CONSENT_IRI,
    PURPOSE_IRI,
    Basis,
    ConsentStatus,
    Contract,
    Purpose,
    PurposeTerm,
    Reason,
)
from governance.records.trajectory import Actor, Trajectory, Turn
from pipelines.cli import main
from pipelines.ground import Ground
from pipelines.settings import load_settings
from pipelines.tenant_keys import TenantKeys
from pipelines.wiring import Mill

RUN = f"t/{1:032x}"
SAID = "please send the blue lamp to my old address"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a tenant under a contract, and one run of each of two customers."""
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    TenantKeys(load_settings().keys / "tenants.json").of("t")
    with Mill(load_settings()) as mill:
        now = mill.clock.now()
        terms = tuple(
            PurposeTerm(purpose=purpose, basis=Basis.LEGITIMATE_INTEREST)
            for purpose in (Purpose.DEBUG, Purpose.TRAIN_WEIGHTS)
        )
        mill.store.rights.add_contract(Contract(id="c", tenant_id="t", terms=terms, valid_from=now, recorded_at=now))
        for number in (1, 2):
            turn = Turn(actor=Actor.CUSTOMER, message=text_message(Role.USER, SAID), span_id=f"{number:016x}", at=now)
            mill.store.trajectories.put(
                Trajectory(
                    tenant_id="t", session_id="s", trace_id=f"{number:032x}",
                    subject=mill.door.subject("t", f"C-{number}"), agent_name="shop", started_at=now, ended_at=now,
                    turns=(turn,), calls=(),
                )
            )  # fmt: skip
    return tmp_path


def call(*words: str, person: str = "C-1\n", code: int = 0) -> Any:
    result = CliRunner().invoke(main, [*words, "--json"], input=person)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout.splitlines()[-1])


def reasons(run: str = RUN, person: str = "C-1") -> tuple[Reason, ...]:
    with Mill(load_settings()) as mill:
        row = ("t", mill.door.subject("t", person), run)
        found = mill.store.rights.row_verdicts(Purpose.TRAIN_WEIGHTS, [row], mill.clock.now())
        return found[row].reasons


def test_a_copy_holds_everything_of_the_person_and_nobody_else_can_read_it(home: Path) -> None:
    out = home / "copy.json"
    call("rights", "grant", "--tenant", "t", "--purpose", "debug")
    told = call("subject", "export", "--tenant", "t", "--out", str(out))
    assert told["held"]["trajectories"] == 1
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    copy = json.loads(out.read_text())
    assert copy["held"]["trajectories"][0]["turns"][0]["message"]["parts"][0]["text"] == SAID
    assert {one["subject"] for one in copy["held"]["trajectories"]} == {copy["subject"]}
    assert "C-1" not in out.read_text()
    (said,) = copy["held"]["consent_events"]
    assert (said["purpose_iri"], said["status_iri"]) == (PURPOSE_IRI[Purpose.DEBUG], CONSENT_IRI[ConsentStatus.GIVEN])
    assert "is there already" in call("subject", "export", "--tenant", "t", "--out", str(out), code=1)["error"]
    inside = str(home / "home" / "copy.json")
    assert "outside" in call("subject", "export", "--tenant", "t", "--out", inside, code=1)["error"]
    (asked,) = call("subject", "show", "--tenant", "t")["requests"]
    assert (asked["kind"], asked["closed_at"] is not None) == ("portability", True)


def test_of_an_unknown_person_nothing_is_held(home: Path) -> None:
    out = str(home / "nobody.json")
    assert call("subject", "show", "--tenant", "t", person="X\n")["message"] == "nothing is held of this person"
    told = call("subject", "export", "--tenant", "t", "--out", out, person="X\n")
    assert (told["message"], told["held"]) == ("nothing is held of this person", {})
    assert call("subject", "show", "--tenant", "t", person="X\n")["requests"] == [], "asking leaves nothing"
    wrong = call("subject", "rectify", "--tenant", "t", "--run", RUN, person="X\nnot so", code=1)
    assert "no trajectory" in wrong["error"]


def test_a_restriction_rests_all_uses_until_it_ends(home: Path) -> None:
    first = call("subject", "restrict", "--tenant", "t", "--reason", "case 7")
    assert reasons() == (Reason.RESTRICTED,)
    again = call("subject", "restrict", "--tenant", "t", "--reason", "case 7")
    assert (again["facts"], again["message"]) == (first["facts"], "is restricted already")
    assert reasons(f"t/{2:032x}", "C-2") == (Reason.ALLOWED,)
    assert call("subject", "unrestrict", "--tenant", "t")["message"] == "unrestricted"
    assert reasons() == (Reason.ALLOWED,)
    assert call("subject", "unrestrict", "--tenant", "t")["message"] == "was not restricted"


def test_a_correction_is_recorded_and_what_was_wrong_is_used_no_further(home: Path) -> None:
    told = call("subject", "rectify", "--tenant", "t", "--run", RUN, person="C-1\nthe new address, since May\n")
    assert reasons() == (Reason.RESTRICTED,)
    assert call("subject", "unrestrict", "--tenant", "t")["message"] == "was not restricted", "the run stays so"
    with Mill(load_settings()) as mill:
        (said,) = [
            one.current
            for one in mill.store.feedback.list(
                Purpose.COMPLY, ["t"], mill.clock.now() - timedelta(days=1), mill.clock.now() + timedelta(days=1)
            ).rows
        ]
    assert (said.kind.value, said.content) == ("correction", "the new address, since May")
    assert told["request"]
    assert "below the person's id" in call("subject", "rectify", "--tenant", "t", "--run", RUN, code=1)["error"]


def test_an_erasure_waits_for_another_person_with_its_deadline_and_fails_when_overdue(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMILL_ERASURE_FOUR_EYES", "true")
    assert call("subject", "erase", "--tenant", "t", code=1)["kind"] == "ApprovalMissing"
    listed = call("subject", "list")
    ((waiting,), days) = (listed["open"], listed["open"][0]["days_left"])
    assert (waiting["kind"], waiting["overdue"], days in {29, 30}) == ("erasure", False, True)
    assert reasons() == (Reason.ALLOWED,), "nothing happens before"
    with Mill(load_settings()) as mill:
        late = mill.clock.now() + timedelta(days=31)
    monkeypatch.setattr("governance.ports.clock.SystemClock.now", lambda _: late)
    assert call("subject", "list", code=1)["overdue"] == [waiting["id"]]
    assert call("subject", "list", "--tenant", "t", code=1)["overdue"]


def test_a_certificate_is_printed_and_verified(home: Path) -> None:
    told = call("subject", "erase", "--tenant", "t")
    assert (told["remaining"], told["weights"]) == (0, "never_trained")
    found = call("subject", "certificate", told["request"], "--verify")
    assert found["verified"] is True
    store = next(one for one in found["searched"] if one["place"] == "store")
    assert (store["found_before"] > 0, store["found_after"]) == (True, 0)
    assert call("subject", "list")["open"] == []
    assert call("subject", "certificate", "nothing", code=1)["kind"] == "NotFound"
    (load_settings().keys / "signing.key").unlink()
    assert "not trusted" in call("subject", "certificate", told["request"], "--verify", code=1)["error"]
    key = found["signature"]["public_key"]
    assert call("subject", "certificate", told["request"], "--verify", "--trust", key)["verified"] is True


def test_a_home_that_is_restored_from_a_backup_learns_of_the_erasure(home: Path) -> None:
    with Mill(load_settings()) as mill:
        mill.store.settle()
    shutil.copytree(home / "home", home / "backup")
    told = call("subject", "erase", "--tenant", "t")
    certificate = call("subject", "certificate", told["request"])
    shutil.rmtree(home / "home")
    shutil.copytree(home / "backup", home / "home")
    again = call("subject", "show", "--tenant", "t")
    assert again["message"] == "nothing is held of this person", "opening the database was enough"
    assert call("subject", "certificate", told["request"], "--verify")["signature"] == certificate["signature"]
    with Mill(load_settings()) as mill:
        events = [one for one in mill.store.audit.list("t") if one.action == "erasure_replayed"]
        assert [one.detail["held"] for one in events] == [{"store": 1}]
        assert mill.store.trajectories.subjects([RUN, f"t/{2:032x}"]).keys() == {f"t/{2:032x}"}
    call("subject", "show", "--tenant", "t")
    with Mill(load_settings()) as mill:
        assert len([one for one in mill.store.audit.list("t") if one.action == "erasure_replayed"]) == 1


def test_a_hold_stops_the_replay_of_an_erasure_until_it_ends(home: Path) -> None:
    held = ("rights", "fact", "add", "--tenant", "t", "--kind", "hold", "--reason", "case 7")
    call(*held)
    with Mill(load_settings()) as mill:
        (hold,) = mill.store.rights.facts("t")
        mill.store.settle()
    shutil.copytree(home / "home", home / "backup")
    call("rights", "fact", "end", hold.id, "--tenant", "t")
    told = call("subject", "erase", "--tenant", "t")
    shutil.rmtree(home / "home")
    shutil.copytree(home / "backup", home / "home")
    for _ in range(2):
        with Mill(load_settings()) as mill:
            mill.learn_of_erasures()
            assert mill.store.trajectories.subjects([RUN]), "held is not deleted"
            assert mill.store.rights.is_suppressed("t", mill.door.subject("t", "C-1")), "and not used"
            assert mill.store.erasures.ids() == set()
            named = [one.detail["holds"] for one in mill.store.audit.list("t") if one.action == "erasure_replay_held"]
            assert named == [[hold.id]], "named once"
    call("rights", "fact", "end", hold.id, "--tenant", "t")
    with Mill(load_settings()) as mill:
        mill.learn_of_erasures()
        assert not mill.store.trajectories.subjects([RUN])
        assert mill.store.erasures.ids() == {told["request"]}


def test_a_restored_home_is_erased_in_every_place_and_counts_as_erased_only_then(home: Path) -> None:
    with Mill(load_settings()) as mill:
        subject = mill.door.subject("t", "C-1")
        others = mill.store.trajectories.some([f"t/{2:032x}"], Purpose.COMPLY)[0]
        turn = others.turns[0].model_copy(update={"message": text_message(Role.USER, "another text altogether here")})
        mill.store.trajectories.put(others.model_copy(update={"turns": (turn,)}))
        mill.store.settle()
    logs = home / "home" / "dagster" / "logs"
    logs.mkdir(parents=True)
    (logs / "hash.txt").write_text(f"row of {subject}")
    (logs / "words.txt").write_text(f"answered: {SAID}")
    shutil.copytree(home / "home", home / "backup")
    told = call("subject", "erase", "--tenant", "t")
    assert (told["remaining"], list(logs.iterdir())) == (0, [])
    shutil.rmtree(home / "home")
    shutil.copytree(home / "backup", home / "home")
    with Ground(load_settings()) as ground:
        assert ground.store.rights.is_suppressed("t", subject)
        assert ground.store.erasures.ids() == set(), "the data is there still"
    assert len(list(logs.iterdir())) == 2
    assert call("subject", "show", "--tenant", "t")["message"] == "nothing is held of this person"
    assert list(logs.iterdir()) == []
    with Mill(load_settings()) as mill:
        assert mill.store.erasures.ids() == {told["request"]}
        (replayed,) = [one for one in mill.store.audit.list("t") if one.action == "erasure_replayed"]
        assert replayed.detail["held"] == {"store": 1, "files of the data home": 1}
