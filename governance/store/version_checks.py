"""A dataset version held against itself, and compared with another.

``problems`` finds a line or a row that was edited, added, swapped or dropped, and an edit of what the version says of
itself. An erasure is no problem: then a leaf's line and row are gone together, and somebody of its tenants is
suppressed since. Nor is a row that outlived its retention: its line stays as evidence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

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
from governance.store.tables_rights import SuppressionRow
from governance.store.versions import lines_of, version_of

Lines = Mapping[int, ManifestLine]
"""Position to line."""
Noted = Mapping[str, list[Any]]
"""Tenant to what its chain says of a version."""


def problems(connection: Connection, kit: Kit, root: str) -> list[str]:
    """What in a version is not as it was written; empty when it is whole."""
    version, lines = version_of(connection, root), lines_of(connection, root)
    noted = _noted(connection, root)
    found = [*_leaves_wrong(version, lines), *_rows_wrong(connection, kit, version, lines)]
    found += _lines_missing(connection, kit, version, lines, noted)
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


def _noted(connection: Connection, root: str) -> Noted:
    """What each tenant's chain says of the version."""
    row, noted = AuditRow, defaultdict[str, list[Any]](list)
    named = type_coerce(row.body, Text).contains(root, autoescape=True)
    for tenant_id, body in connection.execute(select(row.tenant_id, row.body).where(named)):
        if (body["action"], body["target"]) == ("dataset_version", f"dataset:{root}"):
            noted[tenant_id].append(body["detail"])
    return noted


def _lines_missing(connection: Connection, kit: Kit, version: DatasetVersion, lines: Lines, noted: Noted) -> list[str]:
    """Lines that are gone though they had not expired and nobody was erased since who could have taken them along."""
    if kit.clock.now() >= expiry(DatasetLineRow.retention_class, version.at):
        return []
    since = (SuppressionRow.since >= version.at, SuppressionRow.tenant_id.in_(sorted(noted)))
    if connection.scalar(select(SuppressionRow.subject).where(*since).limit(1)) is not None:
        return []
    places = range(len(version.leaves))
    return [f"line {place} is gone, and nobody was erased since" for place in places if place not in lines]


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
