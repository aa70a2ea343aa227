"""``store.ledger``: what became of every received span, in two equations (``governance.records.ledger``).

One row per segment, tenant and day; a segment that is drained again is counted once. What leaves quarantine has a row
of its own under the day on which it was received, named after the quarantined record, so it is counted once as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from sqlalchemy import Connection, select

from governance.records.ledger import Fate, Findings, LedgerLine, Reasons
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
        findings: Findings | None = None,
    ) -> None:
        """Record what became of one segment's spans (one entry each); idempotent per segment, tenant and day."""
        row = _Row(segment_id, tenant_id, day, received, withheld, _counted(fates), findings or {})
        self._kit.db.run(lambda connection: _insert(connection, self._kit, row))

    def record_release(  # noqa: PLR0917 - one line of the ledger
        self,
        tenant_id: str,
        day: str,
        fates: Sequence[tuple[Fate, str]],
        withheld: int,
        quarantine_id: str,
        findings: Findings | None = None,
    ) -> None:
        """Record what became of the spans of one quarantined record that was released; idempotent per record."""
        counts = {f"{_RELEASED}{fate}": reasons for fate, reasons in _counted(fates).items()}
        row = _Row(_name(quarantine_id), tenant_id, day, 0, withheld, counts, findings or {})
        self._kit.db.run(lambda connection: _insert(connection, self._kit, row))

    def lines(self, since: str = "") -> tuple[LedgerLine, ...]:
        """One line per tenant and day, from the day ``since`` on (ISO, UTC)."""
        row = LedgerRow
        columns = (row.tenant_id, row.day, row.received, row.withheld, row.fates, row.findings)
        statement = select(*columns).where(row.day >= since)
        sums: dict[tuple[str, str], _Sum] = {}
        with self._kit.db.read() as connection:
            for found in connection.execute(statement):
                line = sums.setdefault((found.tenant_id, found.day), _Sum())
                line.add(found.received, found.withheld, found.fates, found.findings)
        return tuple(sums[key].line(*key) for key in sorted(sums))


def record_expiry(connection: Connection, kit: Kit, tenant_id: str, day: str, reasons: Reasons, *, id_: str) -> None:
    """Record that a quarantined record is destroyed unread, in the transaction that destroys it."""
    _insert(connection, kit, _Row(_name(id_), tenant_id, day, 0, 0, {_EXPIRED: reasons}, {}))


class _Row(NamedTuple):
    """One row of the table."""

    segment_id: str
    tenant_id: str
    day: str
    received: int
    withheld: int
    fates: Mapping[str, Reasons]
    findings: Findings


class _Sum:
    """One tenant's day as it is added up."""

    def __init__(self) -> None:
        self._received = self._withheld = 0
        self._fates: dict[str, Reasons] = {}
        self._findings: Findings = {}

    def add(self, received: int, withheld: int, fates: Mapping[str, Reasons], findings: Findings) -> None:
        self._received += received
        self._withheld += withheld
        _add(self._fates, fates)
        _add(self._findings, findings)

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
            findings=self._findings,
        )


def _add(sums: dict[str, dict[str, int]], counts: Mapping[str, Mapping[str, int]]) -> None:
    for name, reasons in counts.items():
        total = sums.setdefault(name, {})
        for reason, count in reasons.items():
            total[reason] = total.get(reason, 0) + count


def _name(quarantine_id: str) -> str:
    return f"quarantine/{quarantine_id}"


def _counted(fates: Sequence[tuple[Fate, str]]) -> dict[str, Reasons]:
    counts: dict[str, Reasons] = {}
    for fate, reason in fates:
        reasons = counts.setdefault(fate.value, {})
        reasons[reason] = reasons.get(reason, 0) + 1
    return counts


def _insert(connection: Connection, kit: Kit, row: _Row) -> None:
    dialect.insert_new(connection, LedgerRow, [{**row._asdict(), "expires_at": kit.expires(LedgerRow)}])
