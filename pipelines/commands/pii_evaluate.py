"""``tidemill pii evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click

from pipelines.commands.output import Result, progress, reports_as


def _shown(result: Result) -> str:
    from pipelines.pii.figures import shown

    return shown(result)


@click.command(epilog="Example: tidemill pii evaluate labelled.jsonl --rule covers --json > figures.json")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--rule",
    type=click.Choice(["exact", "overlap", "covers"]),
    default="overlap",
    show_default=True,
    help="When a label counts as found: same place, a shared character, or every character covered.",
)
@click.option(
    "--types",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='TOML of tables "labels" and "found": a type to the name under which it counts, "" for none.',
)
@click.option("--tenant", help="Under this tenant's policy and lists; else the settings' rules alone.")
@click.option("--policy", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TOML of rules.")
@click.option("--detection", is_flag=True, help="Judge all that was found, also what the policy keeps.")
@click.option(
    "--examples", default=0, show_default=True, type=click.IntRange(0, 1000), help="Failures shown, by place."
)
@click.option("--keep-going", is_flag=True, help="Count what is good, too, where lines are bad.")
@reports_as(_shown)
def evaluate(  # noqa: PLR0917 - the command's options
    file: IO[bytes],
    rule: str,
    types: Path | None,
    tenant: str | None,
    policy: Path | None,
    detection: bool,  # noqa: FBT001 - a flag of the command
    examples: int,
    keep_going: bool,  # noqa: FBT001 - a flag of the command
) -> Result:
    """Measure masking on labelled texts: recall, precision and F2 by type, language and channel, with intervals.

    FILE is JSONL: {"id", "text" or "json", "labels": [{"type", "start", "end"} or {"type", "pointer", "value"}],
    "keep": [{"start", "end"} or {"pointer", "value"}]}, and optionally "language", "channel", "cluster" (what texts
    have in common: a template, a conversation) and "types" (those that were looked for). JSON arrays of
    presidio-research, recogniser cases and other annotations are told by their shape.

    "leaked" is the share of labels of which a character stays, "damaged" that of values that must stay and do not.
    No figure and no example holds a value.
    """
    from governance.masking.evaluation import Rule
    from pipelines.pii.evaluating import Evaluator
    from pipelines.pii.figures import figures
    from pipelines.pii.forms import labelled_lines
    from pipelines.pii.maskers import opened
    from pipelines.pii.type_names import type_names

    names = type_names(types)
    with opened(tenant, policy) as masking:
        form, lines = labelled_lines(file)
        evaluator = Evaluator(masking.masker, masking.policy, masking.tenant_id, detection=detection)
        measured = evaluator.run(form, lines, Rule(rule), names, examples=examples, progress=progress)
    if measured.faults and not keep_going:
        raise measured.faults[0]
    whole = measured.evaluation.whole
    return {
        "file": Path(file.name).name,
        "rule": rule,
        "judged": "detection" if detection else "masking",
        **figures(measured),
        "ok": whole.texts > 0 and not measured.faults,
    }
