"""The audit's hash chain, as pure functions over its rows.

1. Each link is SHA-256 over the previous link and the digest of the event, so it stands for all events up to it.
2. A row is as it was written when its link follows from the link before it and its body, its columns say what its body
   says, and its body is written in the one form that the store writes.
3. So one row that was changed, put elsewhere, put in or taken out is told by the rows next to it. Whoever changes more
   has to write every later link anew, and then the last link is not the one that checkpoints hold.

Positions order the events; their times do not, for a clock may go backwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from governance.records.base import digest_json
from governance.records.checkpoint import AuditFault, FaultKind

GENESIS: Final = "0" * 64
"""The link before the first."""
NOWHERE: Final = 0
"""The position of a row whose column holds no number."""
_FORM: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class Line(NamedTuple):
    """A row of the audit as it stands in the database."""

    tenant_id: str
    position: int
    id: str
    at: datetime | None
    body: str
    chain: str


class Head(NamedTuple):
    """A length of a chain and the link that it has there."""

    size: int
    root: str


START: Final = Head(0, GENESIS)


def link(previous: str, body: Any) -> str:
    """The chain's next link, for the plain body of an event."""
    return digest_json([previous, digest_json(body)])


def faults(lines: Iterable[Line], start: Head = START) -> Iterator[AuditFault]:
    """What is wrong with rows of one tenant that follow ``start``, in the order of their positions."""
    position, previous = start
    for line in lines:
        if line.position == NOWHERE:
            yield _fault(line, FaultKind.CHANGED, NOWHERE, "its position is no number")
            continue
        expected = position + 1
        if line.position > expected:
            yield _fault(line, FaultKind.MISSING, expected, _gap(expected, line.position - 1))
        elif line.position < expected:
            yield _fault(line, FaultKind.CHANGED, line.position, "stands where another event stands")
        wrong = _wrong(line, previous if line.position == expected else None)
        if wrong:
            yield _fault(line, FaultKind.CHANGED, line.position, wrong)
        position, previous = line.position, line.chain


def _gap(first: int, last: int) -> str:
    return f"event {first} is not there" if first == last else f"events {first} to {last} are not there"


def _wrong(line: Line, previous: str | None) -> str:
    """What is wrong with one row; nothing is said of its link where ``previous`` is not known."""
    try:
        body = json.loads(line.body)
    except (ValueError, RecursionError):
        return "is no event"
    if not isinstance(body, dict) or _FORM.encode(body) != line.body:
        return "is not written as an event is"
    columns = {"tenant_id": line.tenant_id, "id": line.id}
    if any(body.get(name) != value for name, value in columns.items()) or _moment(body.get("at")) != line.at:
        return "its columns say another thing than the event"
    if previous is not None and line.chain != _link(previous, body):
        return "its link does not follow: it or the event before it was changed, put in or put here"
    return ""


def _link(previous: str, body: Any) -> str:
    try:
        return link(previous, body)
    except (ValueError, TypeError):  # no event that the store wrote
        return ""


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _fault(line: Line, kind: FaultKind, position: int, detail: str) -> AuditFault:
    return AuditFault(tenant_id=line.tenant_id, kind=kind, position=position, detail=detail)
