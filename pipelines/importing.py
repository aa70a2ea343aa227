"""Files through the door of the intake: what an importer reads becomes OTLP bodies in the spool, and is drained.

1. Everything that holds for received spans holds for imported ones: consent, masking, quarantine, the ledger. Nothing
   of a file is written outside of the spool.
2. While another process writes to the spool, bodies are posted to its intake with the tenant's key (`tidemill up`).
   Where no intake answers, it is another import, and this one waits until that one has ended.
3. A file that is refused costs no other file.
4. Whose data a trace is, it says itself (the tenant's subject attributes). Where it names nobody, it is the data of the
   person that whoever imports it names; where nobody is named at all, what was said is withheld.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from governance.records.base import to_unix_nano
from governance.records.lineage import Node, NodeKind
from governance.store.lineage import edge, node
from ingestion.envelope import Envelope
from ingestion.errors import ImportRefused, SpoolBusy, SpoolFull
from ingestion.importers import Recognised, Refused, recognise_file
from ingestion.otlp_decode import JSON
from ingestion.otlp_encode import encode
from pipelines.errors import StepError

if TYPE_CHECKING:
    from governance.records.span import Span
    from pipelines.ground import Ground

_BODY: Final = 2 * 2**20
"""Characters of content after which a body is full: well under what the intake takes."""
_SPANS: Final = 500
_EXAMPLES: Final = 5
_REASONS: Final = 50
_ATTEMPTS: Final = 20
_BUSY_S: Final = 600.0
"""How long an import waits for another one."""
_LOOK_S: Final = 0.5
_LATER: Final = (429, 503)
_REFUSED: Final = (400, 413)
_WITHHELD: Final = (
    "the structure of some spans is kept and what was said in them is withheld: no right to it, or nobody is named"
    " whose data it is (see: tidemill rights --help, tidemill ingest --help)"
)


@dataclass
class FileReport:
    """What became of one file."""

    form: str | None = None
    spans: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    """The first places that were refused."""
    trajectories: dict[str, None] = field(default_factory=dict)
    """Their ids, in order."""
    refused: str | None = None

    def reject(self, where: str, reason: str) -> None:
        """Count a part that is no span."""
        # Some reasons name a place, so a broken file has as many as lines.
        known = reason[:120] in self.rejected or len(self.rejected) < _REASONS
        self.rejected[reason[:120] if known else "other reasons"] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(f"{where}: {reason}"[:300])

    def plain(self) -> dict[str, Any]:
        """For the command's output."""
        if self.refused is not None:
            return {"refused": self.refused, **({"spans": self.spans} if self.spans else {})}
        rejected = {"rejected": dict(self.rejected), "examples": self.examples} if self.rejected else {"rejected": {}}
        return {"form": self.form, "spans": self.spans, **rejected, "trajectories": list(self.trajectories)}


def ingest(ground: Ground, tenant: str, paths: Sequence[Path], person: str | None = None) -> dict[str, Any]:
    """Import files for a tenant and drain; the report by file, and ``ok``: whether every file was taken.

    ``person`` is the raw id of the one whose data the traces are that name nobody.
    """
    alone = ground.spool.segments_held() == 0
    door = _Door(ground, tenant)
    reports = {str(path): _file(door, path, person) for path in paths}
    ground.spool.pause()  # so that another import need not wait for this one's masking
    # Nothing of an import comes late, so nothing waits for a root, unless spans of others are there to be waited for.
    drained = ground.drain(patient=not alone or door.remote).run()
    _remember(ground, tenant, reports)
    return {
        "files": {name: report.plain() for name, report in reports.items()},
        "drained": drained.plain(),
        **({"note": _WITHHELD} if drained.withheld else {}),
        "ok": all(report.refused is None for report in reports.values()),
    }


def _remember(ground: Ground, tenant: str, reports: Mapping[str, FileReport]) -> None:
    """Which runs came from which file, by its digest: a file that is found unlawful taints what was made of it."""
    for name, report in reports.items():
        if report.trajectories:
            with Path(name).open("rb") as file:
                source = node(NodeKind.IMPORT, tenant, hashlib.file_digest(file, "sha256").hexdigest())
            runs = (Node(kind=NodeKind.TRAJECTORY, id=id_) for id_ in report.trajectories)
            ground.store.lineage.add([edge(run, source) for run in runs])


def _file(door: _Door, path: Path, person: str | None) -> FileReport:
    report = FileReport()
    try:
        recognised = recognise_file(path)
        report.form = recognised.form.name
        for body in _bodies(_owned(recognised, door, person), report):
            _count(door.send(body), report, door.tenant)
        if not report.spans:
            why = f"; {report.examples[0]}" if report.examples else ""
            report.refused = f"{path.name}: {report.form}, and no span in it can be taken{why}"
    except ImportRefused as error:
        report.refused = str(error)
    except Exception as error:  # noqa: BLE001 - whatever one file breaks stays with that file, and is said
        report.refused = f"{path}: {type(error).__name__}: {str(error)[:200] or 'no further word'}"
    return report


