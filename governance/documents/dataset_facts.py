"""What the tables say of a dataset version, gathered once for every document that tells of it. Counts, never people."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from governance.acting import complying
from governance.masking.risk import leak_rate
from governance.policy.facts import facts_at
from governance.ports.clock import Clock
from governance.records.approval import Approval, ApprovedAct, Decision
from governance.records.lineage import NodeKind
from governance.records.manifest import DatasetUse, DatasetVersion, ManifestLine, UseKind
from governance.records.rights import BASIS_IRI, PURPOSE_IRI, FactKind, Purpose
from governance.store import Store
from governance.store.lineage import node

DUTY: Final = "documents"


class DatasetFacts:
    """One version of one store, now."""

    def __init__(self, store: Store, clock: Clock, root: str) -> None:
        """Reads the lines for ``comply``, as the service's duty: the audit names who asked, the document nobody."""
        self.store, self.now = store, clock.now()
        self.version: DatasetVersion = store.manifests.version(root)
        with complying(DUTY):
            self.lines: dict[int, ManifestLine] = store.manifests.lines(root, Purpose.COMPLY)
        self.root = root

    @cached_property
    def tenants(self) -> list[str]:
        """Whose rows are held."""
        return sorted({line.tenant_id for line in self.lines.values()})

    @cached_property
    def people(self) -> set[tuple[str, str]]:
        """Tenant and keyed hash; counted, never shown."""
        return {(line.tenant_id, line.subject) for line in self.lines.values()}

    @property
    def left(self) -> int:
        """Lines that left with their person."""
        return len(self.version.leaves) - len(self.lines)

    def counted(self, what: Any) -> dict[str, int]:
        """Lines by what a function says of each."""
        return dict(sorted(Counter(str(what(line)) for line in self.lines.values()).items()))

    @cached_property
    def bases(self) -> dict[str, Any]:
        """Legal basis to its IRI and the rows that rest on it."""
        counts = Counter(line.verdict.basis for line in self.lines.values())
        named = sorted((basis for basis in counts if basis is not None), key=str)
        return {basis.value: {"iri": BASIS_IRI[basis], "rows": counts[basis]} for basis in named}

    @cached_property
    def contracts(self) -> dict[str, Any]:
        """Contract to what people were told their data is for."""
        found: dict[str, Any] = {}
        for tenant_id in self.tenants:
            contract = self.store.rights.contract_at(tenant_id, self.version.at)
            if contract is not None:
                told = contract.collected_for or tuple(term.purpose for term in contract.terms)
                found[contract.id] = {
                    "tenant": tenant_id,
                    "collected_for": {one.value: PURPOSE_IRI[one] for one in sorted(told)},
                    "ends": None if contract.valid_to is None else contract.valid_to.isoformat(),
                }
        return found

    @cached_property
    def jurisdictions(self) -> dict[str, int]:
        """Jurisdiction to people; ``unknown`` where no fact says it."""
        counts: Counter[str] = Counter()
        for tenant_id in self.tenants:
            facts = facts_at(self.store.rights.facts(tenant_id), self.now, everything=True)
            regions = {one.subject: one.value for one in facts if one.kind is FactKind.JURISDICTION}
            for tenant, subject in self.people:
                if tenant == tenant_id:
                    counts[regions.get(subject, regions.get(None, "unknown"))] += 1
        return dict(sorted(counts.items()))

    @cached_property
    def holds(self) -> dict[str, int]:
        """Reason of a legal hold to how many stand over people or runs of it."""
        counts: Counter[str] = Counter()
        for tenant_id in self.tenants:
            lines = [line for line in self.lines.values() if line.tenant_id == tenant_id]
            subjects, runs = {one.subject for one in lines}, {one.trajectory_id for one in lines}
            counts.update(one.reason for one in self.store.rights.holds(tenant_id, subjects, self.now, runs))
        return dict(sorted(counts.items()))

    @cached_property
    def ends(self) -> dict[str, str]:
        """Table to the earliest end of what the version rests on."""
        found = {name: _said(at) for name, at in self.store.manifests.ends(self.root, self.now).items() if at}
        ending = [one["ends"] for one in self.contracts.values() if one["ends"]]
        return found | ({"contracts": min(ending)} if ending else {})

    @cached_property
    def span(self) -> dict[str, str] | None:
        """When its runs were."""
        found = self.store.manifests.span(self.root)
        return None if found is None else {"from": _said(found[0]), "to": _said(found[1])}

    @cached_property
    def risk(self) -> dict[str, Any]:
        """What reviewers saw in rows drawn by chance."""
        rows = [one.digest for one in self.store.datasets.sources(self.root)]
        return leak_rate(self.root, rows, self.store.row_reviews.of(self.root)).plain()

    @cached_property
    def tokens(self) -> int:
        """Token ids of the rows that are held."""
        with complying(DUTY):
            held = self.store.datasets.rows(self.root, Purpose.COMPLY)
        return sum(len(row.input_ids) for row in held)

    @cached_property
    def descendants(self) -> dict[str, list[str]]:
        """Kind to ids of what was made from it."""
        found: dict[str, list[str]] = {}
        for one in self.store.lineage.descendants(node(NodeKind.DATASET, self.root)):
            if one.kind in {NodeKind.ADAPTER, NodeKind.RELEASE, NodeKind.GATE_REPORT}:
                found.setdefault(one.kind.value, []).append(one.id)
        return found

    @cached_property
    def live(self) -> dict[str, str]:
        """Scope to the release that serves it and was made from this."""
        made = set(self.descendants.get("release", ()))
        champions = {scope: self.store.deployments.current(scope) for scope in self.store.deployments.scopes()}
        return {scope: one.release_digest for scope, one in champions.items() if one and one.release_digest in made}

    @cached_property
    def exports(self) -> tuple[DatasetUse, ...]:
        """To whom it went."""
        return self.store.manifests.uses([self.root], UseKind.EXPORT)

    def decisions(self, root: str | None = None) -> list[Approval]:
        """What people decided about a version, oldest first; about this one, where none is named."""
        wanted = root or self.root
        return [one for one in self.store.approvals.list() if (one.act, one.target) == (ApprovedAct.DATASET, wanted)]

    @cached_property
    def last_approved(self) -> str | None:
        """The newest other version of the scope whose last decision was yes."""
        for version in reversed(self.store.manifests.list()):
            if version.root != self.root and version.scope == self.version.scope and version.at <= self.version.at:
                said = self.decisions(version.root)
                if said and said[-1].decision is Decision.APPROVED:
                    return version.root
        return None

    @cached_property
    def difference(self) -> dict[str, Any] | None:
        """What changed since the last approved version, in numbers."""
        if self.last_approved is None:
            return None
        with complying(DUTY):
            found = self.store.manifests.difference(self.last_approved, self.root)
        lists = {name: len(found[name]) for name in ("added", "removed", "right_changed")}
        return {"since": self.last_approved, **found, **lists}


def _said(at: datetime) -> str:
    return at.isoformat()
