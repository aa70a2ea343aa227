"""The folder of adapters: one folder a content digest, whole or not there, findable by person and removable.

Layout of the folder that this module answers for (``adapters`` in the data home):

    <digest>/   adapter_model.safetensors  adapter_config.json   what an engine loads; the digest is over these two
                probe.json                                       what it says of neutral texts
                training.json  sources.json                      how it was made; the people whose rows it learned from
    work/<key>/ job.json  rows.jsonl  sources.json  checkpoints/ ...  a training under way

*Name.* The digest is over the tensors (name, shape, type, bytes, sorted) and the configuration without paths, so equal
adapters have one name wherever and whenever they were trained. A folder is filled beside its place and renamed into it.
*Fit to be named.* Every value is finite, and some B matrix is not zero: a LoRA begins at B = 0, so an adapter whose
training silently failed is the base under another name.
*Erasure.* A training under way that reads a person's rows is removed whole. A finished adapter is removed unless it is
in service: then it ends ``pending_rebuild``, its list of people loses the person, and it goes with ``drop``, which
removes what lineage names (a row that only mentions the person is another's here), once nothing serves it any more. A
training that nobody took up again is removed by ``sweep``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from governance.ports.erasable import Content, Erasable
from governance.records.base import canonical_json, digest_bytes, digest_json
from governance.records.erasure import ArtifactState, ErasedArtifact
from governance.records.lineage import Node, NodeKind
from training.errors import AdapterFault

WEIGHTS: Final = "adapter_model.safetensors"
CONFIG: Final = "adapter_config.json"
PROBE: Final = "probe.json"
TRAINING: Final = "training.json"
SOURCES: Final = "sources.json"
WORK: Final = "work"
ROWS: Final = "rows.jsonl"

People = tuple[tuple[str, str], ...]
"""Tenant and subject, sorted."""


def normalised_config(config: dict[str, Any], base_name: str) -> dict[str, Any]:
    """PEFT's configuration without paths and without the order of sets."""
    kept = {name: sorted(value) if name == "target_modules" else value for name, value in config.items()}
    return {**kept, "base_model_name_or_path": base_name, "inference_mode": True, "revision": None}


def content_digest(folder: Path) -> str:
    """The name of an adapter: the digest of its tensors and of its configuration.

    Raises:
        AdapterFault: when a file is missing or is not what it should be.

    """
    try:
        weights = _tensor_digest((folder / WEIGHTS).read_bytes())
        config = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError, KeyError) as error:
        raise AdapterFault(f"{folder.name}: not an adapter: {error}") from error
    return digest_json({"weights": weights, "config": config})


def _tensor_digest(data: bytes) -> str:
    """Over the tensors of a safetensors file, whatever the order and metadata of its header."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    tensors = []
    for name, entry in sorted(header.items()):
        if name != "__metadata__":
            start, end = entry["data_offsets"]
            body = digest_bytes(data[8 + size + start : 8 + size + end])
            tensors.append([name, entry["dtype"], entry["shape"], body])
    return digest_json(tensors)


def check(folder: Path) -> None:
    """Refuse weights that are not finite or change nothing.

    Raises:
        AdapterFault: naming the tensor.

    """
    import numpy as np
    from safetensors.numpy import load_file

    tensors = load_file(folder / WEIGHTS)
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise AdapterFault(f"{name} holds a value that is not finite")
    if not any(np.any(tensor) for name, tensor in tensors.items() if ".lora_B." in name):
        raise AdapterFault("every B matrix is zero: the adapter changes nothing")


def write_json(path: Path, value: Any) -> None:
    """Write canonical JSON durably, whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(canonical_json(value))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


