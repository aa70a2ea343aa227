"""Lineage as people ask for it: what a release was made from, what was made from a person, what a source taints."""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Record, UtcTime
from governance.records.lineage import Node, NodeKind
from governance.records.rights import BASIS_IRI, Basis

Nodes = dict[NodeKind, tuple[str, ...]]
"""Kind to ids, sorted."""


class RowLineage(Record):
    """One row of a dataset: whose it is, from which run, by which right."""

    dataset: str
    row: str
    tenant_id: str
    subject: str
    trajectory_id: str
    basis: Basis | None
    clause: str | None
    """``contract/purpose``: the term of the contract that the right rests on."""
    as_of: UtcTime
    """When the right was judged."""
    policy_version: str

    @property
    def basis_iri(self) -> str | None:
        """The basis as the vocabulary names it."""
        return BASIS_IRI[self.basis] if self.basis else None


class Run(Record):
    """A run that something was made from."""

    id: str
    tenant_id: str
    subject: str | None
    """None where the run is not kept any more."""


class ReleaseLineage(Record):
    """What a release was made from, in whole or in part."""

    release: str
    made_from: Nodes
    """Datasets, facts, proposals, patterns, signals, tasks, ...; rows, runs and people stand below."""
    rows: tuple[RowLineage, ...]
    runs: tuple[Run, ...]
    subjects: tuple[str, ...]
    """``tenant/hash``."""


class SubjectLineage(Record):
    """Everything that was made from a person's data, in whole or in part."""

    tenant_id: str
    subject: str
    made: Nodes


class SourceKind(StrEnum):
    """What can be found unlawful."""

    RUN = "run"
    """Single runs, by their ids."""
    SUBJECT = "subject"
    CONTRACT = "contract"
    """Everything that was collected or trained under a contract."""
    TENANT = "tenant"
    IMPORT = "import"
    """Everything that came from one imported file."""
    WORLD = "world"
    DATASET = "dataset"


class Source(Record):
    """A source of one tenant."""

    tenant_id: str
    kind: SourceKind
    ids: tuple[str, ...] = ()
    """Ids of runs, a person's hash, a contract's id, digests of files, worlds or datasets; none for a tenant."""


class Derived(Record):
    """Something made from a source."""

    node: Node
    whole: bool
    """Whether everything that it was made from comes from the source; else a part does."""
    sources: int
    """How many things it was made from directly, as far as lineage knows."""
    tainted: int
    """How many of them come from the source."""


class TaintedDataset(Record):
    """A dataset that holds rows of a source."""

    root: str
    whole: bool
    rows: int
    tainted: int


class Taint(Record):
    """What derives from a source in whole or in part: what would be retired, or was."""

    source: Source
    runs: int
    datasets: tuple[TaintedDataset, ...]
    adapters: tuple[str, ...]
    releases: tuple[str, ...]
    grades: int
    gate_reports: tuple[str, ...]
    others: dict[NodeKind, int]
    """Tasks, patterns, proposals, facts, ..., by kind."""
    champions: dict[str, str]
    """Scope to the tainted release that serves there."""
    retired: bool
    """Whether it was retired, or only asked for."""
