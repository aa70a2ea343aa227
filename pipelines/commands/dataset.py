"""``tidemill dataset``: the versions that adapters learned from, their manifests, and exports of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.commands.output import Result, reports

if TYPE_CHECKING:
    from governance.records.manifest import DatasetVersion

ID = click.argument("id_", metavar="ID")


@click.group()
def dataset() -> None:
    """List, show, verify, compare and export what adapters learned from. An ID is the beginning of a root."""


@dataset.command("list", epilog="Example: tidemill dataset list --json")
@reports
def list_() -> Result:
    """Name every version, oldest first: rows, why it was made, and its parent."""
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        return {one.root: _head(one) for one in ground.store.manifests.list()}


@dataset.command(epilog="Example: tidemill dataset show 4be2c1 --json")
@ID
@reports
def show(id_: str) -> Result:
    """Show a version: root, exclusions by reason, what it was made with, each use and each decision about it."""
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        manifests = ground.store.manifests
        version = manifests.find(id_)
        return {
            **_head(version),
            "root": version.root,
            "merkle_root": version.merkle_root,
            "policy_version": version.policy_version,
            "exclusions": version.exclusions,
            "preparation": version.preparation,
            "uses": [one.plain() for one in manifests.uses([version.root])],
            "approvals": [one.plain() for one in ground.store.approvals.list() if one.target == version.root],
        }


@dataset.command(epilog="Example: tidemill dataset lines 4be2c1 --json")
@ID
@reports
def lines(id_: str) -> Result:
    """Show each row's line: person by keyed hash, trace, right, contract. The look is audited."""
    from governance.records.rights import Purpose
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        root = ground.store.manifests.find(id_).root
        held = ground.store.manifests.lines(root, Purpose.COMPLY)
        return {"root": root, "lines": [{"position": place, **line.plain()} for place, line in held.items()]}


@dataset.command(epilog="Example: tidemill dataset verify 4be2c1")
@click.argument("id_", metavar="ID_OR_FILE")
@reports
def verify(id_: str) -> Result:
    """Say whether a version, or an exported file, is as it was written; fails with what is wrong."""
    from governance.dataset_file import check
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    if Path(id_).is_file():
        with Ground(load_settings()) as ground:
            found = check(Path(id_), ground.store)
        return {"file": id_, "problems": found, "ok": not found}
    with Ground(load_settings()) as ground:
        version = ground.store.manifests.find(id_)
        found = ground.store.manifests.problems(version.root)
        return {"root": version.root, "merkle_root": version.merkle_root, "problems": found, "ok": not found}


@dataset.command(epilog="Example: tidemill dataset diff 4be2c1 91c07a --json")
@click.argument("before")
@click.argument("after")
@reports
def diff(before: str, after: str) -> Result:
    """Say what a version holds that another did not: rows, people, bases (audited)."""
    from governance.acting import complying
    from pipelines.ground import Ground
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground, complying("dataset diff"):
        first, second = ground.store.manifests.find(before), ground.store.manifests.find(after)
        found = ground.store.manifests.difference(first.root, second.root)
        return {"before": first.root, "after": second.root, **found}


@dataset.command(epilog="Example: tidemill dataset export 4be2c1 --to rows.jsonl --recipient lab-7")
@ID
@click.option("--to", "target", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file.")
@click.option("--recipient", required=True, help="Who receives it, by a handle; subject requests list it.")
@reports
def export(id_: str, target: Path, recipient: str) -> Result:
    """Write the rows that may be used now to a file. A row whose right ended drops, and is named with its reason."""
    from governance.dataset_export import DatasetExport
    from pipelines.ground import Ground
    from pipelines.outside import outside
    from pipelines.settings import load_settings

    with Ground(load_settings()) as ground:
        root = ground.store.manifests.find(id_).root
        use = DatasetExport(ground.store, ground.clock, ground.ids, ground.approvals).run(
            root, outside(ground.settings.home, target), recipient
        )
        return {**use.plain(), "file": str(target)}


def _head(version: DatasetVersion) -> Result:
    return {
        "scope": version.scope,
        "rows": len(version.leaves),
        "made_for": version.made_for.value,
        "parent": version.parent,
        "at": version.at.isoformat(),
    }
