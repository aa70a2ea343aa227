"""A recording: accepted request bodies, kept for replays of synthetic traffic.

1. Off unless someone passes it to the receiver. Each body is a file of its own, sealed under the spool key, so a
   recording is no way around the rule that raw spans never rest in clear.
2. Bodies come back in the order in which they were accepted.
3. A person is found by the raw id that the spans carry, hashed as the door does it, and removed with every span of
   the traces that name them; the other spans of a body stay.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from governance.ports.erasable import Content, Erasable
from governance.ports.keys import KeyName, KeyProvider
from governance.records.base import canonical_json
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from governance.records.span import Span
from ingestion.errors import DecodeError
from ingestion.otlp_decode import JSON, decode
from ingestion.otlp_encode import encode, encode_logs
from ingestion.people import Subjects
from ingestion.sealing import seal, unseal
from ingestion.segment import sync_folder
from ingestion.telemetry import Telemetry
from ingestion.text import parse_json

_SUFFIX = ".body"


class Recorded(NamedTuple):
    """One accepted body."""

    tenant_id: str
    content_type: str
    body: bytes
    telemetry: Telemetry = Telemetry.TRACES


class Recording:
    """A folder of sealed bodies."""

    def __init__(self, folder: Path, keys: KeyProvider) -> None:
        """The folder is made with mode 0700 when it does not exist."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._keys = keys
        self._guard = threading.Lock()

    def append(self, tenant_id: str, content_type: str, body: bytes, telemetry: Telemetry = Telemetry.TRACES) -> None:
        """Keep a copy of a body."""
        with self._guard:
            last = max((int(path.stem) for path in self.folder.glob(f"*{_SUFFIX}")), default=0)
            self._write(last + 1, Recorded(tenant_id, content_type, body, telemetry))

    def _write(self, number: int, item: Recorded) -> None:
        name = f"{number:012d}{_SUFFIX}"
        head = canonical_json({"tenant": item.tenant_id, "type": item.content_type, "holds": item.telemetry.value})
        sealed = seal(self._keys.key(KeyName.SPOOL), f"tidemill recording {name}", head + b"\n" + item.body)
        half = self.folder / f"{name}.half"
        half.write_bytes(sealed)
        half.chmod(0o600)
        half.rename(self.folder / name)
        sync_folder(self.folder)

    def _read(self, path: Path) -> Recorded:
        opened = unseal(self._keys.key(KeyName.SPOOL), f"tidemill recording {path.name}", path.read_bytes())
        head, _, body = opened.partition(b"\n")
        fields = parse_json(head.decode(), set())
        telemetry = Telemetry(fields.get("holds", Telemetry.TRACES))
        return Recorded(fields["tenant"], fields["type"], body, telemetry)

    def __iter__(self) -> Iterator[Recorded]:
        """The bodies in the order in which they were accepted."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            yield self._read(path)

    def __len__(self) -> int:
        return sum(1 for _ in self.folder.glob(f"*{_SUFFIX}"))

    def rewrite(self, change: Callable[[Recorded], Recorded | None]) -> int:
        """Replace each body by what ``change`` gives, None removing it; returns how many were touched."""
        touched = 0
        with self._guard:
            for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
                old = self._read(path)
                new = change(old)
                if new is None:
                    path.unlink()
                elif new != old:
                    self._write(int(path.stem), new)
                touched += new != old
            sync_folder(self.folder)
        return touched


def replay(recording: Recording, post: Callable[[Recorded], None]) -> int:
    """Send every body again, in order; returns how many."""
    sent = 0
    for item in recording:
        post(item)
        sent += 1
    return sent


def recording_erasable(recording: Recording, subjects: Subjects) -> Erasable:
    """The recording as a place that answers for the people in it."""
    return _RecordingErasable(recording, subjects)


class _RecordingErasable(Erasable):
    def __init__(self, recording: Recording, subjects: Subjects) -> None:
        self._recording = recording
        self._subjects = subjects

    @property
    def name(self) -> str:
        return "recording of intake"

    @property
    def claims(self) -> frozenset[str]:
        return frozenset({"recording"})

    def count(self, tenant_id: str, subject: str) -> int:
        """Spans of the traces that name the subject."""
        items = (item for item in self._recording if item.tenant_id == tenant_id)
        return sum(len(_spans(item)) - len(self._others(item, subject)) for item in items)

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        found = self.count(tenant_id, subject)
        if not found:
            return ()

        def change(item: Recorded) -> Recorded | None:
            if item.tenant_id != tenant_id:
                return item
            others = self._others(item, subject)
            if len(others) == len(_spans(item)):
                return item
            encoded = encode_logs(others) if item.telemetry is Telemetry.LOGS else encode(others)
            return Recorded(tenant_id, JSON, encoded, item.telemetry) if others else None

        self._recording.rewrite(change)
        node = Node(kind=NodeKind.BLOCK, id="recording")
        return (ErasedArtifact(node=node, state=ArtifactState.DELETED, detail=f"{found} recorded spans"),)

    def contents(self) -> Iterator[Content]:
        """The bodies, unsealed."""
        yield from (Content(f"body {number}", item.body) for number, item in enumerate(self._recording, start=1))

    def _others(self, item: Recorded, subject: str) -> list[Span]:
        spans = _spans(item)
        theirs = self._subjects.traces_of(item.tenant_id, subject, spans)
        return [span for span in spans if span.trace_id not in theirs]


def _spans(item: Recorded) -> list[Span]:
    try:
        decoded = decode(item.body, item.content_type, received_unix_nano=2**63, telemetry=item.telemetry)
    except DecodeError:
        return []
    return [one for one in decoded if isinstance(one, Span)]
