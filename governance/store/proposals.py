"""``store.proposals``: one change to one lever, by cycle. A proposal may be used when its pattern may be."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from governance.records.lever import ContextChange, Proposal
from governance.records.lineage import NodeKind
from governance.records.rights import Purpose
from governance.store import dialect, lineage
from governance.store.kit import Kit
from governance.store.lineage import edge, node
from governance.store.patterns import allowed_sources
from governance.store.tables_learning import ProposalRow


class Proposals:
    """Proposals by cycle."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put_all(self, cycle_id: str, proposals: Sequence[Proposal]) -> None:
        """Store the cycle's proposals; idempotent by content."""
        self._kit.db.run(lambda connection: self._put(connection, cycle_id, proposals))

    def list(self, cycle_id: str, purpose: Purpose) -> tuple[Proposal, ...]:
        """The cycle's proposals that the purpose may use, in the order in which they were stored."""
        row = ProposalRow
        statement = select(row.pattern_key, row.body).where(row.cycle_id == cycle_id).order_by(row.position, row.digest)
        with self._kit.reading(purpose) as connection:
            allowed, cited = allowed_sources(connection, self._kit, cycle_id, purpose)
            return tuple(
                Proposal.model_validate(body)
                for key, body in connection.execute(statement)
                if allowed[key] or key not in cited
            )

    def _put(self, connection: Connection, cycle_id: str, proposals: Sequence[Proposal]) -> None:
        expires_at = self._kit.expires(ProposalRow)
        rows, edges = [], []
        for position, proposal in enumerate(proposals):
            digest = proposal.digest()
            rows.append(
                {
                    "cycle_id": cycle_id,
                    "digest": digest,
                    "position": position,
                    "pattern_key": proposal.pattern_key,
                    "scope": proposal.scope,
                    "body": proposal.plain(),
                    "expires_at": expires_at,
                }
            )
            me = node(NodeKind.PROPOSAL, cycle_id, digest)
            edges.append(edge(me, node(NodeKind.PATTERN, cycle_id, proposal.pattern_key)))
            if isinstance(proposal.change, ContextChange):
                edges.append(edge(node(NodeKind.FACT, proposal.change.fact.digest()), me))
        dialect.insert_new(connection, ProposalRow, rows)
        lineage.add(connection, edges)
