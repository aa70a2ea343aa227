"""Who built what is to be approved, from the record of it: who acted when it was made.

An approver who says who built a thing says nothing: the four-eyes rule rests on what the record says. A decision on a
review has no record before it is carried out: its builder is whoever carries it out, and is asked then.
"""

from __future__ import annotations

from governance.errors import NotFound
from governance.records.approval import ApprovedAct
from governance.records.principal import THE_SERVICE
from governance.store import Store


def builder_of(store: Store, tenant_id: str, act: ApprovedAct, target: str) -> str | None:
    """Who built the target; None where that is known only when the act is carried out.

    Raises:
        NotFound: when the tenant has no such thing.

    """
    match act:
        case ApprovedAct.ERASURE:
            asked = store.requests.get(target)
            made = {asked.id: asked.actor} if asked.tenant_id == tenant_id else {}
        case ApprovedAct.PROMOTION:
            made = {target: store.releases.maker(target) or THE_SERVICE.name}
        case ApprovedAct.DATASET:
            made = {target: store.manifests.version(target).actor or THE_SERVICE.name}
        case ApprovedAct.ASSESSMENT:
            made = {one.id: one.actor for one in store.assessments.of(tenant_id)}
        case ApprovedAct.PSEUDONYMISATION:
            made = {one.id: one.actor for one in store.pseudonymised.declared(tenant_id)}
        case ApprovedAct.REVIEW:
            return None
    if target not in made:
        raise NotFound(f"{act} {target}: {tenant_id} has nothing of that id")
    return made[target]
