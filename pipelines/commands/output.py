"""What every command shares: ``--json``, exit codes, errors that name what and where.

A command is an act: ``pipelines.authority`` decides who does it, under the name that its words are, before it begins.

A command returns a dict. With ``--json`` it is printed as one JSON line; otherwise as a short table. A
``TidemillError`` ends the command with status 1 and its message on standard error (with ``--json`` as
``{"error": ..., "kind": ...}`` on standard output).
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click
from pydantic import ValidationError

from governance.errors import TidemillError

if TYPE_CHECKING:
    from pipelines.settings import Settings

Result = dict[str, Any]
Options = dict[str, Any]
_LONGEST_LINE = 4096


def reports(function: Callable[..., Result]) -> Callable[..., None]:
    """Turn a function that returns a result into a command body with ``--json``; ``ok: false`` exits with 1."""
    return reports_as(table)(function)


def reports_as(
    shown: Callable[[Result], str], home: Callable[..., Settings] | None = None
) -> Callable[[Callable[..., Result]], Callable[..., None]]:
    """``reports`` for a command whose result people read in a form of its own.

    ``home`` makes the settings of a command that works in a data home of its own, from the command's options.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., None]:
        @click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
        @functools.wraps(function)
        def command(*, as_json: bool, **kwargs: Any) -> None:
            try:
                result = _done(function, home, kwargs)
            except (TidemillError, ValidationError, OSError) as error:
                fail(error, as_json=as_json)
            click.echo(json.dumps(result, sort_keys=True, default=str) if as_json else shown(result))
            if result.get("ok") is False:
                sys.exit(1)

        return command

    return decorate


def _done(function: Callable[..., Result], home: Callable[..., Settings] | None, options: Options) -> Result:
    """The result of a command, done by who may."""
    from pipelines.authority import HANDLES, handle

    with done_by(options, home):
        return function(**options | {name: handle(options[name]) for name in HANDLES if name in options})


@contextmanager
def done_by(options: Options, home: Callable[..., Settings] | None = None) -> Iterator[None]:
    """The command that runs is done inside, by who may do it.

    Raises:
        TokenRefused: when a token is due and none is there, or it proves nobody.
        RoleDenied: when who asks does not hold a fitting role.

    """
    from pipelines.authority import doing
    from pipelines.settings import load_settings, token_in_environment

    context = click.get_current_context()
    from_input = context.find_root().params.get("token_stdin", False)
    token = sys.stdin.buffer.readline(_LONGEST_LINE).decode().strip() if from_input else token_in_environment()
    settings = home(**options) if home else load_settings()
    with doing(_act(context), settings, tenant=options.get("tenant"), token=token or None):
        yield


def _act(context: click.Context) -> str:
    """The words of a command, without the program's name."""
    words: list[str] = []
    while context.parent is not None:
        words, context = [context.info_name or "", *words], context.parent
    return " ".join(words)


def progress(line: str) -> None:
    """Say on standard error what a long command is doing."""
    click.echo(line, err=True)


def table(result: Result) -> str:
    """A result as aligned lines; nested values as compact JSON."""
    width = max((len(key) for key in result), default=0)
    return "\n".join(f"{key.ljust(width)}  {_cell(value)}" for key, value in result.items())


def _cell(value: Any) -> str:
    if isinstance(value, str | int | float | bool) or value is None:
        return str(value)
    return json.dumps(value, sort_keys=True, default=str)


def fail(error: Exception, *, as_json: bool) -> NoReturn:
    """End the command with what went wrong."""
    kind, said = type(error).__name__, _said(error)
    if as_json:
        click.echo(json.dumps({"error": said, "kind": kind}))
    else:
        click.echo(f"{kind}: {said}", err=True)
    sys.exit(1)


def _said(error: Exception) -> str:
    """What went wrong, and where; of a value that was refused only its name, since it may be a secret."""
    if not isinstance(error, ValidationError):
        return str(error)
    prefix = "TIDEMILL_" if error.title == "Settings" else ""
    places = [(".".join(map(str, one["loc"])) or error.title, one["msg"]) for one in error.errors(include_url=False)]
    return "; ".join(f"{prefix}{where.upper() if prefix else where}: {words}" for where, words in places)
