"""The documentation says what the code does: commands exist, examples run, folders and modules it names are there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from tests.support.tree import PACKAGES, ROOT, documents

LAUNCHER_COMMANDS = {"setup"}
LAUNCHER_OPTIONS = re.compile(r"^--platform(=|$)")
UNTRACKED = {"data", ".venv", ".."}
FILE_ENDINGS = (".py", ".md", ".sh", ".toml", ".txt", ".yaml", ".yml", ".jsonl")


def blocks(document: str, language: str) -> list[str]:
    """The fenced blocks of that language."""
    found: list[str] = []

    def keep(example: Example) -> None:
        found.append(str(example.parsed))

    sybil = Sybil(parsers=[CodeBlockParser(language, keep)], encoding="utf-8")
    for example in sybil.parse(ROOT / document).examples():
        example.evaluate()
    return found


def command_lines(block: str) -> list[list[str]]:
    """The words of each ``tidemill`` command in a shell block, without what is around it."""
    found = []
    for line in block.replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|\|\||[;|]", line):
            words = shlex.split(part.strip().removeprefix("$ "), comments=True)
            while words and re.match(r"^[A-Z_]+=", words[0]):
                words = words[1:]
            if words and words[0] in {"tidemill", "./tidemill"}:
                found.append(words[1:])
    return found


def complaint(words: list[str]) -> str | None:
    """What is wrong with a command line of ``tidemill``, by the command tree itself; None when it would be accepted."""
    from pipelines.cli import main

    while words and LAUNCHER_OPTIONS.match(words[0]):
        words = words[1:] if "=" in words[0] else words[2:]
    if words and words[0] in LAUNCHER_COMMANDS:
        return None
    command: click.Command = main
    context = click.Context(command)
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name, *rest = rest
        found = command.get_command(context, name)
        if found is None:
            return f"no command '{name}'"
        command, context = found, click.Context(found, parent=context)
    known = {
        option for parameter in command.get_params(context) for option in [*parameter.opts, *parameter.secondary_opts]
    }
    unknown = [word for word in rest if word.startswith("--") and word != "--" and word.split("=")[0] not in known]
    return f"no option {unknown}" if unknown else None


@pytest.mark.parametrize("document", documents())
def test_every_command_shown_exists(document: str) -> None:
    lines = [
        words
        for language in ("bash", "sh", "console")
        for block in blocks(document, language)
        for words in command_lines(block)
    ]
    wrong = {shlex.join(words): problem for words in lines if (problem := complaint(words))}
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("./tidemill no-such-command", True),
        ("./tidemill test --no-such-option", True),
        ("TIDEMILL_HOST=a ./tidemill --platform cuda test", False),
        ("./tidemill setup && ls", False),
        ("$ ./tidemill --help | less", False),
    ],
)
def test_the_check_of_commands_can_fail(line: str, wrong: bool) -> None:
    (words,) = command_lines(line)
    assert bool(complaint(words)) is wrong


@pytest.mark.parametrize("document", documents())
def test_every_python_example_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example that writes leaves nothing in the checkout
    for example in Sybil(parsers=[PythonCodeBlockParser()], encoding="utf-8").parse(ROOT / document).examples():
        example.evaluate()


def spans(document: str) -> list[str]:
    """What stands between single backticks outside fenced blocks."""
    prose = re.sub(r"^```.*?^```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


def missing_path(span: str) -> bool:
    """Whether a span names a path of the checkout that is not there; other spans are no paths."""
    path = span.removeprefix("./")
    if not re.fullmatch(r"[\w.*-]+(/[\w.*-]+)*/?", path) or path.split("/")[0] in UNTRACKED or "/" not in path:
        return False
    if not (path.endswith(("/", *FILE_ENDINGS)) or path.split("/")[0] in PACKAGES):
        return False
    return not any(ROOT.glob(path.rstrip("/")))


def missing_module(span: str) -> bool:
    """Whether a span names a module of ours (``package.module...``) that is not there."""
    match = re.match(rf"^({'|'.join(PACKAGES)})\.(\w+)", span)
    if match is None or span.endswith(FILE_ENDINGS):
        return False
    place = ROOT / match[1] / match[2]
    return not (place.is_dir() or place.with_suffix(".py").is_file())


@pytest.mark.parametrize("document", documents())
def test_every_path_and_module_named_is_there(document: str) -> None:
    gone = [span for span in spans(document) if missing_path(span) or missing_module(span)]
    assert not gone, gone


@pytest.mark.parametrize("document", documents())
def test_every_relative_link_leads_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"^(\w+:|#)", link)]
    dead = [link for link in links if not (ROOT / document).parent.joinpath(link).exists()]
    assert not dead, dead


def test_the_checks_of_paths_can_fail() -> None:
    assert missing_path("governance/no_such_folder/")
    assert missing_path("no_such_folder/")
    assert missing_module("governance.no_such_module.Thing")
    assert not missing_path("governance/records/span.py")
    assert not missing_path("application/json")
    assert not missing_module("governance.records.span")