def _owned(recognised: Recognised, door: _Door, person: str | None) -> Iterator[Span | Refused]:
    """What a file holds; the traces that name nobody name the person."""
    if person is None:
        yield from recognised.spans()
        return
    named = {item.trace_id for item in recognised.spans() if not isinstance(item, Refused) and door.names(item)}
    for item in recognised.spans():
        if isinstance(item, Refused) or item.trace_id in named:
            yield item
        else:
            yield item.model_copy(update={"attributes": item.attributes | {door.person_key: person}})


def _bodies(items: Iterable[Span | Refused], report: FileReport) -> Iterator[bytes]:
    """The spans of a file in bodies of bounded size."""
    batch: list[Span] = []
    size = 0
    for item in items:
        if isinstance(item, Refused):
            report.reject(item.where, item.reason)
            continue
        length = _length(item)
        if batch and (size + length > _BODY or len(batch) == _SPANS):
            yield encode(batch)
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield encode(batch)


def _length(span: Span) -> int:
    held = (span.attributes, span.resource, *(event.attributes for event in span.events))
    return sum(len(str(value)) for fields in held for value in fields.values())


def _count(decoded: Iterable[Any], report: FileReport, tenant: str) -> None:
    for item in decoded:
        if hasattr(item, "span_id"):
            report.spans += 1
            report.trajectories[f"{tenant}/{item.trace_id}"] = None
        else:
            report.reject(item.reason, item.detail)


class _Door:
    """Where a body is taken: this process's spool, or the intake that holds it."""

    def __init__(self, ground: Ground, tenant: str) -> None:
        self._ground = ground
        self.tenant = tenant
        self.remote = False

    @property
    def person_key(self) -> str:
        """The attribute that names a person here."""
        return self._ground.subject_attributes[0]

    def names(self, span: Span) -> bool:
        """Whether a span says whose data it is."""
        return self._ground.subjects.raw_id(self.tenant, span) is not None

    def send(self, body: bytes) -> list[Any]:
        """Make a body durable, and say what the drain will read from it."""
        envelope = Envelope(content_type=JSON, received_unix_nano=to_unix_nano(self._ground.clock.now()), body=body)
        decoded = envelope.spans()
        if self.remote:
            self._post(body)
            return decoded
        deadline = time.monotonic() + _BUSY_S
        while True:
            try:
                self._append(envelope.model_copy(update={"entries": len(decoded)}))
            except SpoolBusy as error:
                if self._served():
                    self.remote = True
                    self._post(body)
                elif time.monotonic() < deadline:
                    time.sleep(_LOOK_S)
                    continue
                else:
                    raise StepError(f"another process holds the spool, and no intake answers: {error}") from error
            return decoded

    def _served(self) -> bool:
        """Whether the process that holds the spool is an intake."""
        from pipelines.supervisor import healthy

        settings = self._ground.settings
        return healthy(f"{settings.intake_url}/health", 2.0, settings.tls_cert)

    def _append(self, envelope: Envelope) -> None:
        try:
            self._ground.spool.append(self.tenant, envelope.pack())
        except SpoolFull:
            self._ground.drain().run()
            self._ground.spool.append(self.tenant, envelope.pack())

    def _post(self, body: bytes) -> None:
        """Post to the intake, and come again as often as it says so."""
        url = f"{self._ground.settings.intake_url}/v1/traces"
        for _ in range(_ATTEMPTS):
            status, told, wait_s = self._posted(url, body)
            if status not in _LATER:
                break
            time.sleep(wait_s)
        if status in _REFUSED:
            raise ImportRefused(f"{url}: the intake refused a body ({status}): {told}")
        if status != 200:
            raise StepError(f"{url}: the intake did not take a body ({status}): {told}")

    def _posted(self, url: str, body: bytes) -> tuple[int, str, int]:
        import httpx

        from pipelines.supervisor import verification

        verify = verification(self._ground.settings.tls_cert)
        headers = {"content-type": JSON, "x-tidemill-key": self._ground.tenant_keys.of(self.tenant)}
        try:
            answer = httpx.post(url, content=body, headers=headers, timeout=60, verify=verify)
        except httpx.HTTPError as error:
            raise StepError(f"{url}: the intake does not answer: {error}") from error
        wait = answer.headers.get("retry-after", "")
        return answer.status_code, answer.text[:200], min(int(wait), 30) if wait.isdecimal() else 1
