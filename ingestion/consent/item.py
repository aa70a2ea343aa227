"""One row of a consent platform, checked field by field.

| field | what it holds |
| --- | --- |
| ``event_id`` | the platform's id of the event; the same id again changes nothing |
| ``subject`` | the person's id as spans carry it; only its keyed hash is kept |
| ``purpose`` | one of Tidemill's purposes but ``comply`` |
| ``status`` | ``given``, ``renewed``, ``withdrawn``, ``refused``, ``expired``, ``objected``, or its DPV IRI |
| ``at`` | when the person said it: ISO 8601 with an offset |
| ``until`` | when a consent ends; optional |
| ``notice`` | the exact text that was shown |
| ``notice_digest`` | or its SHA-256, where the platform keeps the text; a consent needs one of the two |

A row is taken whole or refused with the field that is wrong; nothing is guessed. A withdrawal needs no field that a
consent does not need. The refusal quotes names of fields and never values, since those name people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from governance.policy.facts import ALLOWING
from governance.records.base import Record, UtcTime
from governance.records.rights import CONSENT_IRI, ConsentStatus, Purpose
from ingestion.text import clean

FIELDS: Final = ("event_id", "subject", "purpose", "status", "at", "until", "notice", "notice_digest")
REQUIRED: Final = ("event_id", "subject", "purpose", "status", "at")
AHEAD: Final = timedelta(minutes=5)
"""How far ahead of this clock a platform's may be; its times stay as they are, and a no is heard at once."""
MOST_ID: Final = 512
MOST_NOTICE: Final = 64 * 1024
FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_STATUS: Final = {status.value: status for status in ConsentStatus} | {iri: one for one, iri in CONSENT_IRI.items()}
_PURPOSE: Final = {purpose.value: purpose for purpose in Purpose if purpose is not Purpose.COMPLY}


class ConsentFault(NamedTuple):
    """A row that is refused, with the field that is wrong."""

    position: int
    """Its line in a file, its place in a list."""
    field: str
    reason: str


class ConsentItem(Record):
    """One row, before the person's id is hashed."""

    position: int
    event_id: str
    subject: str
    purpose: Purpose
    status: ConsentStatus
    at: UtcTime
    until: UtcTime | None = None
    notice: str | None = None
    notice_digest: str | None = None


class _Wrong(Exception):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field)
        self.field, self.reason = field, reason


def read_item(raw: Any, position: int, now: datetime) -> ConsentItem | ConsentFault:
    """The row, or what is wrong with it."""
    try:
        return _item(raw, position, now)
    except _Wrong as wrong:
        return ConsentFault(position, wrong.field, wrong.reason)


def _item(raw: Any, position: int, now: datetime) -> ConsentItem:
    if not isinstance(raw, Mapping):
        raise _Wrong("(row)", "must be an object of the fields")
    unknown = sorted(str(name) for name in raw if name not in FIELDS)
    if unknown:
        raise _Wrong("(row)", f"{len(unknown)} fields are unknown here; there are {', '.join(FIELDS)}")
    told = {name: _text(name, raw.get(name)) for name in FIELDS}
    for name in REQUIRED:
        if told[name] is None:
            raise _Wrong(name, "is missing")
    status = _one_of("status", told["status"] or "", _STATUS)
    at, until = _moment("at", told["at"]), _moment("until", told["until"])
    if at is None or at > now + AHEAD:
        raise _Wrong("at", "lies in the future")
    if until is not None and until <= at:
        raise _Wrong("until", "must lie after at")
    _check_notice(told, status)
    return ConsentItem(
        position=position,
        event_id=told["event_id"] or "",
        subject=told["subject"] or "",
        purpose=_one_of("purpose", told["purpose"] or "", _PURPOSE),
        status=status,
        at=at,
        until=until,
        notice=told["notice"],
        notice_digest=told["notice_digest"],
    )


def _text(name: str, value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _Wrong(name, "must be a text")
    if name == "notice":
        return _notice(value)
    if len(value) > MOST_ID or not value.isprintable() or value != value.strip():
        raise _Wrong(name, f"must be printable, without spaces around it, and at most {MOST_ID} characters")
    return value


def _notice(value: str) -> str:
    if len(value) > MOST_NOTICE or clean(value, set()) != value:
        raise _Wrong("notice", f"must be at most {MOST_NOTICE} characters that can be stored as they are")
    return value


def _one_of(name: str, value: str, known: Mapping[str, Any]) -> Any:
    if value not in known:
        raise _Wrong(name, f"must be one of {', '.join(one for one in known if ':' not in one)}")
    return known[value]


def _moment(name: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise _Wrong(name, "must name its offset, as in 2026-11-23T08:00:00+01:00")
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _Wrong(name, "must be an ISO 8601 time such as 2026-11-23T08:00:00+01:00") from error
    if moment < FIRST:
        raise _Wrong(name, "lies before 1970")
    return moment


def _check_notice(told: Mapping[str, str | None], status: ConsentStatus) -> None:
    digest = told["notice_digest"]
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise _Wrong("notice_digest", "must be the SHA-256 of the text's UTF-8 bytes, as 64 lower-case hex digits")
    if digest is not None and told["notice"] is not None:
        raise _Wrong("notice_digest", "is one too many beside notice")
    if status in ALLOWING and digest is None and told["notice"] is None:
        raise _Wrong("notice", "is missing: a consent is given to a notice")
