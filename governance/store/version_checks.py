"""A dataset version held against itself, and compared with another.

``problems`` finds a line or a row that was edited, added, swapped or dropped, and an edit of what the version says of
itself. An erasure is no problem: then a leaf's line and row are gone together, and the chain of the person's tenant
says that this very line went (``LINES_ERASED``, written in the transaction that deletes it). Nor is a row that outlived
its retention: its line stays as evidence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import Connection, Text, select, type_coerce

from governance.policy.retention import expiry
from governance.records import merkle
from governance.records.base import digest_json
from governance.records.dataset import DatasetManifest, DatasetRow
from governance.records.manifest import DatasetVersion, ManifestLine
from governance.store.kit import Kit
from governance.store.tables_audit import AuditRow
from governance.store.tables_datasets import DatasetLineRow
from governance.store.tables_learning import DatasetRowTable, DatasetTable
from governance.store.versions import lines_of, version_of

Lines = Mapping[int, ManifestLine]
"""Position to line."""
Noted = Mapping[str, list[Any]]
"""Tenant to what its chain says of a version."""
LINES_ERASED: Final = "dataset_lines_erased"
"""What a chain calls it that lines of a version went with the person whom they are about."""
_WRITTEN: Final = "dataset_version"


def problems(connection: Connection, kit: Kit, root: str) -> list[str]:
    """What in a version is not as it was written; empty when it is whole."""
    version, lines = version_of(connection, root), lines_of(connection, root)
    said = _said(connection, root)
    noted = {tenant_id: details for (tenant_id, action), details in said.items() if action == _WRITTEN}
    erased = [
        place
        for (_, action), details in said.items()
        if action == LINES_ERASED
        for one in details
        for place in one["positions"]
    ]
    found = [*_leaves_wrong(version, lines), *_rows_wrong(connection, kit, version, lines)]
    found += _lines_missing(kit, version, lines, frozenset(erased))
    return found + _not_noted(version, lines, noted)


def _leaves_wrong(version: DatasetVersion, lines: Lines) -> list[str]:
    found = []
    if merkle.root(version.leaves) != version.merkle_root:
        found.append("the leaves do not make the Merkle root")
    for position, line in lines.items():
        if position >= len(version.leaves):
            found.append(f"line {position} is one too many")
        elif line.leaf != version.leaves[position]:
            found.append(f"line {position} is not the one that was written")
    return found


def _rows_wrong(connection: Connection, kit: Kit, version: DatasetVersion, lines: Lines) -> list[str]:
    root, row = version.root, DatasetRowTable
    held = {one.digest: one.body for one in connection.execute(select(row.digest, row.body).where(row.root == root))}
    named = {line.row for line in lines.values()}
    wrong = [digest for digest, body in held.items() if DatasetRow.model_validate(body).digest() != digest]
    found = [f"row {digest} is not what its digest says" for digest in sorted(wrong)]
    found += [f"row {digest} has no line" for digest in sorted(held.keys() - named)]
    if kit.clock.now() < expiry(row.retention_class, version.at):
        found += [f"row {digest} is gone and its line is not" for digest in sorted(named - held.keys())]
    body = connection.scalar(select(DatasetTable.body).where(DatasetTable.root == root))
    digests = () if body is None else DatasetManifest.model_validate(body).rows
    if digest_json(list(digests)) != root:
        found.append("the digests of the rows do not make the dataset's root")
    return found + [f"row {digest} is none of the dataset's" for digest in sorted(named - set(digests))]


def _not_noted(version: DatasetVersion, lines: Lines, noted: Noted) -> list[str]:
    """Whether the chains of the version's tenants name this Merkle root and this version's digest."""
    found = [] if noted else ["no audit names this version"]
    for tenant_id in sorted({*noted, *(line.tenant_id for line in lines.values())}):
        roots = {one["merkle_root"] for one in noted.get(tenant_id, ())}
        if version.merkle_root not in roots:
            found.append(f"the audit of {tenant_id} does not name this Merkle root")
        digests = [one["digest"] for one in noted.get(tenant_id, ()) if "digest" in one]
        if digests and version.digest() not in digests:
            found.append(f"the audit of {tenant_id} names another version: what is said of it was edited")
    return found


def _said(connection: Connection, root: str) -> Mapping[tuple[str, str], list[Any]]:
    """What each tenant's chain says of the version, by tenant and action."""
    row, said = AuditRow, defaultdict[tuple[str, str], list[Any]](list)
    named = type_coerce(row.body, Text).contains(root, autoescape=True)
    for tenant_id, body in connection.execute(select(row.tenant_id, row.body).where(named)):
        if body["target"] == f"dataset:{root}":
            said[tenant_id, body["action"]].append(body["detail"])
    return said


def _lines_missing(kit: Kit, version: DatasetVersion, lines: Lines, erased: frozenset[int]) -> list[str]:
    """Lines that are gone though they had not expired and no erasure says that it took them."""
    if kit.clock.now() >= expiry(DatasetLineRow.retention_class, version.at):
        return []
    gone = (place for place in range(len(version.leaves)) if place not in lines and place not in erased)
    return [f"line {place} is gone, and no erasure took it" for place in gone]


def difference(before: Lines, after: Lines) -> dict[str, Any]:
    """What a version holds that another did not, in rows, people and rights."""
    first, second = ({line.row: line for line in lines.values()} for lines in (before, after))
    both = sorted(first.keys() & second.keys())
    people = [{(line.tenant_id, line.subject) for line in lines.values()} for lines in (first, second)]
    return {
        "kept": len(both),
        "added": sorted(second.keys() - first.keys()),
        "removed": sorted(first.keys() - second.keys()),
        "right_changed": [row for row in both if _right(first[row]) != _right(second[row])],
        "people_added": len(people[1] - people[0]),
        "people_removed": len(people[0] - people[1]),
        "bases_before": bases(first.values()),
        "bases_after": bases(second.values()),
    }


def bases(lines: Iterable[ManifestLine]) -> dict[str, int]:
    """Legal basis to the number of rows that rest on it."""
    return dict(sorted(Counter(line.verdict.basis.value if line.verdict.basis else "none" for line in lines).items()))


def _right(line: ManifestLine) -> tuple[Any, ...]:
    return line.verdict.basis, line.verdict.reasons, line.contract
