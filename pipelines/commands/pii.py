"""``tidemill pii``: what masking finds, how well, and what is left. Each command is a module of its own."""

from __future__ import annotations

import click

from pipelines.commands.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "scan": ("pipelines.commands.pii_scan", "Mask a file of texts and say what was found in each."),
    "rescan": ("pipelines.commands.pii_rescan", "Mask again what was masked under another version of a policy."),
    "evaluate": ("pipelines.commands.pii_evaluate", "Measure masking on labelled texts, with intervals."),
    "report": ("pipelines.commands.pii_report", "Write a page about masking."),
    "risk": ("pipelines.commands.pii_risk", "Estimate what is left in a dataset version."),
    "look": ("pipelines.commands.pii_risk", "Print one row of a dataset version to a reviewer."),
    "mark": ("pipelines.commands.pii_risk", "Record what a reviewer saw in a row."),
    "anonymity": ("pipelines.commands.pii_risk", "Count how many people share their values in a table."),
    "policy": ("pipelines.commands.pii_policy", "Say what masking does for a tenant now."),
    "list": ("pipelines.commands.pii_list", "Say which values stay in clear and which are always masked."),
    "review": ("pipelines.commands.pii_review", "Judge doubtful findings, samples and special categories."),
}


@click.group(cls=LazyGroup, listing=COMMANDS)
def pii() -> None:
    """Find personal values in texts, and show how well they are found."""
