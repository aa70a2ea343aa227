"""The journal of erasures: suppressions and certificates, in a file outside of the database and of the data home.

A backup knows nothing of the erasures since it was made. The journal does: each suppression is written to it before it
is written to the database, and each certificate after. Whoever opens a database that lacks one of them erases the
person again (``lacking``). One JSON line an entry, appended and synced, mode 0600; a line that a crash cut off is no
entry. Keep it beside the keys and apart from the backups of the database: a journal that is restored with an old
database knows as little as the database does.

A line that only looks like an entry would erase somebody, and one that is gone would keep somebody. So each is
signed, over the digest of the line before it as well: one that was written by another hand, changed, moved or taken
out of the middle is named, and nothing is erased or forgotten for it. A line that a key signed which is not trusted
here counts for nothing: it is refused where the database lacks what it says, and elsewhere nothing follows from it,
so a home whose signing key was lost still opens. Lines taken off the end are not seen here; the audit's checkpoints
know of those erasures.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from governance.errors import RecordError, SignatureError
from governance.ports.keys import KeyProvider
from governance.records.base import Record, canonical_json
from governance.records.erasure import ErasureReport
from governance.records.rights import Suppression
from governance.records.rights_request import RightsRequest
from governance.records.signature import Signature
from governance.signing import public_keys, sign, verify
from governance.store import Store

LABEL = "tidemill erasure journal"

Person = tuple[str, str]
"""(tenant_id, subject)."""
_Certificates = defaultdict[Person, list[ErasureReport]]


class Entry(Record):
    """One line: somebody is suppressed on a request, or was erased."""

    suppression: Suppression | None = None
    request: RightsRequest | None = None
    certificate: ErasureReport | None = None
    previous: str | None = None
    """SHA-256 of the line before; None in the first one."""
    signature: Signature | None = None
    """Over all of the above."""

    def signed(self) -> bytes:
        """What the signature is over."""
        return canonical_json(self.model_copy(update={"signature": None}).plain())


class Lacking(Record):
    """An erasure that a database does not know of."""

    suppression: Suppression
    request: RightsRequest
    certificates: tuple[ErasureReport, ...]
    """None for a request that was broken off: it is run again by whoever asked."""


class _Line(Record):
    entry: Entry
    refused: str | None
    """Why nothing may follow from it."""


class ErasureJournal:
    """One file."""

    def __init__(self, path: Path, keys: KeyProvider) -> None:
        """The file is made with the first entry; ``keys`` sign, and those that they took the place of are trusted."""
        self._path, self._keys = path, keys

    def suppress(self, suppression: Suppression, request: RightsRequest) -> None:
        """Write a suppression down with the request that it is for, unless that stands there."""
        if request.id not in {one.request.id for one in self._ours() if one.request is not None}:
            self._append(Entry(suppression=suppression, request=request))

    def certify(self, certificate: ErasureReport) -> None:
        """Write a certificate down, unless it stands there."""
        if certificate.request_id not in {one.certificate.request_id for one in self._ours() if one.certificate}:
            self._append(Entry(certificate=certificate))

    def lacking(self, store: Store) -> tuple[Lacking, ...]:
        """What this journal knows and the store does not; nothing without a file.

        Raises:
            RecordError: for a line that is not as it was written, and for one of an untrusted key that the store lacks.

        """
        suppressions, certificates, foreign = self._told()
        if not suppressions:
            return ()
        known, out = store.erasures.ids(), store.rights.all_suppressed()
        found = []
        for person, (suppression, asked) in suppressions.items():
            missing = tuple(one for one in certificates[person] if one.request_id not in known)
            if missing or person not in out:
                if person in foreign:
                    raise RecordError(foreign[person])
                found.append(Lacking(suppression=suppression, request=asked, certificates=missing))
        return tuple(found)

    def _told(self) -> tuple[dict[Person, tuple[Suppression, RightsRequest]], _Certificates, dict[Person, str]]:
        """The last suppression of each person, their certificates, and why lines about them count for nothing."""
        suppressions: dict[Person, tuple[Suppression, RightsRequest]] = {}
        certificates: _Certificates = defaultdict(list)
        foreign: dict[Person, str] = {}
        for line in self._lines():
            out, asked, done = line.entry.suppression, line.entry.request, line.entry.certificate
            if line.refused is not None and (about := out or done) is not None:
                foreign.setdefault((about.tenant_id, about.subject), line.refused)
            if out is not None and asked is not None:
                suppressions[out.tenant_id, out.subject] = (out, asked)
            if done is not None:
                certificates[done.tenant_id, done.subject].append(done)
        return suppressions, certificates, foreign

    def _ours(self) -> Iterator[Entry]:
        yield from (line.entry for line in self._lines() if line.refused is None)

    def _lines(self) -> Iterator[_Line]:
        try:
            lines = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        previous, trusted = None, public_keys(self._keys)
        for number, line in enumerate(lines[:-1], start=1):
            if line:
                entry = Entry.parse(self._read(line, number), f"{self._path}:{number}")
                refused = self._check(entry, previous, trusted, number)
                previous = hashlib.sha256(line).hexdigest()
                yield _Line(entry=entry, refused=refused)

    def _check(self, entry: Entry, previous: str | None, trusted: frozenset[str], number: int) -> str | None:
        """Let a signed line pass behind the line that stands before it; why its key is not trusted, if it is not."""
        if entry.signature is None:
            raise RecordError(f"{self._path}:{number}: not signed; restore the file from a copy")
        key = entry.signature.public_key
        try:
            verify(entry.signature, LABEL, entry.signed(), {key})
        except (SignatureError, ValueError) as error:
            raise RecordError(f"{self._path}:{number}: {error}; restore the file from a copy") from error
        if entry.previous != previous:
            raise RecordError(
                f"{self._path}:{number}: a line before it was taken out, moved or put in; restore the file from a copy"
            )
        if key in trusted:
            return None
        return (
            f"{self._path}:{number}: signed by the key {key[:16]}, which is not trusted here; restore the file or the "
            "signing key from a copy"
        )

    def _read(self, line: bytes, number: int) -> Any:
        try:
            return json.loads(line)
        except ValueError as error:
            raise RecordError(
                f"{self._path}:{number}: no entry of the journal of erasures; restore the file from a copy, or take "
                "this line out once it is known whose erasure it was"
            ) from error

    def _append(self, entry: Entry) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(handle, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            whole = file.read()
            file.truncate(whole.rfind(b"\n") + 1)  # what a crash cut off
            file.seek(0, os.SEEK_END)
            lines = [line for line in whole.split(b"\n")[:-1] if line]
            entry = entry.model_copy(update={"previous": hashlib.sha256(lines[-1]).hexdigest() if lines else None})
            signature = sign(self._keys, LABEL, entry.signed())
            file.write(canonical_json(entry.model_copy(update={"signature": signature}).plain()) + b"\n")
            file.flush()
            os.fsync(file.fileno())
