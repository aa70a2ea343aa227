"""What every command shares: ``--json``, exit codes, errors that name what and where.

A command returns a dict. With ``--json`` it is printed as one JSON line; otherwise as a short table. A
``TidemillError`` ends the command with status 1 and its message on standard error (with ``--json`` as
``{"error": ..., "kind": ...}`` on standard output).
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import Any

import click
from pydantic import ValidationError

from governance.errors import TidemillError

Result = dict[str, Any]


def reports(function: Callable[..., Result]) -> Callable[..., None]:
    """Turn a function that returns a result into a command body with ``--json``; ``ok: false`` exits with 1."""
    return reports_as(table)(function)


def reports_as(shown: Callable[[Result], str]) -> Callable[[Callable[..., Result]], Callable[..., None]]:
    """``reports`` for a command whose result people read in a form of its own."""

    def decorate(function: Callable[..., Result]) -> Callable[..., None]:
        @click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
        @functools.wraps(function)
        def command(*args: Any, as_json: bool, **kwargs: Any) -> None:
            try:
                result = function(*args, **kwargs)
            except (TidemillError, ValidationError, OSError) as error:
                _fail(error, as_json=as_json)
            click.echo(json.dumps(result, sort_keys=True, default=str) if as_json else shown(result))
            if result.get("ok") is False:
                sys.exit(1)

        return command

    return decorate


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


def _fail(error: Exception, *, as_json: bool) -> None:
    kind = type(error).__name__
    if as_json:
        click.echo(json.dumps({"error": str(error), "kind": kind}))
    else:
        click.echo(f"{kind}: {error}", err=True)
    sys.exit(1)
