"""``tidemill pii``: what a line must be, what an answer is, and that a bad line costs no other."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import MaskingError
from governance.keys import DerivedKeyProvider
from governance.masking.presidio_masker import PresidioMasker
from governance.ports.masker import Finding, Masked, Masker
from governance.records.masking_policy import MaskingPolicy, PolicyFile
from pipelines.cli import main
from pipelines.errors import LineError
from pipelines.pii import scanning
from pipelines.pii.lines import Line, read_lines
from pipelines.pii.maskers import Opened, Rules, opened
from pipelines.pii.scanning import scan
from pipelines.settings import load_settings
from pipelines.wiring import Mill


class Stars(Masker):
    """Takes each ``@`` of a text for a personal value; fails on ``!``."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def mask(self, tenant_id: str, values: Sequence[Any]) -> list[Masked]:
        self.sizes.append(len(values))
        if "!" in values:
            raise MaskingError("a detector failed")
        return [self._one(value) for value in values]

    def mask_fields(self, tenant_id: str, row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
        raise NotImplementedError

    def _one(self, value: Any) -> Masked:
        text = value if isinstance(value, str) else ""
        found = [
            Finding(pointer="", start=at, end=at + 1, entity_type="AT", score=0.5, mention="m")
            for at, char in enumerate(text)
            if char == "@"
        ]
        return Masked(value=text.replace("@", "*"), findings=tuple(found))


def answers(data: str | bytes, masker: Masker | None = None) -> list[Any]:
    raw = data if isinstance(data, bytes) else data.encode()
    return [
        str(one) if isinstance(one, LineError) else one
        for one in scan(read_lines(io.BytesIO(raw)), masker or Stars(), "t")
    ]


def test_an_answer_has_places_and_no_values() -> None:
    (answer,) = answers('{"id": "a", "text": "x@y"}\n')
    assert answer == {
        "id": "a", "findings": [{"type": "AT", "start": 1, "end": 2, "score": 0.5}], "masked": "x*y",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "line 2: not JSON"),
        (b"\xff{}", "line 2: not UTF-8 at byte 1"),
        (b"[]", "line 2: not an object"),
        (b'{"id": 1, "id": 2, "text": "a"}', "line 2: a field occurs twice"),
        (b'{"id": 1, "json": NaN}', "line 2: not JSON: NaN"),
        (b'{"id": 1, "json": 1e999}', "line 2: a number is too large"),
        (b'{"id": 1, "json": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "line 2: nested too deeply"),
        (b'{"text": "a"}', "line 2: field 'id' must be"),
        (b'{"id": true, "text": "a"}', "line 2: field 'id' must be"),
        (b'{"id": 1}', "neither is there"),
        (b'{"id": 1, "text": "a", "json": null}', "both are there"),
        (b'{"id": 1, "text": 5}', "field 'text' must be a string"),
        (b'{"id": 1, "text": "a", "language": 5}', "field 'language' must be a string"),
        (b'{"id": 1, "text": "a", "lang": "en"}', "unknown field 'lang'"),
        (b'{"id": 1, "text": "!"}', "line 2: cannot be masked: a detector failed"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_costs_no_other(line: bytes, words: str) -> None:
    good = b'{"id": 1, "text": "@"}\n'
    first, wrong, last = answers(good + line + b"\n" + good)
    assert words in wrong
    assert first["masked"] == last["masked"] == "*"


def test_a_line_beyond_the_bound_is_skipped_to_its_end() -> None:
    data = b'{"id": 1, "text": "' + b"a" * 200 + b'"}\n{"id": 2}\n'
    long, short = read_lines(io.BytesIO(data), longest=100)
    assert str(long) == "line 1: longer than 100 bytes"
    assert short == Line(2, {"id": 2})


def test_memory_is_bounded_by_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    masker = Stars()
    read: list[int] = []

    def endless() -> Iterator[Line]:
        number = 0
        while True:
            number += 1
            read.append(number)
            yield Line(number, {"id": number, "text": "a" * 100})

    first = next(scan(endless(), masker, "t"))
    assert isinstance(first, dict)
    assert len(read) == scanning.BATCH
    monkeypatch.setattr(scanning, "CHARACTERS", 250)
    next(scan(endless(), masker, "t"))
    assert masker.sizes == [scanning.BATCH, 3]


@given(st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=40).map(str.encode))))
def test_any_bytes_give_one_object_or_error_for_each_line(chunks: list[bytes]) -> None:
    data = b"\n".join(chunks)
    seen = list(read_lines(io.BytesIO(data), longest=30))
    numbers = [one.number for one in seen]
    assert numbers == sorted(set(numbers))
    assert len(numbers) <= data.count(b"\n") + 1


