"""The ``tidemill`` command: a group of lazily imported commands, so that ``--help`` answers at once."""

from __future__ import annotations

import click

from pipelines.commands.lazy import LazyGroup

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
    "pii": ("pipelines.commands.pii", "Find personal values in texts, and show how well they are found."),
    "tenant": ("pipelines.commands.tenant", "List, add, rotate and revoke the API keys of tenants."),
    "keys": ("pipelines.commands.keys", "Show the epochs of the keys, and rotate the surrogate key."),
    "dataset": ("pipelines.commands.dataset", "List, verify, compare and export what adapters learned from."),
    "document": ("pipelines.commands.document", "Write dataset cards, summaries, records of processing and bills."),
    "principal": ("pipelines.commands.principal", "List, add, rotate and revoke who may act."),
    "approval": ("pipelines.commands.approval", "Approve or refuse what another person asks for."),
    "rights": ("pipelines.commands.rights", "Record consent and its withdrawal, and ask for a verdict."),
    "subject": ("pipelines.commands.subject", "Show or erase what is held of a person."),
    "leak": ("pipelines.commands.leak", "Test whether an adapter remembers what it was trained on."),
    "lineage": ("pipelines.commands.lineage", "Show what a release was made from, and what was made from a person."),
    "audit": ("pipelines.commands.audit", "Show who did what; anchor and verify the record."),
    "release": ("pipelines.commands.release", "List releases, show history, roll back."),
    "control": ("pipelines.commands.control", "Serve intake and gateway in this process (what `up` starts)."),
}
"""Command to the module that defines it under the same name, and its one line of help."""


HELP = """Tidemill: agents that get better from their own traces, within the rights of the people in them.

\b
Start here:
  ./tidemill demo      one week of traces, one turn of the loop, a report
  ./tidemill test      every check
"""


@click.group(cls=LazyGroup, listing=COMMANDS, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="tidemill")
@click.option("--token-stdin", is_flag=True, help="Read your token from the first line of standard input.")
def main(*, token_stdin: bool) -> None:
    """Run one of ``COMMANDS``."""
