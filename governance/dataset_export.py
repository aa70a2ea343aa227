"""A dataset version as a file for somebody: rights asked again, written whole or not at all, its recipient on record.

Theory. The rights to the rows are asked again, now; a row whose right ended is not written, and the file names it with
its reason. What is left is a dataset version (``store.datasets.part``), so the file's lines are those of a manifest
under a Merkle root that stands in the audit. The order makes a crash harmless: the file is written beside its place and
synced; then the recipient is recorded, durably; then the file is renamed into place. So nobody receives rows without
being on record, and the worst that a crash leaves is a recipient of a file that never appeared, or a file beside its
place, which the same export replaces. The same export again writes the same bytes, unless a right ended since: then
the row drops. Should a right change while the file is written, it is written again.

A file is JSON lines: a header, a line for each row (the row and its line of the manifest), one for each row that
dropped, and an end with the counts and the digest of everything before it, which the audit names too.
``governance.dataset_file`` verifies a file.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from governance.acting import acting, audited
from governance.approvals import Approvals, chain_of
from governance.dataset_file import DROPPED, END, FORM, HEAD, ROW, parsed
from governance.errors import RecordError, RightsError, StoreError
from governance.ports.clock import Clock, IdFactory
from governance.records.approval import ApprovedAct
from governance.records.base import canonical_json, digest_json
from governance.records.dataset import DatasetRow
from governance.records.manifest import (
    DatasetUse,
    DatasetVersion,
    JudgedRows,
    MadeFor,
    UseKind,
    UseOutcome,
)
from governance.records.pseudonymised import UseOfRows
from governance.records.rights import PURPOSE_IRI, Basis, Purpose
from governance.records.scope import tenants_of
from governance.store import Store

PURPOSE: Final = Purpose.TRAIN_WEIGHTS
TRIES: Final = 5


class DatasetExport:
    """Exports dataset versions of one store."""

    def __init__(self, store: Store, clock: Clock, ids: IdFactory, approvals: Approvals | None = None) -> None:
        """On one store; ``approvals`` holds the four-eyes rule."""
        self._store, self._clock, self._ids, self._approvals = store, clock, ids, approvals

    def run(self, root: str, target: Path, recipient: str) -> DatasetUse:
        """Write what may be used of a dataset now to ``target``, for ``recipient``.

        Raises:
            NotFound: when there is no such dataset.
            RightsError: when no row may be exported now.
            ApprovalMissing: when it waits for another person.
            RecordError: when something else lies at ``target``.
            StoreError: when rights change faster than the file is written.

        """
        if self._approvals is not None:
            scope = self._store.datasets.manifest(root).scope
            self._approvals.require(chain_of(tenants_of(scope)), ApprovedAct.DATASET, root)
        with _locked(target.parent):
            _refuse_other(target, root)
            return self._run(root, target, recipient)

    def _run(self, root: str, target: Path, recipient: str) -> DatasetUse:
        beside = target.with_name(f".{target.name}.part")
        for _ in range(TRIES):
            state = self._store.rights.state()
            found = self._store.datasets.judged(root, PURPOSE)
            use = self._use(found, target, recipient)
            body = _write(beside, self._lines(use, found))
            if self._store.rights.state() != state:
                beside.unlink()
                continue
            self._record(use, found, body)
            beside.replace(target)
            _sync_folder(target.parent)
            return use
        raise StoreError(f"export of {root}: rights changed {TRIES} times while the file was written")

    def _use(self, found: JudgedRows, target: Path, recipient: str) -> DatasetUse:
        dropped = dict(sorted(Counter(one.reason for one in found.dropped).items()))
        if not found.rows:
            raise RightsError(f"no row of dataset {found.root} may be exported now: {dropped or 'it has none'}")
        version = self._store.datasets.part(found, MadeFor.EXPORT)
        policy = self._store.policy.version
        id_ = digest_json(["export", found.root, version, recipient, policy, str(target), dropped])[:32]
        held = self._store.manifests.use(id_)
        return held or DatasetUse(
            id=id_,
            kind=UseKind.EXPORT,
            root=found.root,
            version=version,
            scope=self._store.datasets.manifest(found.root).scope,
            target=recipient,
            outcome=UseOutcome.DROPPED if dropped else UseOutcome.WENT_ON,
            rows=len(found.rows),
            dropped=dropped,
            policy_version=policy,
            as_of=found.as_of,
            actor=acting().principal.name,
        )

    def _lines(self, use: DatasetUse, found: JudgedRows) -> Iterator[dict[str, Any]]:
        version = self._store.manifests.version(use.version)
        lines = self._store.manifests.lines(use.version, PURPOSE)
        rows = {row.digest(): row for row in found.rows}
        yield _header(use, version)
        for position, line in lines.items():
            row = rows[line.row]
            yield {"kind": ROW, "position": position, "line": line.plain(), "row": row.plain()}
        for one in found.dropped:
            yield {"kind": DROPPED, "row": one.row, "reason": one.reason}
        yield {"kind": END, "rows": len(lines), "dropped": len(found.dropped), "merkle_root": version.merkle_root}

    def _record(self, use: DatasetUse, found: JudgedRows, body: str) -> None:
        detail = {"recipient": use.target, "version": use.version, "rows": use.rows, "dropped": use.dropped}
        detail |= {"digest": body}
        tenants = sorted({row.tenant_id for row in found.rows})
        with self._store.transaction(durable=True):
            self._store.manifests.put_use(use)
            rested = Counter(row.tenant_id for row in found.rows if _pseudonymised(found, row))
            for tenant_id in tenants:
                if rested[tenant_id]:
                    uses = self._store.pseudonymised
                    uses.note(tenant_id, PURPOSE, UseOfRows.EXPORT, rested[tenant_id], use.target)
                event = audited(
                    self._ids, self._clock.now(), tenant_id, "dataset_exported", f"dataset:{use.root}", detail
                )
                self._store.audit.append(event)


def _pseudonymised(found: JudgedRows, row: DatasetRow) -> bool:
    return found.verdicts[row.digest()].basis is Basis.PIPA_28_2


def _header(use: DatasetUse, version: DatasetVersion) -> dict[str, Any]:
    return {
        "kind": HEAD,
        "form": FORM,
        "export": use.id,
        "recipient": use.target,
        "dataset": use.root,
        "version": use.version,
        "merkle_root": version.merkle_root,
        "leaves": len(version.leaves),
        "scope": use.scope,
        "purpose": PURPOSE.value,
        "purpose_iri": PURPOSE_IRI[PURPOSE],
        "policy_version": use.policy_version,
        "as_of": use.as_of.isoformat(),
        "exclusions": version.exclusions,
        "preparation": version.preparation,
    }


def _write(path: Path, lines: Iterator[dict[str, Any]]) -> str:
    """Write and sync; only the owner may read it. The digest of everything before the end, which names it."""
    body = hashlib.sha256()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        for line in lines:
            said = canonical_json(line | {"body": body.hexdigest()} if line["kind"] == END else line) + b"\n"
            body.update(said if line["kind"] != END else b"")
            file.write(said)
        file.flush()
        os.fsync(file.fileno())
    return body.hexdigest()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One export at a time into a folder: two of one file would write into each other's."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _refuse_other(target: Path, root: str) -> None:
    """Only an export of the same dataset is replaced."""
    if not target.exists():
        return
    with target.open("rb") as file:
        head = parsed(file.readline(), target, 1, strict=False)
    if head.get("form") != FORM or head.get("dataset") != root:
        raise RecordError(f"{target}: something else is there, and an export replaces nothing but itself")
