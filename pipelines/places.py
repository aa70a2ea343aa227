"""Every place of a data home that holds data made from people: what an erasure goes through, and what ``show`` counts.

A place whose folder is not there holds nothing. It is neither made nor opened to learn that, so asking about a person
leaves a data home as it was, and a tracker that nothing was ever written to costs no import of MLflow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from governance.ports.erasable import Content, Erasable
from governance.records.erasure import ErasedArtifact
from governance.records.lineage import Node
from governance.rescan.needles import Needles
from pipelines.home import HomeFiles

if TYPE_CHECKING:
    from pipelines.wiring import Mill


class Folder(Erasable):
    """A place that is one folder of the data home, made when somebody first writes to it."""

    def __init__(self, folder: Path, inside: Callable[[], Erasable]) -> None:
        """``inside`` opens the place; it is called only while the folder is there."""
        self._folder, self.inside = folder, inside

    @property
    def name(self) -> str:
        """What reports call it: the place's own name once there is a place."""
        return self.inside().name if self._folder.exists() else self._folder.name

    @property
    def claims(self) -> frozenset[str]:
        """The folder, whether or not it is there."""
        return frozenset({self._folder.name})

    def count(self, tenant_id: str, subject: str) -> int:
        """What the place counts; without a folder nothing."""
        return self.inside().count(tenant_id, subject) if self._folder.exists() else 0

    def erase(self, tenant_id: str, subject: str) -> tuple[ErasedArtifact, ...]:
        """What the place erases; without a folder nothing."""
        return self.inside().erase(tenant_id, subject) if self._folder.exists() else ()

    def contents(self) -> Iterator[Content]:
        """What the place holds; without a folder nothing."""
        return self.inside().contents() if self._folder.exists() else iter(())

    def drop(self, made: Collection[Node]) -> tuple[ErasedArtifact, ...]:
        """What the place drops; without a folder nothing."""
        return self.inside().drop(made) if self._folder.exists() else ()

    def purge(self, needles: Needles) -> tuple[ErasedArtifact, ...]:
        """What the place purges; without a folder nothing."""
        return self.inside().purge(needles) if self._folder.exists() else ()

    def scrub(self) -> None:
        """What the place scrubs; without a folder nothing."""
        if self._folder.exists():
            self.inside().scrub()


def places(mill: Mill) -> tuple[Erasable, ...]:
    """All of them, in the order in which an erasure goes: what is still on its way first."""
    home = mill.settings.home
    found = (
        Folder(home / "spool", lambda: _spool(mill)),
        _quarantine(mill),
        mill.store.erasable(),
        Folder(home / "adapters", lambda: mill.shelf),
        # A tracker elsewhere has no folder here, and has to be asked.
        Folder(home / "mlflow", lambda: mill.tracker) if mill.settings.mlflow_tracking_uri is None else mill.tracker,
        Folder(home / "recording", lambda: _recording(mill)),
    )
    others = frozenset(name for place in found if isinstance(place, Folder) for name in place.claims)
    return (*found, HomeFiles(home, keys=mill.settings.keys, others=others))


def _spool(mill: Mill) -> Erasable:
    from ingestion.spool_erasable import spool_erasable

    return spool_erasable(mill.spool, mill.subjects, lambda: mill.drain(patient=False).run())


def _quarantine(mill: Mill) -> Erasable:
    from ingestion.quarantine_erasable import quarantine_erasable

    return quarantine_erasable(lambda: mill.spool, mill.store, lambda: mill.subjects)


def _recording(mill: Mill) -> Erasable:
    from ingestion.recording import recording_erasable

    return recording_erasable(mill.recording, mill.subjects)
