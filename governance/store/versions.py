"""The manifest of a dataset version, written once with the dataset: a line for each row, under one Merkle root.

A line says by which verdict its row was admitted. Its leaf stays with the version when the line leaves with its person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from governance.acting import acting, audited
from governance.errors import NotFound
from governance.records import merkle
from governance.records.dataset import DatasetManifest, DatasetRow
from governance.records.manifest import DatasetVersion, MadeFor, ManifestLine
from governance.records.rights import BASIS_IRI, PURPOSE_IRI, Verdict
from governance.store import audit, dialect
from governance.store.kit import Kit
from governance.store.tables_datasets import DatasetLineRow, DatasetVersionRow
from governance.store.verdicts import contracts

Named = tuple[str, DatasetRow]
"""A row's digest and the row."""


def record(
    connection: Connection,
    kit: Kit,
    manifest: DatasetManifest,
    rows: Sequence[Named],
    *,
    verdicts: Mapping[str, Verdict],
    parent: str | None,
    made_for: MadeFor,
    preparation: Mapping[str, Any],
) -> None:
    """Write the version and its lines; one that stands already stays as it is."""
    root = manifest.root
    if connection.scalar(select(DatasetVersionRow.root).where(DatasetVersionRow.root == root)) is not None:
        return
    now = kit.clock.now()
    held = contracts(connection, sorted({row.tenant_id for _, row in rows}), now, everything=True)
    lines = []
    for digest, row in rows:
        contract = held[row.tenant_id]
        lines.append(_line(kit, digest, row, verdicts[digest], None if contract is None else contract.id))
    leaves = tuple(line.leaf for line in lines)
    version = DatasetVersion(
        root=root,
        scope=manifest.scope,
        parent=parent,
        made_for=made_for,
        leaves=leaves,
        merkle_root=merkle.root(leaves),
        exclusions=manifest.exclusions,
        preparation=dict(preparation),
        policy_version=kit.policy.version,
        at=now,
        actor=acting().principal.name,
    )
    head = {
        "root": root, "scope": version.scope, "parent": parent, "at": now, "body": version.plain(),
        "expires_at": kit.expires(DatasetVersionRow),
    }  # fmt: skip
    dialect.insert(connection, DatasetVersionRow, [head])
    dialect.insert(connection, DatasetLineRow, _line_rows(kit, root, lines))
    _note(connection, kit, version, {row.tenant_id for _, row in rows})


def _line(kit: Kit, digest: str, row: DatasetRow, verdict: Verdict, contract: str | None) -> ManifestLine:
    return ManifestLine(
        salt=kit.ids.hex(16),
        row=digest,
        tenant_id=row.tenant_id,
        subject=row.subject,
        trajectory_id=row.trajectory_id,
        step=row.step,
        origin=row.origin,
        verdict=verdict,
        purpose_iri=PURPOSE_IRI[verdict.purpose],
        basis_iri=None if verdict.basis is None else BASIS_IRI[verdict.basis],
        contract=contract,
    )


def _line_rows(kit: Kit, root: str, lines: Sequence[ManifestLine]) -> list[dict[str, Any]]:
    expires_at = kit.expires(DatasetLineRow)
    return [
        {
            "root": root,
            "position": position,
            "tenant_id": line.tenant_id,
            "subject": line.subject,
            "trajectory_id": line.trajectory_id,
            "body": line.plain(),
            "expires_at": expires_at,
        }
        for position, line in enumerate(lines)
    ]


def _note(connection: Connection, kit: Kit, version: DatasetVersion, tenants: Iterable[str]) -> None:
    """Root and digest stand in the chain of each tenant: nobody can put another version in its place later."""
    detail = {
        "merkle_root": version.merkle_root,
        "digest": version.digest(),
        "rows": len(version.leaves),
        "made_for": version.made_for.value,
    }
    for tenant_id in sorted(tenants):
        event = audited(kit.ids, version.at, tenant_id, "dataset_version", f"dataset:{version.root}", detail)
        audit.append(connection, event)


def version_of(connection: Connection, root: str) -> DatasetVersion:
    """The version of that root.

    Raises:
        NotFound: when there is none.

    """
    body = connection.scalar(select(DatasetVersionRow.body).where(DatasetVersionRow.root == root))
    if body is None:
        raise NotFound(f"store: no dataset version {root}")
    return DatasetVersion.model_validate(body)


def preparation_of(connection: Connection, root: str) -> dict[str, Any]:
    """What a version's rows were made with; nothing where that is not known."""
    body = connection.scalar(select(DatasetVersionRow.body).where(DatasetVersionRow.root == root))
    return {} if body is None else DatasetVersion.model_validate(body).preparation


def lines_of(connection: Connection, root: str) -> dict[int, ManifestLine]:
    """Position to line, of the lines that are held."""
    row = DatasetLineRow
    statement = select(row.position, row.body).where(row.root == root).order_by(row.position)
    return {position: ManifestLine.model_validate(body) for position, body in connection.execute(statement)}
