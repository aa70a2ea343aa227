"""One item of feedback as its sender wrote it, checked field by field.

Guarantees. An item is taken whole or refused with the field that is wrong; nothing in it is guessed, rounded or cut.
Identifiers are printable and bounded, so they can be logged and shown. Characters that no store can hold are replaced
visibly in texts (``ingestion.text``) and refused in identifiers. The refusal quotes names of fields and never values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from governance.records.base import Record, UtcTime, canonical_json
from governance.records.feedback import FeedbackKind, Target
from governance.records.trajectory import Outcome

MOST_ID: Final = 200
MOST_NAME: Final = 200
MOST_REFERENCE: Final = 512
MOST_WORDS: Final = 64 * 1024
"""Characters of a comment, bytes of a content."""
LARGEST: Final = 2.0**53
AHEAD: Final = timedelta(days=1)
"""How far ahead of the intake's clock a sender's time may be: what lies in the future would count for ever."""
FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIELDS: Final = frozenset(
    {"id", "kind", "name", "trace_id", "span_id", "response_id", "session_id", "value", "label", "comment", "content",
     "user_id", "at"}
)  # fmt: skip
_HEX: Final = {32: re.compile(r"(?!0{32})[0-9a-f]{32}"), 16: re.compile(r"(?!0{16})[0-9a-f]{16}")}
_NEEDS: Final = {
    FeedbackKind.THUMBS: "value", FeedbackKind.COMMENT: "comment", FeedbackKind.CORRECTION: "content",
    FeedbackKind.DEMONSTRATION: "content", FeedbackKind.OUTCOME: "value",
}  # fmt: skip


class ItemFault(NamedTuple):
    """An item that is refused, with the field that is wrong."""

    position: int
    field: str
    reason: str

    @property
    def code(self) -> str:
        """The reason in the ledger and the metrics: one of few, and never a word of the sender's."""
        return f"feedback_{self.field}" if self.field in FIELDS else "feedback_item"


class Item(Record):
    """One item of feedback, before the door."""

    id: str
    kind: FeedbackKind
    name: str
    target: Target
    value: float | None = None
    outcome: Outcome | None = None
    label: str | None = None
    comment: str | None = None
    content: Any = None
    user_id: str | None = None
    """The raw id of the person whose data it is, as spans carry it."""
    at: UtcTime
    timed: bool

    @property
    def words(self) -> dict[str, Any]:
        """What is kept only with a right to it."""
        fields = {"label": self.label, "comment": self.comment, "content": self.content}
        return {name: value for name, value in fields.items() if value is not None}

    def sent(self) -> dict[str, Any]:
        """The item as its sender writes it."""
        held = self.model_dump(mode="json", exclude={"target", "outcome", "at", "timed"}) | self.target.plain()
        when = {"at": self.at.isoformat()} if self.timed else {}
        outcome = {} if self.outcome is None else {"value": self.outcome.value}
        return {name: value for name, value in (held | when | outcome).items() if value is not None}


