"""A group of commands that are imported when they are asked for, so that ``--help`` answers at once."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

Listing = Mapping[str, tuple[str, str]]
"""Command to the module that defines it, and its one line of help."""


class LazyGroup(click.Group):
    """A group over a listing. A command's function has the command's name, with ``_`` behind it where Python has it."""

    def __init__(self, *args: Any, listing: Listing, **kwargs: Any) -> None:
        """``listing`` in the order in which a newcomer needs the commands."""
        super().__init__(*args, **kwargs)
        self._listing = listing

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names in the order of the listing."""
        return list(self._listing)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, imported now."""
        if cmd_name not in self._listing:
            return None
        module = importlib.import_module(self._listing[cmd_name][0])
        command = getattr(module, cmd_name, None) or getattr(module, f"{cmd_name}_", None)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._listing.items()])
