"""A release's lineage as OpenLineage events, for catalogues that read them (openlineage.io, spec 2-0-2).

Each thing that was made is the output of one run of the job that makes its kind: a START and a COMPLETE event with the
things that it was made from as inputs. What a dataset took from people is one input for each tenant, its traces, with
the counts, legal bases and clauses as a facet of our own; no person and no run is named. The same lineage gives the
same events, ids of runs included, so sending it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from governance.lineage_graph import Graph, Share
from governance.records.lineage import Node, NodeKind

NAMESPACE: Final = "tidemill"
PRODUCER: Final = "urn:tidemill"
SCHEMA: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
VERSION_FACET: Final = (
    "https://openlineage.io/spec/facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet"
)
RIGHTS_FACET: Final = "urn:tidemill:facet:rights:1"
JOBS: Final = {
    NodeKind.DATASET: "build_dataset",
    NodeKind.ADAPTER: "train_adapter",
    NodeKind.RELEASE: "make_release",
    NodeKind.PATTERN: "find_pattern",
    NodeKind.PROPOSAL: "propose_change",
    NodeKind.FACT: "state_fact",
    NodeKind.TASK: "make_task",
    NodeKind.SIGNAL: "read_signal",
}
"""Kind to the job that makes it; another kind is made by ``make_`` and its name."""


def events(graph: Graph) -> list[dict[str, Any]]:
    """The events, in the order in which things are made: sources first."""
    return [event for node in _in_order(graph) for event in _events(graph, node)]


def _in_order(graph: Graph) -> list[Node]:
    sources = {node: [one.source for one in graph.edges if one.derived == node] for node in graph.nodes}
    done: dict[Node, None] = {}
    todo = list(sources)
    while todo:
        ready = [node for node in todo if all(one in done for one in sources[node])] or todo[:1]  # a ring is cut
        done |= dict.fromkeys(ready)
        todo = [node for node in todo if node not in done]
    return list(done)


def _events(graph: Graph, node: Node) -> Iterator[dict[str, Any]]:
    shares = [share for share in graph.shares if node.kind is NodeKind.DATASET and share.dataset == node.id]
    inputs = [_dataset(one.source) for one in graph.edges if one.derived == node] + [_traces(one) for one in shares]
    if not inputs:
        return
    job = JOBS.get(node.kind, f"make_{node.kind}")
    for state in ("START", "COMPLETE"):
        yield {
            "eventType": state,
            "eventTime": graph.made_at(node).isoformat().replace("+00:00", "Z"),
            "run": {"runId": str(uuid5(NAMESPACE_URL, f"{PRODUCER}:{job}:{node.id}")), "facets": {}},
            "job": {"namespace": NAMESPACE, "name": job, "facets": {}},
            "inputs": inputs,
            "outputs": [_dataset(node)] if state == "COMPLETE" else [],
            "producer": PRODUCER,
            "schemaURL": SCHEMA,
        }


def _dataset(node: Node) -> dict[str, Any]:
    facet = {"_producer": PRODUCER, "_schemaURL": VERSION_FACET, "datasetVersion": node.id}
    return {"namespace": NAMESPACE, "name": f"{node.kind}/{node.id}", "facets": {"version": facet}}


def _traces(share: Share) -> dict[str, Any]:
    facet = {"_producer": PRODUCER, "_schemaURL": RIGHTS_FACET} | share.plain()
    return {"namespace": NAMESPACE, "name": f"traces/{share.tenant_id}", "facets": {"tidemill_rights": facet}}
