"""Setting aside: what may not go on is sealed, with its reason and its own expiry, on its way to quarantine.

What masking could not read (``masking_failed``, ``masking_timeout``) lives as long as a spool segment may and is tried
again by itself. What holds a special category waits for a person: it lives for ``SPECIAL_KEPT``, counted from when it
was first set aside, and is not tried again by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from governance.admissions import Detained
from governance.records.base import canonical_json, digest_bytes, to_unix_nano
from governance.records.retention import RETENTION, RetentionClass
from governance.records.span import Span
from governance.store import Store
from governance.store.quarantine import Quarantined
from ingestion.errors import DecodeError, SpoolError
from ingestion.feedback.body import FeedbackEnvelope
from ingestion.feedback.item import Item
from ingestion.spool import Spool

SPECIAL_KEPT: Final = timedelta(days=4)
"""A long weekend. With two days of the spool before it, it stays within what the ledger's metrics count as open."""


class Aside(NamedTuple):
    """Spans of one trace, or one item of feedback, on the way to quarantine."""

    id: str
    sealed: bytes
    spans: int
    reason: str
    types: frozenset[str] = frozenset()
    """The special categories in it."""

    def put(self, store: Store, tenant_id: str, day: str, now: datetime) -> None:
        """Into the store, with its expiry; ``now`` is when it was first set aside."""
        special = self.reason == Detained.reason
        expires_at = now + (SPECIAL_KEPT if special else RETENTION[RetentionClass.SPOOL])
        store.quarantine.put(
            self.id,
            tenant_id,
            self.sealed,
            self.reason,
            expires_at,
            day=day,
            spans=self.spans,
            retry_at=expires_at if special else None,
            since=now,
            types=" ".join(sorted(self.types)) or None,
        )


class Held(NamedTuple):
    """What a record holds: the spans of a trace with its person, or an item of feedback."""

    owner: str | None
    spans: list[Span]
    feedback: list[Item]


def set_aside(spool: Spool, place: str, spans: Sequence[Span], owner: str | None, reason: str) -> Aside:
    """Seal the spans of one trace; ``place`` names them for good, and ``owner`` is the raw id of the trace's person."""
    name = digest_bytes(place.encode())
    held = canonical_json({"owner": owner, "spans": [span.plain() for span in spans]})
    return Aside(name, spool.seal_aside(_label(name), held), len(spans), reason)


def set_item_aside(spool: Spool, place: str, item: Item, reason: str) -> Aside:
    """Seal one item of feedback; ``place`` names it for good."""
    name = digest_bytes(place.encode())
    envelope = FeedbackEnvelope(received_unix_nano=to_unix_nano(item.at), body=canonical_json(item.sent()))
    held = canonical_json({"feedback": envelope.pack().decode()})
    return Aside(name, spool.seal_aside(_label(name), held), 1, reason)


def opened(spool: Spool, item: Quarantined) -> Held:
    """What a record holds.

    Raises:
        SpoolError: when it does not open, or holds something else.

    """
    data = spool.open_aside(_label(item.id), item.sealed)
    try:
        held = json.loads(data)
        if "feedback" in held:
            found = FeedbackEnvelope.unpack(held["feedback"].encode()).items()
            said = [one for one in found if isinstance(one, Item)]
            return Held(said[0].user_id, [], said)
        return Held(held["owner"], [Span.model_validate(span) for span in held["spans"]], [])
    except (DecodeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SpoolError(f"quarantine {item.id} holds something else than spans or feedback") from error


def _label(name: str) -> str:
    return f"tidemill quarantine {name}"
