"""``tidemill feedback``: list, show and add, and what a refusal looks like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from governance.door import Door
from governance.records.rights import Purpose
from ingestion.envelope import Envelope
from ingestion.otlp_decode import JSON
from pipelines.cli import main
from pipelines.ground import Ground
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.ingestion.otlp_bodies import MailMasker, body
from tests.ingestion.test_drain import run_of
from tests.pipelines.test_ingest import contract, home  # noqa: F401 - a fixture

TRACE = "a" * 32
VOTE: dict[str, Any] = {
    "id": "vote-1",
    "kind": "thumbs",
    "value": 1,
    "trace_id": TRACE,
    "comment": "to bob@example.org",
}


@pytest.fixture
def mill(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:  # noqa: F811
    monkeypatch.setattr(Ground, "door", property(lambda self: Door(self.store, MailMasker(), self.keys, self.clock)))
    with Mill(load_settings()) as mill:
        contract(mill)
        mill.spool.append("acme", Envelope(content_type=JSON, received_unix_nano=1, body=body(*run_of(TRACE))).pack())
        mill.drain(patient=False).run()
        yield mill


def call(*words: str, status: int = 0, stdin: Any = None) -> dict[str, Any]:
    given = None if stdin is None else stdin if isinstance(stdin, str) else json.dumps(stdin)
    done = CliRunner().invoke(main, ["feedback", *words, "--json"], input=given)
    assert done.exit_code == status, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_feedback_is_added_listed_and_shown_with_its_history(mill: Mill) -> None:
    mill.spool.close()
    assert call("add", "--tenant", "acme", stdin=VOTE)["accepted"] == ["vote-1"]
    call("add", "--tenant", "acme", stdin={**VOTE, "value": -1})
    listed = call("list", "--tenant", "acme")
    (one,) = listed["feedback"]
    assert (one["id"], one["value"], one["changes"], one["joined_to"]) == ("vote-1", -1.0, 1, [f"acme/{TRACE}"])
    assert one["comment"] == "to user15@masked.invalid"
    for name in ("vote-1", one["key"][:12]):
        shown = call("show", name, "--tenant", "acme")
        assert (shown["current"]["value"], [said["value"] for said in shown["earlier"]]) == (-1.0, [1.0])
        assert shown["subject"] == mill.door.subject("acme", "ann@example.org")
    assert mill.store.trajectories.get(f"acme/{TRACE}", Purpose.DEBUG).outcome.value == "failure"


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (("show", "nothing", "--tenant", "acme"), None, "no feedback of acme under 'nothing'"),
        (("list", "--tenant", "nobody"), None, "no tenant 'nobody'"),
        (("add", "--tenant", "acme"), "{", "not one JSON value"),
    ],
)
def test_a_failure_says_why(mill: Mill, words: tuple[str, ...], stdin: str | None, said: str) -> None:
    assert said in call(*words, status=1, stdin=stdin)["error"]


def test_an_item_that_is_refused_fails_the_command_and_no_neighbour(mill: Mill) -> None:
    mill.spool.close()
    told = call("add", "--tenant", "acme", status=1, stdin=[VOTE, {**VOTE, "id": "vote-2", "value": 0}])
    assert told["accepted"] == ["vote-1"]
    assert told["rejected"] == [{"position": 1, "field": "value", "reason": "must be 1 or -1"}]
    assert len(call("list", "--tenant", "acme")["feedback"]) == 1


def test_what_may_not_be_seen_is_counted(mill: Mill) -> None:
    mill.spool.close()
    call("add", "--tenant", "acme", stdin={**VOTE, "trace_id": "b" * 32})
    assert call("list", "--tenant", "acme") == {"feedback": [], "of": 0, "not_shown": {"unknown_subject": 1}}
    assert "unknown_subject" in call("show", "vote-1", "--tenant", "acme", status=1)["error"]


def test_who_leaves_takes_what_they_said_and_what_was_said_of_their_runs(mill: Mill) -> None:
    mill.spool.close()
    theirs = [VOTE, {**VOTE, "id": "vote-2", "trace_id": "c" * 32, "user_id": "ann@example.org"}]
    others = {**VOTE, "id": "vote-3", "trace_id": "c" * 32, "user_id": "bob@example.org"}
    call("add", "--tenant", "acme", stdin=[*theirs, others])
    assert len(call("list", "--tenant", "acme")["feedback"]) == 3

    def subject(*words: str) -> dict[str, Any]:
        done = CliRunner().invoke(main, ["subject", *words, "--tenant", "acme", "--json"], input="ann@example.org\n")
        assert done.exit_code == 0, done.output
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    before = subject("show")
    erased = subject("erase")
    assert (erased["remaining"], before != subject("show")) == (0, True)
    assert [one["id"] for one in call("list", "--tenant", "acme")["feedback"]] == ["vote-3"]
    assert mill.store.erasable().count("acme", mill.door.subject("acme", "ann@example.org")) == 0


@pytest.mark.parametrize("name", ["list", "show", "add"])
def test_help_has_an_example(name: str) -> None:
    done = CliRunner().invoke(main, ["feedback", name, "--help"])
    assert (done.exit_code, "Example: tidemill feedback" in done.output) == (0, True)
