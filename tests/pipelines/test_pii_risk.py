"""``tidemill pii risk``: rows are shown to named reviewers only, what they say is numbers, and people are counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from governance.masking.risk import in_order
from governance.records.rights import Purpose
from pipelines.cli import main
from pipelines.pii.quasi import flat, people
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.governance.store_records import T1, manifest, person, row, trajectory


class Letters:
    """A tokenizer of one id a letter."""

    def decode(self, ids: list[int], **options: bool) -> str:
        assert not any(options.values()), "a row is shown whole, as it is trained on"
        return "".join(map(chr, ids))


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mill]:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    monkeypatch.setattr(Mill, "tokenizer", Letters())
    with Mill(load_settings()) as opened:
        yield opened


@pytest.fixture
def root(mill: Mill) -> str:
    verdict = mill.store.rights.verdict(Purpose.COMPLY, "acme", person(1), T1)
    runs = [
        trajectory(
            number, subject=person(number),
            calls=(trajectory(number, subject=person(number)).calls[0].model_copy(
                update={"arguments": {"city": "Oslo" if number < 4 else "Rome", "order_id": f"O-{number}"}}),),
        )
        for number in range(1, 6)
    ]  # fmt: skip
    mill.store.trajectories.put_all(runs)
    rows = [row(run, verdict) for run in runs]
    made = manifest(rows)
    mill.store.datasets.put(made, rows, [])
    return made.root


def told(*words: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["pii", *words, "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.output.splitlines()[-1])
    return found


def test_from_a_sample_to_a_rate(mill: Mill, root: str) -> None:
    first = told("risk", root[:12], "--sample", "3")
    assert (first["dataset"], first["to_review"]) == (root, 3)
    assert first["leak_rate"]["value"] is None
    rows = [source.digest for source in mill.store.datasets.sources(root)]
    assert first["next"] == in_order(root, rows)[:3]
    seen = told("look", root[:12], first["next"][0][:16], "--reviewer", "r-17")
    assert seen["text"].startswith("please refund order")
    told("mark", root[:12], first["next"][0], "--reviewer", "r-17", "--leak", "PERSON=2")
    after = told("mark", root, first["next"][1], "--reviewer", "r-17", "--clean")["leak_rate"]
    assert (after["sample"], after["leaking"], after["leaks"]) == (2, 1, {"PERSON": 2})
    assert after["interval"]["low"] < 0.5 < after["interval"]["high"]
    assert told("risk", root, "--sample", "3")["to_review"] == 1


def test_a_look_is_in_the_audit_before_anything_is_opened(
    mill: Mill, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = mill.store.datasets.sources(root)[0].digest
    monkeypatch.setattr("governance.store.datasets.Datasets.row", lambda *_: 1 / 0)
    CliRunner().invoke(main, ["pii", "look", root, digest, "--reviewer", "r-17"])
    *_, event = mill.store.audit.list("acme")
    assert (event.actor, event.action) == ("r-17", "view_dataset_row")
    assert event.target.startswith("dataset_row:hmac-sha256:"), "a row is a person's"


def test_people_are_counted_over_what_tools_were_told(mill: Mill, root: str) -> None:
    found = told("risk", root, "--k", "3")["k_anonymity"]
    assert (found["fields"], found["people"], found["smallest"], found["under_k"]) == (["city"], 5, 2, 2)
    assert found["steps"] == [{"field": "city", "level": 1, "example": "*", "under_k": 0}]
    assert told("risk", root, "--quasi", "shoe_size")["k_anonymity"]["fields"] == []
    assert "trajectories" in {event.target for event in mill.store.audit.list("acme")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("risk", "zz"), "0 datasets begin"),
        (("look", "ROOT", "zz", "--reviewer", "r"), "0 rows of dataset"),
        (("mark", "ROOT", "", "--reviewer", "r", "--clean"), "0 rows of dataset"),
        (("mark", "ROOT", "ROW", "--reviewer", "r", "--leak", "person=1"), "leaks"),
        (("mark", "ROOT", "ROW", "--reviewer", "r", "--leak", "PERSON=0"), "leaks.PERSON"),
        (("mark", "ROOT", "ROW", "--reviewer", "r", "--leak", "PERSON"), "must be TYPE=COUNT"),
        (("mark", "ROOT", "ROW", "--reviewer", "r"), "either --clean or --leak"),
        (("mark", "ROOT", "ROW", "--reviewer", " ", "--clean"), "reviewer"),
    ],
)
def test_what_is_wrong_is_named(mill: Mill, root: str, words: tuple[str, ...], said: str) -> None:
    names = {"ROOT": root, "ROW": mill.store.datasets.sources(root)[0].digest}
    result = CliRunner().invoke(main, ["pii", *(names.get(word, word) for word in words)])
    assert result.exit_code != 0
    assert said in result.output
    assert mill.store.row_reviews.of(root) == ()


def test_a_table_with_people_who_stand_alone_fails_and_says_what_helps() -> None:
    rows = [{"city": "Oslo", "birth_year": 1980 + number % 3, "name": "Ann"} for number in range(9)]
    data = "\n".join(map(json.dumps, rows))
    result = CliRunner().invoke(main, ["pii", "anonymity", "--json", "--k", "5"], input=data)
    found = json.loads(result.output)
    assert (result.exit_code, found["ok"], found["smallest"], found["fields"]) == (1, False, 3, ["birth_year", "city"])
    assert found["steps"] == [{"field": "birth_year", "level": 1, "example": "1980s", "under_k": 0}]
    assert "Oslo" not in result.output
    assert CliRunner().invoke(main, ["pii", "anonymity", "--k", "3"], input=data).exit_code == 0
    bad = CliRunner().invoke(main, ["pii", "anonymity"], input=data + "\n[]")
    assert "line 10: not an object" in bad.output


@given(st.dictionaries(st.sampled_from(["city", "zip", "note"]), st.text(min_size=1, max_size=5), max_size=3))
def test_a_field_is_found_wherever_it_stands(leaf: dict[str, str]) -> None:
    there = {"a": [{"profile": json.dumps({"deep": leaf}), "n": None}]}
    assert flat([there], ["city", "zip"]) == flat([leaf], ["city", "zip"])
    run = trajectory(1, subject=person(1))
    call = run.calls[0].model_copy(update={"arguments": None, "result": there})
    found = people([run.model_copy(update={"calls": (call, call)})], ["City", "ZIP"])
    assert found == [one for one in flat([leaf], ["city", "zip"]) if one]
