"""``gen_ai.evaluation.result`` that names no span: feedback on a trace, a response or a session.

The convention lets an evaluator name a response (``gen_ai.response.id``) where it does not know the span id
(OpenTelemetry GenAI semantic conventions, "Event: gen_ai.evaluation.result"). Such a record is read as the item of
feedback that somebody would have posted (``ingestion.feedback.item``): the same checks, the same joining, the same
door.

The convention gives such an evaluation no id. Its identity is ``tidemill.feedback.id`` where the sender gives one, and
else its place. Of a trace and of a response: target and name, as for the grades of spans, so one given later changes
it. Of a session: target, name and time, because one conversation is judged many times under one name; without a time,
what it says stands for it.

It travels in the spool as a log span under the flag ``LONE_EVALUATION``, in a trace of its own that is never
stored.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from governance.records.base import digest_json, from_unix_nano
from governance.records.feedback import FeedbackKind
from governance.records.span import Span
from ingestion.dialects.genai import EVALUATION
from ingestion.feedback.item import Item, ItemFault, read_item

LONE_EVALUATION: Final = "lone_evaluation"
"""The flag of a log span that holds such an evaluation."""
CORRECTION: Final = "correction"
"""The name of an evaluation that says what the answer should have been."""
_SESSION: Final = ("gen_ai.conversation.id", "session.id")
_TRACE: Final = "trace_id"
_READ: Final = frozenset(
    {"gen_ai.response.id", "tidemill.feedback.id", *_SESSION}
    | {f"gen_ai.evaluation.{part}" for part in ("name", "score.value", "score.label", "explanation")}
)


def is_lone(name: str, trace_id: str, span_id: str, attributes: dict[str, Any]) -> bool:
    """Whether a log record is such an evaluation."""
    return name == EVALUATION and not span_id and bool(_target(trace_id, attributes))


def read_lone(trace_id: str, attributes: dict[str, Any], unix_nano: int, received_at: datetime) -> Item | ItemFault:
    """The item that the record is, without its person."""
    target = _target(trace_id, attributes)
    name = attributes.get("gen_ai.evaluation.name")
    score, label = (attributes.get(f"gen_ai.evaluation.score.{part}") for part in ("value", "label"))
    words = attributes.get("gen_ai.evaluation.explanation")
    corrects = name == CORRECTION and score is None and words is not None
    judged = score is not None or label is not None
    kind = FeedbackKind.CORRECTION if corrects else FeedbackKind.SCORE if judged else FeedbackKind.COMMENT
    place = [target, name]
    if "session_id" in target:
        place.append(unix_nano or [score, label, words])
    identity = attributes.get("tidemill.feedback.id") or f"evaluation-{digest_json(place)[:32]}"
    raw = {
        "id": identity,
        "kind": kind.value,
        "name": name,
        "value": score,
        "label": label,
        "content" if corrects else "comment": words,
        "at": from_unix_nano(unix_nano).isoformat() if unix_nano else None,
        **target,
    }
    return read_item(raw, 0, received_at)


def carried(trace_id: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the event that carries it through the spool."""
    return {key: value for key, value in attributes.items() if key in _READ} | ({_TRACE: trace_id} if trace_id else {})


def item_of(span: Span, user_id: str | None) -> Item | ItemFault:
    """The item that a log span of this kind carries; it was checked when it came."""
    (event,) = span.events
    at = event.time_unix_nano
    found = read_lone(str(event.attributes.get(_TRACE, "")), event.attributes, at, from_unix_nano(at))
    return found if isinstance(found, ItemFault) else found.model_copy(update={"user_id": user_id})


def _target(trace_id: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """The most exact thing that it names."""
    if trace_id:
        return {"trace_id": trace_id}
    response_id = attributes.get("gen_ai.response.id")
    if response_id is not None:
        return {"response_id": response_id}
    session = next((attributes[key] for key in _SESSION if attributes.get(key) is not None), None)
    return {} if session is None else {"session_id": session}