class AdapterShelf(Erasable):
    """The folder's keeper."""

    def __init__(self, folder: Path, in_service: Callable[[str], bool]) -> None:
        """``in_service`` says whether a deployed release uses the adapter of that digest."""
        self.folder = folder
        self._in_service = in_service

    @property
    def name(self) -> str:
        """What reports call it."""
        return "adapters"

    @property
    def claims(self) -> frozenset[str]:
        """The folder."""
        return frozenset({"adapters"})

    def path(self, digest: str) -> Path:
        """The folder of an adapter, checked against its name.

        Raises:
            AdapterFault: when it is not held, or what is held is another adapter.

        """
        folder = self.folder / digest
        if content_digest(folder) != digest:
            raise AdapterFault(f"the adapter in {digest[:12]} is not the one that its name says")
        return folder

    def probe(self, digest: str) -> dict[str, Any]:
        """What the adapter said of the neutral texts when it was trained."""
        probe: dict[str, Any] = json.loads((self.folder / digest / PROBE).read_bytes())
        return probe

    def people(self, digest: str) -> People:
        """Whose rows it learned from."""
        return _people(self.folder / digest)

    def publish(self, folder: Path) -> str:
        """Check a filled folder, rename it to its digest and return the digest; an equal adapter that stands stays.

        Raises:
            AdapterFault: when it is not fit to be named.

        """
        check(folder)
        digest = content_digest(folder)
        target = self.folder / digest
        if target.exists() and content_digest(target) == digest:
            write_json(target / SOURCES, sorted({*_people(target), *_people(folder)}))
            shutil.rmtree(folder)
            return digest
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
        return digest

    def made_by(self, key: str) -> str | None:
        """The digest of the adapter that a job has made already."""
        for folder in self._finished():
            record = folder / TRAINING
            if record.exists() and json.loads(record.read_bytes()).get("key") == key:
                return folder.name
        return None

    def count(self, tenant_id: str, subject: str) -> int:
        """Adapters and trainings that learned from the person."""
        return sum((tenant_id, subject) in _people(folder) for folder in (*self._finished(), *self._working()))

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        """Remove what learned from the person, or mark it for the rebuild while it is in service."""
        ended = []
        for folder in self._working():
            if (tenant_id, subject) in _people(folder):
                self._remove(folder)
                ended.append(_ended(f"{WORK}/{folder.name}", ArtifactState.DELETED, "a training under way"))
        for folder in self._finished():
            people = _people(folder)
            if (tenant_id, subject) not in people:
                continue
            if self._in_service(folder.name):
                write_json(folder / SOURCES, [one for one in people if one != (tenant_id, subject)])
            ended.append(self._end(folder))
        return tuple(ended)

    def drop(self, made: Collection[Node]) -> tuple[ErasedArtifact, ...]:
        """Remove the named adapters, those of named rows, and trainings that read named runs.

        What is in service is left for the rebuild.
        """
        names: dict[NodeKind, set[str]] = {}
        for one in made:
            names.setdefault(one.kind, set()).add(one.id.rpartition("/")[2])
        ended = []
        for folder in self._working():
            if _runs_read(folder) & names.get(NodeKind.TRAJECTORY, set()):
                self._remove(folder)
                ended.append(_ended(f"{WORK}/{folder.name}", ArtifactState.DELETED, "a training under way"))
        adapters, rows = names.get(NodeKind.ADAPTER, set()), names.get(NodeKind.DATASET_ROW, set())
        theirs = [one for one in self._finished() if one.name in adapters or _rows_learned(one) & rows]
        return (*ended, *(self._end(folder) for folder in theirs))

    def _end(self, folder: Path) -> ErasedArtifact:
        if self._in_service(folder.name):
            return _ended(folder.name, ArtifactState.PENDING_REBUILD, "in service until it is rebuilt")
        self._remove(folder)
        return _ended(folder.name, ArtifactState.DELETED, "weights removed")

    def contents(self) -> Iterator[Content]:
        """Every file."""
        files = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        yield from (Content(str(path.relative_to(self.folder)), path) for path in files)

    def discard(self, digest: str) -> None:
        """Remove an adapter that nothing serves any more; idempotent.

        Raises:
            AdapterFault: while it is in service.

        """
        if self._in_service(digest):
            raise AdapterFault(f"{digest[:12]} is in service")
        if (self.folder / digest).is_dir():
            self._remove(self.folder / digest)

    def sweep(self, before: datetime) -> int:
        """Remove trainings under way that were last started before that time; how many."""
        old = [one for one in self._working() if datetime.fromtimestamp(one.stat().st_mtime, UTC) < before]
        for folder in old:
            self._remove(folder)
        return len(old)

    def _finished(self) -> Iterator[Path]:
        yield from sorted(one for one in self.folder.glob("[0-9a-f]*") if len(one.name) == 64 and one.is_dir())

    def _working(self) -> Iterator[Path]:
        yield from sorted(one for one in (self.folder / WORK).glob("*") if one.is_dir())

    def _remove(self, folder: Path) -> None:
        """Out of its place first, so that nobody meets half a folder."""
        gone = folder.with_name(f".gone-{folder.name}")
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone)


def _people(folder: Path) -> People:
    """The people of a folder; a folder without the list counts nobody."""
    try:
        listed = json.loads((folder / SOURCES).read_bytes())
    except OSError:
        return ()
    return tuple((tenant, subject) for tenant, subject in listed)


def _runs_read(folder: Path) -> set[str]:
    """Traces of the rows that a training under way reads."""
    try:
        lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return {json.loads(line)["trajectory_id"].rpartition("/")[2] for line in lines if line}


def _rows_learned(folder: Path) -> set[str]:
    """Digests of the rows that a finished adapter learned from."""
    try:
        return set(json.loads((folder / TRAINING).read_bytes())["rows"])
    except (OSError, KeyError):
        return set()


def _ended(identifier: str, state: ArtifactState, detail: str) -> ErasedArtifact:
    return ErasedArtifact(node=Node(kind=NodeKind.ADAPTER, id=identifier), state=state, detail=detail)
