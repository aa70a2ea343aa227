"""``store.ledger``: received = stored + updated + duplicate + rejected + quarantined.

One row per segment, tenant and day; a segment that is drained again is counted once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import select

from governance.records.ledger import Fate, LedgerLine
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import LedgerRow

Counts = dict[Fate, dict[str, int]]


class Ledger:
    """Counts by tenant and day."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def record(  # noqa: PLR0917 - one line of the ledger
        self,
        tenant_id: str,
        day: str,
        received: int,
        fates: Sequence[tuple[Fate, str]],
        withheld: int,
        segment_id: str,
    ) -> None:
        """Record what became of one segment's spans (one entry each); idempotent per segment, tenant and day."""
        counts: dict[str, dict[str, int]] = {}
        for fate, reason in fates:
            reasons = counts.setdefault(fate.value, {})
            reasons[reason] = reasons.get(reason, 0) + 1
        row = {
            "segment_id": segment_id,
            "tenant_id": tenant_id,
            "day": day,
            "received": received,
            "withheld": withheld,
            "fates": counts,
            "expires_at": self._kit.expires(LedgerRow),
        }
        self._kit.db.run(lambda connection: dialect.insert_new(connection, LedgerRow, [row]))

    def lines(self) -> tuple[LedgerLine, ...]:
        """One line per tenant and day."""
        row = LedgerRow
        statement = select(row.tenant_id, row.day, row.received, row.withheld, row.fates)
        received: dict[tuple[str, str], int] = defaultdict(int)
        withheld: dict[tuple[str, str], int] = defaultdict(int)
        fates: dict[tuple[str, str], Counts] = defaultdict(dict)
        with self._kit.db.read() as connection:
            for found in connection.execute(statement):
                key = (found.tenant_id, found.day)
                received[key] += found.received
                withheld[key] += found.withheld
                for fate, reasons in found.fates.items():
                    total = fates[key].setdefault(Fate(fate), {})
                    for reason, count in reasons.items():
                        total[reason] = total.get(reason, 0) + count
        return tuple(
            LedgerLine(tenant_id=key[0], day=key[1], received=received[key], fates=fates[key], withheld=withheld[key])
            for key in sorted(received)
        )
