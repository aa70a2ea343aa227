"""The lineage of a release as a graph that names nobody: what the exports for other catalogues are made from.

Rows, runs and people are counted for each dataset and tenant, with the bases and the clauses of contracts that they
rest on; everything else is a node of its own.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from governance.errors import NotFound
from governance.records.base import Record, UtcTime
from governance.records.descent import ReleaseLineage
from governance.records.lineage import LineageEdge, Node, NodeKind
from governance.records.rights import BASIS_IRI
from governance.store import Store


class Share(Record):
    """What a dataset has of one tenant."""

    dataset: str
    tenant_id: str
    rows: int
    runs: int
    people: int
    bases: dict[str, int]
    """IRI of a legal basis to the number of rows on it."""
    clauses: dict[str, int]
    """``contract/purpose`` to the number of rows on it."""
    policies: tuple[str, ...]
    """Versions of the policies that judged the rows."""


class Graph(Record):
    """Nodes, edges, and shares of tenants in datasets."""

    release: str
    nodes: tuple[Node, ...]
    edges: tuple[LineageEdge, ...]
    shares: tuple[Share, ...]
    at: UtcTime
    """When the release was made."""
    times: dict[str, UtcTime]
    """``kind:id`` to when it was made, where that is known."""

    def made_at(self, node: Node) -> datetime:
        """When a node was made, or at the latest, with the release."""
        return self.times.get(f"{node.kind}:{node.id}", self.at)


def graph_of(store: Store, lineage: ReleaseLineage) -> Graph:
    """The graph of a release's lineage."""
    nodes = [Node(kind=NodeKind.RELEASE, id=lineage.release)]
    nodes += [Node(kind=kind, id=id_) for kind, ids in lineage.made_from.items() for id_ in ids]
    known = set(nodes)
    return Graph(
        release=lineage.release,
        nodes=tuple(nodes),
        edges=tuple(one for one in store.lineage.edges(nodes) if one.source in known),
        shares=tuple(_shares(lineage)),
        at=store.releases.recorded_at(lineage.release),
        times=_times(store, lineage),
    )


def _times(store: Store, lineage: ReleaseLineage) -> dict[str, UtcTime]:
    found = {}
    for root in lineage.made_from.get(NodeKind.DATASET, ()):
        try:
            found[f"{NodeKind.DATASET}:{root}"] = store.manifests.version(root).at
        except NotFound:  # another name of a dataset
            continue
    return found


def _shares(lineage: ReleaseLineage) -> list[Share]:
    shares = []
    for dataset, tenant_id in sorted({(row.dataset, row.tenant_id) for row in lineage.rows}):
        rows = [row for row in lineage.rows if (row.dataset, row.tenant_id) == (dataset, tenant_id)]
        shares.append(
            Share(
                dataset=dataset,
                tenant_id=tenant_id,
                rows=len(rows),
                runs=len({row.trajectory_id for row in rows}),
                people=len({row.subject for row in rows}),
                bases=dict(sorted(Counter(BASIS_IRI[row.basis] for row in rows if row.basis).items())),
                clauses=dict(sorted(Counter(row.clause for row in rows if row.clause).items())),
                policies=tuple(sorted({row.policy_version for row in rows})),
            )
        )
    return shares