class _Wrong(Exception):
    """A field is wrong."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


def read_item(raw: Any, position: int, received_at: datetime) -> Item | ItemFault:
    """The item of a parsed JSON value."""
    if not isinstance(raw, dict):
        return ItemFault(position, "(item)", "must be an object")
    unknown = sorted(raw.keys() - FIELDS)
    if unknown:
        there_are = f"is no field of feedback; there are: {', '.join(sorted(FIELDS))}"
        return ItemFault(position, _quoted(unknown[0]), there_are)
    try:
        return _item({name: value for name, value in raw.items() if value is not None}, received_at)
    except _Wrong as wrong:
        return ItemFault(position, wrong.field, wrong.reason)


def _item(raw: dict[str, Any], received_at: datetime) -> Item:
    kind = _kind(raw)
    needed = _NEEDS.get(kind)
    if needed is not None and needed not in raw:
        raise _Wrong(needed, f"is missing: {kind.value} needs it")
    if kind is FeedbackKind.SCORE and not {"value", "label"} & raw.keys():
        raise _Wrong("value", "is missing: a score needs a value or a label")
    at = _time(raw, received_at)
    return Item(
        id=_required(raw, "id", _identifier(MOST_ID)),
        kind=kind,
        name=_optional(raw, "name", _identifier(MOST_NAME)) or kind.value,
        target=_target(raw),
        value=_value(raw, kind),
        outcome=_outcome(raw) if kind is FeedbackKind.OUTCOME else None,
        label=_optional(raw, "label", _text(MOST_NAME)),
        comment=_optional(raw, "comment", _text(MOST_WORDS)),
        content=_content(raw, kind),
        user_id=_person(raw),
        at=at or received_at,
        timed=at is not None,
    )


def _kind(raw: dict[str, Any]) -> FeedbackKind:
    value = raw.get("kind")
    if not isinstance(value, str) or value not in set(FeedbackKind):
        raise _Wrong("kind", f"must be one of {', '.join(FeedbackKind)}")
    return FeedbackKind(value)


def _target(raw: dict[str, Any]) -> Target:
    named = {
        "trace_id": _optional(raw, "trace_id", _hex(32)),
        "span_id": _optional(raw, "span_id", _hex(16)),
        "response_id": _optional(raw, "response_id", _identifier(MOST_REFERENCE)),
        "session_id": _optional(raw, "session_id", _identifier(MOST_REFERENCE)),
    }
    if named["span_id"] is not None and named["trace_id"] is None:
        raise _Wrong("span_id", "needs the trace_id beside it")
    try:
        return Target(**named)
    except ValidationError as error:
        raise _Wrong("trace_id", "is missing: say a trace_id, a response_id or a session_id") from error


def _value(raw: dict[str, Any], kind: FeedbackKind) -> float | None:
    value = raw.get("value")
    if kind is FeedbackKind.OUTCOME or value is None:
        return None
    if kind not in (FeedbackKind.THUMBS, FeedbackKind.SCORE):
        raise _Wrong("value", f"belongs to thumbs, score and outcome, not to {kind.value}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong("value", "must be a number")
    if not abs(value) <= LARGEST:
        raise _Wrong("value", "must be a number between -2^53 and 2^53")
    if kind is FeedbackKind.THUMBS and value not in (1, -1):
        raise _Wrong("value", "must be 1 or -1")
    return float(value)


def _outcome(raw: dict[str, Any]) -> Outcome:
    value = raw["value"]
    if not isinstance(value, str) or value not in set(Outcome):
        raise _Wrong("value", f"must be one of {', '.join(Outcome)}")
    return Outcome(value)


def _content(raw: dict[str, Any], kind: FeedbackKind) -> Any:
    value = raw.get("content")
    if value is None:
        return None
    if kind not in (FeedbackKind.CORRECTION, FeedbackKind.DEMONSTRATION):
        raise _Wrong("content", f"belongs to correction and demonstration, not to {kind.value}")
    if not isinstance(value, str | dict | list) or not value:
        raise _Wrong("content", "must be a text, an object or a list, and not empty")
    if len(canonical_json(value)) > MOST_WORDS:
        raise _Wrong("content", f"is larger than {MOST_WORDS} bytes")
    return value


def _person(raw: dict[str, Any]) -> str | None:
    """A number is an id as well, as in the attributes of spans."""
    value = raw.get("user_id")
    number = isinstance(value, int) and not isinstance(value, bool)
    return _optional(raw | {"user_id": str(value)} if number else raw, "user_id", _identifier(MOST_REFERENCE))


def _time(raw: dict[str, Any], received_at: datetime) -> datetime | None:
    value = raw.get("at")
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        aware = moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (TypeError, ValueError, OverflowError) as error:
        raise _Wrong("at", "must be an ISO 8601 time, as 2026-11-23T09:00:00Z") from error
    if aware is None:
        raise _Wrong("at", "must say its time zone, as 2026-11-23T09:00:00Z")
    if aware > received_at + AHEAD:
        raise _Wrong("at", "lies more than a day ahead of the intake's clock")
    if aware < FIRST:
        raise _Wrong("at", "lies before 1970")
    return aware


_Check = Callable[[str, Any], str]


def _required(raw: dict[str, Any], field: str, check: _Check) -> str:
    if field not in raw:
        raise _Wrong(field, "is missing")
    return check(field, raw[field])


def _optional(raw: dict[str, Any], field: str, check: _Check) -> str | None:
    return check(field, raw[field]) if field in raw else None


def _identifier(most: int) -> _Check:
    def check(field: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise _Wrong(field, "must be a text that is not empty")
        if len(value) > most:
            raise _Wrong(field, f"is longer than {most} characters")
        if not value.isprintable() or "\ufffd" in value:
            raise _Wrong(field, "holds characters that cannot be printed")
        return value

    return check


def _text(most: int) -> _Check:
    def check(field: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise _Wrong(field, "must be a text that is not empty")
        if len(value) > most:
            raise _Wrong(field, f"is longer than {most} characters")
        return value

    return check


def _hex(digits: int) -> _Check:
    def check(field: str, value: Any) -> str:
        found = value.lower() if isinstance(value, str) else ""
        if _HEX[digits].fullmatch(found) is None:
            raise _Wrong(field, f"must be {digits} hex digits, not all zero")
        return found

    return check


def _quoted(name: str) -> str:
    return name[:60] if name.isprintable() else ascii(name[:60])
