"""``store.ledger``: what became of every received span, in two equations (``governance.records.ledger``).

One row per segment, tenant and day; a segment that is drained again is counted once. What leaves quarantine has a row
of its own under the day on which it was received, named after the quarantined record, so it is counted once as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, select

from governance.records.ledger import Fate, LedgerLine, Reasons
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_evidence import LedgerRow

_RELEASED: Final = "released:"
_EXPIRED: Final = "expired"


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
        key = (segment_id, tenant_id, day)
        self._kit.db.run(lambda connection: _insert(connection, self._kit, key, received, withheld, _counted(fates)))

    def record_release(
        self, tenant_id: str, day: str, fates: Sequence[tuple[Fate, str]], withheld: int, quarantine_id: str
    ) -> None:
        """Record what became of the spans of one quarantined record that was released; idempotent per record."""
        counts = {f"{_RELEASED}{fate}": reasons for fate, reasons in _counted(fates).items()}
        key = (_name(quarantine_id), tenant_id, day)
        self._kit.db.run(lambda connection: _insert(connection, self._kit, key, 0, withheld, counts))

    def lines(self, since: str = "") -> tuple[LedgerLine, ...]:
        """One line per tenant and day, from the day ``since`` on (ISO, UTC)."""
        row = LedgerRow
        statement = select(row.tenant_id, row.day, row.received, row.withheld, row.fates).where(row.day >= since)
        sums: dict[tuple[str, str], _Sum] = {}
        with self._kit.db.read() as connection:
            for found in connection.execute(statement):
                line = sums.setdefault((found.tenant_id, found.day), _Sum())
                line.add(found.received, found.withheld, found.fates)
        return tuple(sums[key].line(*key) for key in sorted(sums))


def record_expiry(connection: Connection, kit: Kit, tenant_id: str, day: str, reasons: Reasons, *, id_: str) -> None:
    """Record that a quarantined record is destroyed unread, in the transaction that destroys it."""
    _insert(connection, kit, (_name(id_), tenant_id, day), 0, 0, {_EXPIRED: reasons})


class _Sum:
    """One tenant's day as it is added up."""

    def __init__(self) -> None:
        self._received = self._withheld = 0
        self._fates: dict[str, Reasons] = {}

    def add(self, received: int, withheld: int, fates: Mapping[str, Reasons]) -> None:
        self._received += received
        self._withheld += withheld
        for fate, reasons in fates.items():
            total = self._fates.setdefault(fate, {})
            for reason, count in reasons.items():
                total[reason] = total.get(reason, 0) + count

    def line(self, tenant_id: str, day: str) -> LedgerLine:
        released = {fate for fate in self._fates if fate.startswith(_RELEASED)}
        return LedgerLine(
            tenant_id=tenant_id,
            day=day,
            received=self._received,
            withheld=self._withheld,
            fates={Fate(fate): self._fates[fate] for fate in self._fates.keys() - released - {_EXPIRED}},
            released={Fate(fate.removeprefix(_RELEASED)): self._fates[fate] for fate in released},
            expired=self._fates.get(_EXPIRED, {}),
        )


def _name(quarantine_id: str) -> str:
    return f"quarantine/{quarantine_id}"


def _counted(fates: Sequence[tuple[Fate, str]]) -> dict[str, Reasons]:
    counts: dict[str, Reasons] = {}
    for fate, reason in fates:
        reasons = counts.setdefault(fate.value, {})
        reasons[reason] = reasons.get(reason, 0) + 1
    return counts


def _insert(  # noqa: PLR0917 - one line of the ledger
    connection: Connection,
    kit: Kit,
    key: tuple[str, str, str],
    received: int,
    withheld: int,
    fates: Mapping[str, Any],
) -> None:
    row = {
        **dict(zip(("segment_id", "tenant_id", "day"), key, strict=True)),
        "received": received,
        "withheld": withheld,
        "fates": fates,
        "expires_at": kit.expires(LedgerRow),
    }
    dialect.insert_new(connection, LedgerRow, [row])
