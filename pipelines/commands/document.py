"""``tidemill document``: what the tables say, in the forms that readers and authorities expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.commands.output import Result, reports_as

if TYPE_CHECKING:
    from governance.documents.page import Document
    from pipelines.ground import Ground

TO = click.option("--to", "target", type=click.Path(file_okay=False, path_type=Path), help="Folder for both forms.")


class Shown(dict[str, Any]):
    """The JSON form of a document, with its page for people."""

    def __init__(self, form: dict[str, Any], page: str) -> None:
        """The page is no part of the JSON."""
        super().__init__(form)
        self.page = page


def _markdown(result: Result) -> str:
    return result.page if isinstance(result, Shown) else json.dumps(result, indent=1, sort_keys=True, default=str)


@click.group()
def document() -> None:
    """Write documents from live tables. Each field names its tables; what no table holds is said as missing."""


def _dataset_command(kind: str, told: str) -> click.Command:
    @document.command(kind, epilog=f"Example: tidemill document {kind} 4be2c1 --to documents", help=told)
    @click.argument("id_", metavar="DATASET")
    @TO
    @reports_as(_markdown)
    def command(id_: str, target: Path | None) -> Result:
        from pipelines.documents import of_dataset
        from pipelines.ground import Ground
        from pipelines.settings import load_settings

        with Ground(load_settings()) as ground:
            return _written(ground, of_dataset(ground, kind, id_), target)

    return command


dataset_card = _dataset_command("dataset-card", "Tell of a dataset version: origin, rights, exclusions, risk, use.")
provenance = _dataset_command("provenance", "Fill the Data & Trust Alliance's provenance fields of a dataset version.")


@document.command("training-summary", epilog="Example: tidemill document training-summary 5f7b28 --to documents")
@click.argument("id_", metavar="RELEASE")
@TO
@reports_as(_markdown)
def training_summary(id_: str, target: Path | None) -> Result:
    """Fill the EU AI Act's summary of training content for a release's adapter."""
    from pipelines.documents import of_release
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        return _written(ground, of_release(ground, "training-summary", id_), target)


@document.command(epilog="Example: tidemill document bill 5f7b28 --to documents")
@click.argument("id_", metavar="RELEASE")
@TO
@reports_as(_markdown)
def bill(id_: str, target: Path | None) -> Result:
    """Write the bill of a release: CycloneDX 1.6 JSON (--json, or a file with --to), and a page for people."""
    from pipelines.documents import bill_of, of_release
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        return _written(ground, of_release(ground, "bill", id_), target, bill_of(ground, id_))


@document.command("processing-record", epilog="Example: tidemill document processing-record --tenant harbor")
@click.option("--tenant", required=True, help="Whose processing it is about.")
@TO
@reports_as(_markdown)
def processing_record(tenant: str, target: Path | None) -> Result:
    """Write the record of processing activities (GDPR Article 30) of a tenant."""
    from pipelines.commands.person import known_tenant
    from pipelines.documents import of_tenant
    from pipelines.settings import load_settings
    from pipelines.wiring import Mill

    with Mill(load_settings()) as mill:
        return _written(mill, of_tenant(mill, known_tenant(mill, tenant)), target)


@document.command("all", epilog="Example: tidemill document all 5f7b28 --to documents")
@click.argument("id_", metavar="RELEASE")
@click.option("--to", "target", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
@reports_as(_markdown)
def all_(id_: str, target: Path) -> Result:
    """Write everything about a release: summary, bill, and card and provenance of each dataset that it learned from."""
    from pipelines.documents import bill_of, everything
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        found = {}
        for made in everything(ground, id_):
            own = bill_of(ground, id_) if made.kind == "bill" else None
            found[f"{made.kind} {made.about[:12]}"] = _written(ground, made, target, own)["files"]
        return {"documents": found}


def _written(ground: Ground, made: Document, target: Path | None, own: dict[str, Any] | None = None) -> Result:
    """The JSON and the Markdown form; as files where a folder is given. ``own``: the JSON form of a standard."""
    shown = own or made.json_form()
    if target is None:
        return Shown(shown, made.markdown())
    from pipelines.outside import outside

    outside(ground.settings.home, target).mkdir(parents=True, exist_ok=True)
    name = f"{made.kind}-{made.about[:12].replace('/', '_')}"
    texts = {"json": json.dumps(shown, indent=1, sort_keys=True, default=str) + "\n", "md": made.markdown()}
    files = []
    for ending, text in texts.items():
        (target / f"{name}.{ending}").write_text(text, encoding="utf-8")
        files.append(str(target / f"{name}.{ending}"))
    return {"document": made.kind, "about": made.about, "missing": [field.name for field in made.gaps], "files": files}
