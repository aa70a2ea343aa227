"""The ledger as a report: every tenant and day by reason, and whether the books and the quarantine agree.

The command, the asset checks and ``doctor`` say what this says.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from governance.records.ledger import LedgerLine
from governance.store import Store

_READS: Final = 3


class Books(NamedTuple):
    """What was looked at, and what is wrong with it."""

    lines: tuple[LedgerLine, ...]
    wrong: dict[str, str]
    """Tenant and day to what does not balance."""

    @property
    def balance(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def books(store: Store, tenant: str | None = None, since: str = "") -> Books:
    """The ledger of a tenant, or of all, from a day on, compared with what lies in quarantine.

    A release between the two reads looks like a difference, so what does not balance is read again.
    """
    for _ in range(_READS):
        found = _read(store, tenant, since)
        if found.balance:
            break
    return found


def _read(store: Store, tenant: str | None, since: str) -> Books:
    lines = [line for line in store.ledger.lines(since) if tenant in (None, line.tenant_id)]
    held = {
        key: spans for key, spans in store.quarantine.held().items() if key[1] >= since and tenant in (None, key[0])
    }
    known = {(line.tenant_id, line.day) for line in lines}
    strangers = {key: spans for key, spans in held.items() if spans and key not in known}
    wrong = {_name(*key): f"0 spans in quarantine by the ledger, {spans} there" for key, spans in strangers.items()}
    for line in lines:
        sealed = held.get((line.tenant_id, line.day), 0)
        if line.received != line.accounted:
            wrong[_name(line.tenant_id, line.day)] = f"received {line.received}, accounted for {line.accounted}"
        elif line.waiting != sealed:
            wrong[_name(line.tenant_id, line.day)] = f"{line.waiting} spans in quarantine by the ledger, {sealed} there"
    return Books(tuple(lines), wrong)


def table(found: Books, last: int | None = None) -> dict[str, Any]:
    """The lines for people and ``--json``; the ``last`` ones by day, where there are too many."""
    lines = found.lines if last is None else sorted(found.lines, key=lambda line: (line.day, line.tenant_id))[-last:]
    rows = {
        _name(line.tenant_id, line.day): {
            "received": line.received,
            **{fate.value: reasons for fate, reasons in line.fates.items()},
            "withheld": line.withheld,
            **_left_quarantine(line),
            "balances": _name(line.tenant_id, line.day) not in found.wrong,
        }
        for line in lines
    }
    wrong = {"wrong": found.wrong} if found.wrong else {}
    return {**rows, **wrong, "lines": len(found.lines), "ok": found.balance}


def _left_quarantine(line: LedgerLine) -> dict[str, Any]:
    """What became of the quarantined spans, where there are any."""
    released = {fate.value: reasons for fate, reasons in line.released.items()}
    told = {"released": released, "expired": line.expired, "waiting": line.waiting}
    return {name: value for name, value in told.items() if value}


def _name(tenant_id: str, day: str) -> str:
    return f"{tenant_id} {day}"