@pytest.fixture
def stars(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(tenant: str | None, policy: Path | None) -> Iterator[Opened]:
        yield Opened(Stars(), "t", MaskingPolicy())

    monkeypatch.setattr("pipelines.pii.maskers.opened", opened)


LINES = '{"id": 1, "text": "@"}\n{"id": 2}\n{"id": 3, "text": "\\ud800"}\n'


def test_the_first_bad_line_ends_a_scan(stars: None) -> None:
    result = CliRunner().invoke(main, ["pii", "scan"], input=LINES)
    assert result.exit_code == 1
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == [1]
    assert "LineError: line 2" in result.stderr


def test_a_scan_that_keeps_going_answers_the_rest_and_fails(stars: None) -> None:
    result = CliRunner().invoke(main, ["pii", "scan", "-", "--keep-going", "--json"], input=LINES)
    assert result.exit_code == 1
    first, wrong, last = map(json.loads, result.stdout.splitlines())
    assert (wrong["line"], wrong["kind"]) == (2, "LineError")
    assert (first["masked"], last["masked"]) == ("*", "\ud800")
    assert "2 texts, 1 findings, 1 bad lines" in result.stderr


def test_a_scan_of_good_lines_succeeds(stars: None) -> None:
    result = CliRunner().invoke(main, ["pii", "scan"], input=LINES.splitlines()[0])
    assert result.exit_code == 0


@pytest.fixture(scope="module")
def masker() -> PresidioMasker:
    """The real one, loaded once."""
    return PresidioMasker(DerivedKeyProvider("pii commands"), policies=Rules(PolicyFile()))


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch, masker: PresidioMasker) -> None:
    @contextmanager
    def opened(tenant: str | None, policy: Path | None) -> Iterator[Opened]:
        yield Opened(masker, "t", MaskingPolicy())

    monkeypatch.setattr("pipelines.pii.maskers.opened", opened)


NAME, MAIL = "Clara Barlow", "clara.barlow@corp.example"


def test_a_real_scan_opens_json_and_hides_every_value(real: None) -> None:
    rows = [
        {"id": 1, "text": f"I am {NAME}, write to {MAIL}"},
        {"id": 2, "json": {"order": "SO-1234", "args": json.dumps({"email": MAIL}), "n": 2}, "language": "en"},
    ]
    result = CliRunner().invoke(main, ["pii", "scan", "--kept"], input="\n".join(map(json.dumps, rows)))
    assert result.exit_code == 0, result.output
    text, value = map(json.loads, result.stdout.splitlines())
    assert MAIL not in result.stdout
    assert NAME not in result.stdout
    places = {(rows[0]["text"][one["start"] : one["end"]], one["type"]) for one in text["findings"]}  # type: ignore[index]
    assert places >= {(NAME, "PERSON"), (MAIL, "EMAIL_ADDRESS")}
    (finding,) = value["findings"]
    assert (finding["pointer"], finding["start"], finding["end"]) == ("/args/email", 0, len(MAIL))
    assert value["masked"]["order"] == "SO-1234"
    assert json.loads(value["masked"]["args"])["email"] in text["masked"], "equal values have equal surrogates"


