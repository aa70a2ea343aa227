"""The carriers of a span: every place in it that can hold somebody's words, and which of them are structure.

Theory. Masking that covers some fields and not others is none: names, attributes, events, links, status message,
resource and scope are one JSON value here, masked as a whole and put back as a whole. A span whose content is withheld
keeps its structure: numbers under keys that a program gives, and the few strings that say which operation ran on which
model, never what was said.
Keys that only the server may set are dropped wherever the wire brings them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from governance.records.content import Evaluation
from governance.records.span import Attributes, Span, SpanEvent

CLIENT_KEYS: Final = frozenset(
    {"tidemill.release", "tidemill.world.digest", "tidemill.request.topic", "tidemill.actor", "tidemill.stop_reason"}
)
"""The keys under ``tidemill.`` that an agent may set; all others are the server's."""
STRUCTURAL_KEYS: Final = CLIENT_KEYS | {
    "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.system", "gen_ai.agent.name", "gen_ai.agent.id",
    "gen_ai.conversation.id", "gen_ai.request.model", "gen_ai.response.model", "gen_ai.response.id",
    "gen_ai.response.finish_reasons", "gen_ai.output.type", "gen_ai.tool.name", "gen_ai.tool.type",
    "gen_ai.tool.call.id", "gen_ai.evaluation.name", "session.id", "error.type", "llm.model_name", "llm.provider",
    "llm.system", "openinference.span.kind", "tool.name", "service.name", "service.version", "service.namespace",
    "deployment.environment", "deployment.environment.name", "telemetry.sdk.name", "telemetry.sdk.language",
    "telemetry.sdk.version",
}  # fmt: skip
EVALUATION: Final = "gen_ai.evaluation.result"
_CONTENT: Final = re.compile(
    r"gen_ai\.(?:input\.messages|output\.messages|system_instructions|tool\.call\.(?:arguments|result)|prompt\b.*|"
    r"completion\b.*|content\..*)|(?:input|output)\.(?:value|mime_type)|llm\.(?:input|output)_messages\b.*"
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_]+(?:[.\-][A-Za-z0-9_]+)*")
_LONG_NUMBER: Final = re.compile(r"\d{5}|\d{2}[\W_]\d{2}")
_CONTENT_EVENT: Final = re.compile(
    r"gen_ai\.(?:\w+\.message|choice|content\.\w+|client\.inference\.operation\.details|evaluation\.result)"
)


def without_content(span: Span) -> Span:
    """The span without the attributes and events whose messages its content holds."""
    said = _any_content(frozenset(span.attributes))
    if not said and not (span.events and any(_CONTENT_EVENT.fullmatch(event.name) for event in span.events)):
        return span
    return span.model_copy(
        update={
            "attributes": {key: value for key, value in span.attributes.items() if not _is_content(key)},
            "events": tuple(event for event in span.events if not _CONTENT_EVENT.fullmatch(event.name)),
        }
    )


def without_server_keys(span: Span) -> Span:
    """The span without keys that only the server may set."""
    maps = [held for held in (span.attributes, span.resource, span.scope_attributes) if held]
    maps += [one.attributes for several in (span.events, span.links) for one in several]
    if not any(map(_has_servers, maps)):
        return span
    return _each(span, lambda held: {key: value for key, value in held.items() if not _is_servers(key)})


def without_words(span: Span) -> Span:
    """The span's structure: numbers and flags, and of the strings only those that say what ran."""
    bare = without_content(span)
    structure = _each(
        bare, lambda held: {key: kept for key, value in held.items() if (kept := _kept(key, value)) is not None}
    )
    links = tuple(one.model_copy(update={"trace_state": ""}) for one in structure.links)
    return structure.model_copy(update={"status_message": "", "trace_state": "", "links": links})


def with_scores(span: Span, evaluations: Iterable[Evaluation]) -> Span:
    """The structure of a span with the names, ids and scores of its evaluations; their words are not structure."""
    scores = tuple(
        SpanEvent(
            name=EVALUATION,
            time_unix_nano=one.at_unix_nano,
            attributes={"gen_ai.evaluation.name": one.name, "gen_ai.evaluation.score.value": one.score}
            | ({} if one.id is None else {"tidemill.feedback.id": one.id}),
        )
        for one in evaluations
        if one.score is not None
    )
    return span.model_copy(update={"events": (*span.events, *scores)})


