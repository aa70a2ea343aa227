"""A release's lineage as PROV-JSON (W3C member submission of 24 April 2013), with terms of DPV's AI extension.

Each thing is an entity and each edge a ``prov:wasDerivedFrom``; an adapter ``ai:hasTrainingData`` its datasets. Tenants
are agents to which the traces of theirs are attributed; a clause of a contract is an entity that influenced the dataset
whose rows rest on it. People and runs are counted, never named.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from governance.lineage_graph import Graph, Share
from governance.records.lineage import Node, NodeKind

PREFIXES: Final = {
    "tm": "urn:tidemill:",
    "ai": "https://w3id.org/dpv/ai#",
    "dpv": "https://w3id.org/dpv#",
    "gdpr": "https://w3id.org/dpv/legal/eu/gdpr#",
}
TYPES: Final = {NodeKind.DATASET: "ai:TrainingData", NodeKind.ADAPTER: "ai:Model", NodeKind.RELEASE: "ai:AISystem"}
"""Kind to a term; other kinds are entities and no more."""


def document(graph: Graph) -> dict[str, Any]:
    """The PROV-JSON document."""
    traces = {_traces(share): _share(share) for share in graph.shares}
    clauses = {_clause(name) for share in graph.shares for name in share.clauses}
    tenants = {_tenant(share): {"prov:type": _term("prov:Organization")} for share in graph.shares}
    derived = [(_name(one.derived), _name(one.source)) for one in graph.edges]
    derived += [(f"tm:dataset.{share.dataset}", _traces(share)) for share in graph.shares]
    rest_on = {(f"tm:dataset.{one.dataset}", _clause(name)) for one in graph.shares for name in one.clauses}
    owned = {(_traces(share), _tenant(share)) for share in graph.shares}
    return {
        "prefix": PREFIXES,
        "entity": {_name(node): _entity(graph, node) for node in graph.nodes}
        | traces
        | {name: {"prov:type": _term("dpv:Contract")} for name in sorted(clauses)},
        "agent": tenants,
        "wasDerivedFrom": _pairs("d", derived, "prov:generatedEntity", "prov:usedEntity"),
        "wasInfluencedBy": _pairs("i", sorted(rest_on), "prov:influencee", "prov:influencer"),
        "wasAttributedTo": _pairs("a", sorted(owned), "prov:entity", "prov:agent"),
    }


def _entity(graph: Graph, node: Node) -> dict[str, Any]:
    said: dict[str, Any] = {"prov:label": f"{node.kind} {node.id[:12]}"}
    if node.kind in TYPES:
        said["prov:type"] = _term(TYPES[node.kind])
    training = [_name(e.source) for e in graph.edges if e.derived == node and e.source.kind is NodeKind.DATASET]
    if node.kind is NodeKind.ADAPTER and training:
        said["ai:hasTrainingData"] = [_term(name) for name in training]
    return said


def _share(share: Share) -> dict[str, Any]:
    bases = [_term("gdpr:" + iri.rpartition("#")[2]) for iri in share.bases]
    counts = {f"tm:{name}": getattr(share, name) for name in ("rows", "runs", "people")}
    return {"prov:type": _term("prov:Collection"), "dpv:hasLegalBasis": bases, **counts}


def _pairs(letter: str, pairs: list[tuple[str, str]], first: str, second: str) -> dict[str, Any]:
    return {f"_:{letter}{n}": {first: one, second: other} for n, (one, other) in enumerate(pairs, 1)}


def _term(name: str) -> dict[str, str]:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _name(node: Node) -> str:
    return f"tm:{node.kind}.{quote(node.id, safe='')}"


def _traces(share: Share) -> str:
    return f"tm:traces.{share.dataset}.{quote(share.tenant_id, safe='')}"


def _tenant(share: Share) -> str:
    return f"tm:tenant.{quote(share.tenant_id, safe='')}"


def _clause(name: str) -> str:
    return f"tm:clause.{quote(name, safe='')}"
