"""Feedback through the door: identities made, the person hashed, words masked, withheld, sealed or set aside.

1. Identity and version are keyed digests of what the sender wrote, made before masking, so a retry is recognised
   whatever rights held at either time.
2. The person is the one whose raw id the item carries. Without one it is the person of what the item is about, who may
   not be known yet: its words are sealed under the spool's key and wait (``settle``), what is structure goes on.
3. Where a detector fails, the item alone fails, and goes into quarantine (``ingestion.quarantine``); so does an item
   whose words hold a special category.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from governance.admissions import Detained, Heard, Said
from governance.door import Door
from governance.errors import MaskingError
from governance.found import Found
from governance.records.base import canonical_json
from governance.records.feedback import Statement, Target
from governance.records.ledger import Fate
from governance.records.rights import Reason
from governance.records.trajectory import UNKNOWN_SUBJECT
from governance.store import Store
from governance.store.feedback import Delivery
from ingestion.errors import SpoolError
from ingestion.feedback.item import Item
from ingestion.spool import Spool

_log = logging.getLogger(__name__)
_RESPONSE, _SESSION = "gen_ai.response.id", "gen_ai.conversation.id"


@dataclass
class AdmittedFeedback:
    """What became of a tenant's items at the door."""

    deliveries: list[Delivery] = field(default_factory=list)
    fates: list[tuple[Fate, str]] = field(default_factory=list)
    aside: list[tuple[Item, str]] = field(default_factory=list)
    """Items that go into quarantine, and why."""
    found: Found = field(default_factory=Counter)
    """What masking replaced in the others."""


def key_of(door: Door, tenant_id: str, id_: str) -> str:
    """The keyed digest of a sender's id: with the tenant, the identity of a feedback."""
    return door.subject(tenant_id, f"feedback id\x1f{id_}")


class Admission:
    """Takes items through a door."""

    def __init__(self, door: Door, spool: Spool, store: Store) -> None:
        """The spool's key seals what may not rest in clear."""
        self._door = door
        self._spool = spool
        self._store = store

    def admit(self, tenant_id: str, items: Sequence[Item]) -> AdmittedFeedback:
        """Admit the items of a tenant."""
        result = AdmittedFeedback()
        if not items:
            return result
        try:
            return self.through_door(tenant_id, items)
        except MaskingError:
            for one in items:
                try:
                    alone = self.through_door(tenant_id, [one])
                except MaskingError as error:
                    result.aside.append((one, error.reason))
                    _log.error("masking failed for feedback of tenant %s, now in quarantine: %s", tenant_id, error)
                else:
                    result.deliveries += alone.deliveries
                    result.fates += alone.fates
                    result.found.update(alone.found)
                    result.aside += alone.aside
            return result

    def through_door(self, tenant_id: str, items: Sequence[Item], *, released: bool = False) -> AdmittedFeedback:
        """The items behind the door; ``released``: a person decided that none is detained.

        Raises:
            MaskingError: when a detector fails; nothing is admitted then.

        """
        result = AdmittedFeedback()
        subjects = [self._door.subject(tenant_id, one.user_id) for one in items]
        said = [
            Said(_structure(one), None if subject == UNKNOWN_SUBJECT else one.words or None, subject, one.user_id)
            for one, subject in zip(items, subjects, strict=True)
        ]
        heard = self._door.admit_said(tenant_id, said, result.found, released=released)
        for one, subject, kept in zip(items, subjects, heard, strict=True):
            if kept is None:
                result.fates.append((Fate.REJECTED, Reason.SUPPRESSED.value))
            elif isinstance(kept, Detained):
                result.aside.append((one, kept.reason))
            else:
                result.deliveries.append(self._delivery(tenant_id, one, subject, kept))
        return result

    def settle(self) -> int:
        """Let the words whose person is known by now through the door; how many statements were settled."""
        settled = 0
        for one in self._store.feedback.waiting():
            if one.subject == UNKNOWN_SUBJECT:
                continue
            said = one.statement
            try:
                words = json.loads(self._spool.open_aside(_label(said.key, said.version), one.sealed))
                (heard,) = self._door.admit_said(said.tenant_id, [Said(None, words, one.subject)])
            except (MaskingError, SpoolError) as error:
                _log.error("feedback of tenant %s stays sealed until it expires: %s", said.tenant_id, error)
                continue
            if isinstance(heard, Detained):
                _log.error("feedback of tenant %s stays sealed until it expires: %s", said.tenant_id, heard.reason)
                continue
            if heard is None:
                self._store.feedback.refuse(said)
            else:
                whole = said.model_copy(update={"subject": one.subject} | (heard.words or {}))
                self._store.feedback.settle(whole, heard.mentions)
            settled += 1
        return settled

    def _delivery(self, tenant_id: str, item: Item, subject: str, heard: Heard) -> Delivery:
        key = key_of(self._door, tenant_id, item.id)
        said = self._door.subject(tenant_id, f"feedback said\x1f{_everything(item)}")
        when = f"\x1f{item.at.isoformat()}" if item.timed else ""
        version = self._door.subject(tenant_id, f"feedback version\x1f{said}{when}")
        statement = Statement(
            tenant_id=tenant_id,
            key=key,
            said=said,
            version=version,
            id=heard.structure["reference"],
            kind=item.kind,
            name=heard.structure["metric"],
            target=_target(item, heard.structure["attributes"]),
            value=item.value,
            outcome=item.outcome,
            wordy=bool(item.words),
            subject=subject,
            at=item.at,
            timed=item.timed,
            **(heard.words or {}),
        )
        waits = bool(item.words) and subject == UNKNOWN_SUBJECT
        sealed = self._spool.seal_aside(_label(key, version), canonical_json(item.words)) if waits else None
        return Delivery(statement, heard.mentions, sealed)


def _structure(item: Item) -> dict[str, Any]:
    """What is kept whatever right there is; references in the form that spans have, so that masked they are equal."""
    named = {_RESPONSE: item.target.response_id, _SESSION: item.target.session_id}
    references = {name: value for name, value in named.items() if value is not None}
    return {"reference": item.id, "metric": item.name, "attributes": references}


def _target(item: Item, masked: dict[str, str]) -> Target:
    references = {"response_id": masked.get(_RESPONSE), "session_id": masked.get(_SESSION)}
    return item.target.model_copy(update=references)


def _everything(item: Item) -> str:
    """Everything that was said, but when."""
    return canonical_json(item.model_dump(mode="json", exclude={"id", "at", "timed"})).decode()


def _label(key: str, version: str) -> str:
    return f"tidemill feedback {key} {version}"