def with_subject(masked: Span, source: Span, keys: Sequence[str], raw_id: str, subject: str) -> Span:
    """The masked span with the subject's hash in the attributes that carried the person's raw id in ``source``."""
    if source.attributes.keys().isdisjoint(keys) and source.resource.keys().isdisjoint(keys):
        return masked

    def named(held: Attributes, before: Attributes) -> Attributes:
        return {
            key: subject if key in keys and str(before.get(key)) == raw_id else value for key, value in held.items()
        }

    return masked.model_copy(
        update={
            "attributes": named(masked.attributes, source.attributes),
            "resource": named(masked.resource, source.resource),
        }
    )


def strings_of(span: Span) -> dict[str, Any]:
    """Every string carrier of the span as one JSON value."""
    return {
        "span_name": span.name,
        "status_message": span.status_message,
        "trace_state": span.trace_state,
        "scope_name": span.scope_name,
        "scope_version": span.scope_version,
        "scope_attributes": span.scope_attributes,
        "attributes": span.attributes,
        "resource": span.resource,
        "events": [{"event_name": event.name, "attributes": event.attributes} for event in span.events],
        "links": [{"attributes": link.attributes, "trace_state": link.trace_state} for link in span.links],
    }


def with_strings(span: Span, masked: dict[str, Any]) -> Span:
    """The span with its string carriers replaced by what ``strings_of`` became."""
    events = [
        event.model_copy(update={"name": new["event_name"], "attributes": new["attributes"]})
        for event, new in zip(span.events, masked["events"], strict=True)
    ]
    links = [
        link.model_copy(update={"attributes": new["attributes"], "trace_state": new["trace_state"]})
        for link, new in zip(span.links, masked["links"], strict=True)
    ]
    plain = ("status_message", "trace_state", "scope_name", "scope_version", "scope_attributes", "attributes",
             "resource")  # fmt: skip
    changed = {name: masked[name] for name in plain}
    return span.model_copy(
        update=changed | {"name": masked["span_name"], "events": tuple(events), "links": tuple(links)}
    )


@lru_cache(maxsize=1024)
def _any_content(keys: frozenset[str]) -> bool:
    """Instrumentations have few sets of keys."""
    return any(map(_is_content, keys))


def _has_servers(held: Attributes) -> bool:
    return _any_servers(frozenset(held))


@lru_cache(maxsize=1024)
def _any_servers(keys: frozenset[str]) -> bool:
    return any(map(_is_servers, keys))


@lru_cache(maxsize=4096)
def _is_content(key: str) -> bool:
    return _CONTENT.fullmatch(key) is not None


@lru_cache(maxsize=4096)
def _is_identifier(key: str) -> bool:
    """Whether a key is one that a program gives: anything else may be said by somebody."""
    return _IDENTIFIER.fullmatch(key) is not None and _LONG_NUMBER.search(key) is None


def _is_servers(key: str) -> bool:
    return key.startswith("tidemill.") and key not in CLIENT_KEYS


def _kept(key: str, value: Any) -> Any:
    if not _is_identifier(key):
        return None
    if isinstance(value, bool | int | float):
        return value
    words = value if isinstance(value, list) else [value]
    if key in STRUCTURAL_KEYS and all(isinstance(word, str | int | float) for word in words):
        return value
    return None


def _each(span: Span, change: Any) -> Span:
    """The span with ``change`` applied to each of its attribute maps."""

    def changed(held: Attributes) -> Attributes:
        made: Attributes = change(held)
        return made

    return span.model_copy(
        update={
            "attributes": changed(span.attributes),
            "resource": changed(span.resource),
            "scope_attributes": changed(span.scope_attributes),
            "events": tuple(one.model_copy(update={"attributes": changed(one.attributes)}) for one in span.events),
            "links": tuple(one.model_copy(update={"attributes": changed(one.attributes)}) for one in span.links),
        }
    )
