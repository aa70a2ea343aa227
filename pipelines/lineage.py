"""What the lineage command shows and exports."""

from __future__ import annotations

from typing import Any

from governance.acting import complying
from governance.records.rights import Purpose
from pipelines.ground import Ground


def of_release(ground: Ground, beginning: str, form: str) -> dict[str, Any]:
    """What a release was made from: a report, OpenLineage events, or PROV-JSON."""
    from governance.lineage_graph import graph_of

    digest = ground.store.releases.find(beginning)
    with complying("lineage"):
        found = ground.store.lineage.of_release(digest, Purpose.COMPLY)
    if form == "report":
        rows = [row.plain() | {"basis_iri": row.basis_iri} for row in found.rows]
        return found.plain() | {"rows": rows}
    graph = graph_of(ground.store, found)
    if form == "prov":
        from governance.prov import document

        return document(graph)
    from governance.openlineage import events

    return {"events": events(graph)}


def of_subject(ground: Ground, tenant: str, raw_id: str) -> dict[str, Any]:
    """Everything made from a person's data, and where it serves."""
    hashed = ground.key_desk.person(tenant, raw_id)
    with complying("lineage"):
        return ground.store.lineage.of_subject(tenant, hashed, Purpose.COMPLY).plain()
