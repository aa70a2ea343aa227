"""``tidemill pii scan``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from pipelines.commands.output import Result, done_by, fail, progress

if TYPE_CHECKING:
    from pipelines.errors import LineError

EVERY: Final = 1000
"""Texts between two lines of progress."""


@click.command(epilog="Example: tidemill pii scan texts.jsonl --tenant harbor > found.jsonl")
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--tenant", help="Mask with this tenant's keys and lists, as its traces are; else with a key of this run."
)
@click.option(
    "--policy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TOML of rules; else the settings'."
)
@click.option("--kept", is_flag=True, help="Say also what was found and left, and why.")
@click.option("--keep-going", is_flag=True, help="Answer what follows a bad line, too.")
@click.option("--json", "as_json", is_flag=True, help="Put what is wrong with a line among the answers, as JSON.")
def scan(
    file: IO[bytes], tenant: str | None, policy: Path | None, *, kept: bool, keep_going: bool, as_json: bool
) -> None:
    """Mask a file of texts and say what was found in each.

    FILE is JSONL, or - for standard input: {"id", "text" or "json", "language" (optional)}. Each answer is a line of
    JSON: {"id", "findings": [{"type", "start", "end", "score", "pointer"}], "masked"}, and "quarantine" where the
    policy lets nobody keep the text. Findings never hold the raw value. Offsets count characters of the text, or of
    the leaf of the JSON value that the pointer names; a text that is JSON is opened. Every detector looks at every
    text, whatever its language.

    The first bad line ends the scan, after what stands before it is answered; the command then fails.
    """
    from governance.errors import TidemillError

    try:
        with done_by({"tenant": tenant}):
            wrong = _scan(file, tenant, policy, kept=kept, keep_going=keep_going, as_json=as_json)
    except (TidemillError, OSError) as error:
        fail(error, as_json=as_json)
    if wrong:
        sys.exit(1)


def _scan(
    file: IO[bytes], tenant: str | None, policy: Path | None, *, kept: bool, keep_going: bool, as_json: bool
) -> int:
    """Answer the lines; how many were bad."""
    from pipelines.errors import LineError
    from pipelines.pii.lines import read_lines
    from pipelines.pii.maskers import opened
    from pipelines.pii.scanning import scan as scanned

    texts = findings = wrong = 0
    with opened(tenant, policy) as masking:
        for answer in scanned(read_lines(file), masking.masker, masking.tenant_id, kept=kept):
            if isinstance(answer, LineError):
                wrong += 1
                _complain(answer, as_json=as_json)
                if not keep_going:
                    break
                continue
            texts, findings = texts + 1, findings + len(answer["findings"])
            _write(answer)
            if texts % EVERY == 0:
                progress(f"{texts} texts, {findings} findings")
    progress(f"{texts} texts, {findings} findings, {wrong} bad lines")
    return wrong


def _write(answer: Result) -> None:
    try:
        click.echo(json.dumps(answer, ensure_ascii=False).encode("utf-8"))
    except UnicodeEncodeError:  # half a surrogate pair: JSON can say it, UTF-8 cannot
        click.echo(json.dumps(answer))


def _complain(error: LineError, *, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {"line": error.number, "error": str(error), "kind": "LineError"}
        click.echo(json.dumps(told))
    else:
        click.echo(f"LineError: {error}", err=True)
