"""The ``tidemill`` command: a group of lazily imported commands, so that ``--help`` answers at once."""

from __future__ import annotations

import importlib

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("pipelines.commands.demo", "Play a week of production and turn the loop once, end to end."),
    "test": ("pipelines.commands.test", "Run every check of the project."),
    "up": (
        "pipelines.commands.up",
        "Start every service on loopback and leave it running.",
    ),
    "down": ("pipelines.commands.up", "Stop what `up` or `demo` started."),
    "status": ("pipelines.commands.up", "Say what is running."),
    "doctor": ("pipelines.commands.doctor", "Say what is configured, what is missing and what that means."),
    "cycle": ("pipelines.commands.cycle", "Turn the loop once over the traces that are there."),
    "replay": ("pipelines.commands.replay", "Send a recorded week through the intake again and compare digests."),
    "ingest": ("pipelines.commands.ingest", "Import files of other tools through the door of the intake."),
    "trajectories": ("pipelines.commands.trajectories", "List and show what the agents did, in canonical form."),
    "feedback": ("pipelines.commands.feedback", "List, show and add what people said of runs."),
    "ledger": ("pipelines.commands.ledger", "Show the conservation ledger; fails when it does not balance."),
    "quarantine": ("pipelines.commands.quarantine", "List, retry and review what masking could not read."),
    "tenant": ("pipelines.commands.tenant", "List, add, rotate and revoke the API keys of tenants."),
    "rights": ("pipelines.commands.rights", "Record consent and its withdrawal, and ask for a verdict."),
    "subject": ("pipelines.commands.subject", "Show or erase what is held of a person."),
    "release": ("pipelines.commands.release", "List releases, show history, roll back."),
    "control": ("pipelines.commands.control", "Serve intake and gateway in this process (what `up` starts)."),
}
"""Command to the module that defines it under the same name, and its one line of help."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


HELP = """Tidemill: agents that get better from their own traces, within the rights of the people in them.

\b
Start here:
  ./tidemill demo      one week of traces, one turn of the loop, a report
  ./tidemill test      every check
"""


@click.group(cls=LazyGroup, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="tidemill")
def main() -> None:
    """Run one of ``COMMANDS``."""