def test_a_real_evaluation_counts_places_of_every_kind(real: None, tmp_path: Path) -> None:
    said = f"I am {NAME}, write to {MAIL} about SO-1234"
    wrapped = json.dumps({"email": MAIL, "city": "Oslo"})
    rows = [
        {"id": 1, "text": said, "channel": "user", "language": "en",
         "labels": [{"type": "NAME", "start": 5, "end": 17}, {"type": "EMAIL_ADDRESS", "start": 28, "end": 53}],
         "keep": [{"start": said.index("SO-"), "end": len(said)}]},
        {"id": 2, "json": {"args": wrapped}, "channel": "tool",
         "labels": [{"type": "EMAIL_ADDRESS", "pointer": "/args/email"}], "keep": [{"pointer": "/args/city"}]},
        {"id": 3, "text": wrapped, "channel": "tool", "labels": [{"type": "EMAIL_ADDRESS", "start": 11, "end": 36}],
         "keep": [{"pointer": "/email"}]},
        {"id": 4, "text": "nothing here", "channel": "user", "labels": [{"type": "US_SSN", "start": 0, "end": 7}]},
    ]  # fmt: skip
    file = tmp_path / "labelled.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    names = tmp_path / "names.toml"
    names.write_text('[labels]\nNAME = "PERSON"\n')
    words = ["pii", "evaluate", str(file), "--rule", "exact", "--types", str(names), "--examples", "5"]
    result = CliRunner().invoke(main, [*words, "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    found = {kind: (one["recall"]["k"], one["recall"]["n"]) for kind, one in told["types"].items()}
    assert found == {"PERSON": (1, 1), "EMAIL_ADDRESS": (3, 3), "US_SSN": (0, 1)}
    assert (told["whole"]["damaged"]["k"], told["whole"]["damaged"]["n"]) == (1, 3)
    assert told["channels"]["tool"]["damaged"]["k"] == 1
    assert told["examples"]["missed"] == [{"id": 4, "line": 4, "start": 0, "end": 7, "kind": "US_SSN"}]
    assert told["examples"]["damaged"] == [{"id": 3, "line": 3, "pointer": "/email", "start": 0}]
    assert not told["types"]["US_SSN"]["recall"]["enough"]
    assert MAIL not in result.stdout
    shown = CliRunner().invoke(main, words).stdout
    assert "too few to say" in shown
    assert "n 3" in shown


def test_a_bad_line_of_labels_fails_an_evaluation_by_name(stars: None, tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"id": 1, "text": "@", "labels": []}\n{"id": 2, "text": "@", "labels": 5}\n')
    result = CliRunner().invoke(main, ["pii", "evaluate", str(file), "--json"])
    assert result.exit_code == 1
    assert "line 2: field 'labels'" in json.loads(result.stdout)["error"]
    going = CliRunner().invoke(main, ["pii", "evaluate", str(file), "--json", "--keep-going"])
    assert going.exit_code == 1
    told = json.loads(going.stdout)
    assert (told["whole"]["alarms"]["k"], told["bad_lines"]) == (
        1,
        ["line 2: field 'labels' must be a list of objects"],
    )


def test_a_file_of_nothing_measures_nothing(stars: None, tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    result = CliRunner().invoke(main, ["pii", "evaluate", str(tmp_path / "none.jsonl"), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["whole"] == {"texts": 0, "kept_by_policy": 0}


def test_a_policy_file_is_read_and_a_wrong_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    file = tmp_path / "policy.toml"
    file.write_text('[default.actions]\nORGANIZATION = "mask"\n[default.thresholds]\nPERSON = 0.9\n')
    with opened(None, file) as masking:
        assert masking.policy.action("ORGANIZATION") == "mask"
        assert masking.policy.threshold("PERSON") == 0.9
    assert not (tmp_path / "home").exists(), "a scan for nobody leaves nothing"
    file.write_text('[default.actions]\nORGANIZATION = "hide"\n')
    result = CliRunner().invoke(main, ["pii", "scan", "--policy", str(file), "--json"], input="")
    assert result.exit_code == 1
    assert "ORGANIZATION" in json.loads(result.stdout)["error"]


def test_a_tenant_that_nobody_knows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    result = CliRunner().invoke(main, ["pii", "scan", "--tenant", "nowhere"], input="")
    assert result.exit_code == 1
    assert "no tenant 'nowhere'" in result.stderr


def test_the_rules_of_nobody_have_the_version_of_a_tenant_without_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TIDEMILL_AGENT", raising=False)
    with opened(None, None) as nobodys, Mill(load_settings()) as mill:
        assert nobodys.policy.version == mill.policies.policy("acme").version
