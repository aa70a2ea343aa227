"""Langfuse: a trace with its observations, as the UI and ``/api/public/traces`` export them.

Source: Langfuse's public API (Trace, Observation, Score). An observation that came in over OTLP keeps its original
attributes, resource and scope in ``metadata``, a JSON text; those are taken, and the observation's own ``input``,
``output``, ``model`` and usage stand in for what Langfuse took out of them. A trace's user and session are those of
all its spans. An export that holds an observation twice (short in ``trace``, whole beside it) holds it once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.span import Span, SpanEvent
from ingestion.feedback.lone_evaluations import CORRECTION
from ingestion.importers import shapes
from ingestion.importers.draft import Draft, Said, evaluation, finish, id_in, say
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.times import unix_nano
from ingestion.importers.values import first, head, is_objects, json_text, obj, parsed, seq, text

_OPERATIONS: Final = {
    "GENERATION": "chat", "AGENT": "invoke_agent", "TOOL": "execute_tool", "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings", "EVALUATOR": "evaluate", "GUARDRAIL": "guardrail",
}  # fmt: skip
_OBSERVATION: Final = frozenset({"id", "traceId", "type", "startTime"})


class Langfuse(FileForm):
    """A trace with observations, a list of them, or a list of observations."""

    name = "langfuse"
    needs = "a trace with `observations`, or observations with `traceId`, `type` and `startTime`"

    def recognises(self, document: Document) -> bool:
        """By the observations; a trace without any by its project."""
        item = head(document)
        trace = obj(item.get("trace")) or item
        observed = first(item, "observations") or trace.get("observations")
        if is_objects(observed):
            return observed[0].keys() >= _OBSERVATION
        return item.keys() >= _OBSERVATION or (observed == [] and "projectId" in trace)

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Observation by observation, in the order of the file."""
        items = document if isinstance(document, list) else [document]
        if head(items).keys() >= _OBSERVATION:
            items = [{"observations": items}]
        for number, item in enumerate(items):
            fields = obj(item)
            trace = obj(fields.get("trace")) or fields
            observed = _once([*seq(trace.get("observations")), *seq(fields.get("observations"))])
            if not observed and trace.get("id"):
                observed = [_as_observation(trace)]
            if not observed:
                yield Refused(
                    where=f"{source}: trace {number}", reason="no trace: it has neither observations nor an id"
                )
            for position, one in enumerate(observed):
                where = f"{source}: observation {position}"
                yield _span(one, trace, where, position) if one else Refused(where=where, reason="not an object")


def _once(observed: list[Any]) -> list[dict[str, Any]]:
    """Each observation once; of two, what the later says, and what only the earlier says."""
    found: dict[Any, dict[str, Any]] = {}
    for position, item in enumerate(observed):
        one = obj(item)
        key = text(one.get("id")) or position
        said = {name: value for name, value in one.items() if value not in (None, {}, "{}", [])}
        found[key] = {**found.get(key, {}), **said}
    return list(found.values())


def _as_observation(trace: dict[str, Any]) -> dict[str, Any]:
    """A trace that holds nothing but itself."""
    return {
        "id": f"{text(trace.get('id'))}/trace",
        "traceId": trace.get("id"),
        "type": "SPAN",
        "startTime": trace.get("timestamp"),
        "endTime": trace.get("timestamp"),
        **{key: trace.get(key) for key in ("name", "input", "output", "metadata")},
    }


def _span(one: dict[str, Any], trace: dict[str, Any], where: str, position: int) -> Span | Refused:
    metadata = obj(parsed(one.get("metadata")))
    trace_metadata = obj(parsed(trace.get("metadata")))
    people = {"user.id": text(trace.get("userId")) or None, "session.id": text(trace.get("sessionId")) or None}
    level = text(one.get("level"))
    draft = Draft(
        trace=first(one, "traceId") or trace.get("id"),
        span=one.get("id"),
        parent=one.get("parentObservationId"),
        name=one.get("name"),
        start=one.get("startTime"),
        end=one.get("endTime"),
        closed=one.get("type") == "EVENT",
        status=2 if level == "ERROR" else 0,
        status_message=one.get("statusMessage"),
        attributes=people | obj(parsed(metadata.get("attributes"))),
        events=_scores(one, trace),
        resource=obj(parsed(metadata.get("resourceAttributes"))) or obj(trace_metadata.get("resourceAttributes")),
        scope=obj(parsed(metadata.get("scope"))) or obj(trace_metadata.get("scope")),
    )
    return say(finish(draft, Langfuse.name, where, position), _said(one))


def _said(one: dict[str, Any]) -> Said:
    operation = _OPERATIONS.get(text(one.get("type")))
    model = text(one.get("model")) or None
    given, answer = parsed(one.get("input")), parsed(one.get("output"))
    if operation == "execute_tool" or "tool_call_id" in obj(answer):
        return _tool(one, given, answer)
    tokens = _usage(one)
    said, tools = _tools_apart(shapes.messages(given))
    more: dict[str, Any] = {"gen_ai.request.model": model} if operation == "chat" else {}
    more["gen_ai.usage.cost"] = _cost(one)
    return Said(
        operation=operation or (None if one.get("parentObservationId") else "invoke_workflow"),
        input=said,
        output=shapes.messages(answer),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        more=more | ({"gen_ai.tool.definitions": tools} if tools else {}),
    )


def _tool(one: dict[str, Any], arguments: Any, answer: Any) -> Said:
    """An executed tool; one of an older SDK is told by its answer, a message that names its call."""
    message = obj(answer)
    named = "tool_call_id" in message
    return Said(
        operation="execute_tool",
        tool_name=one.get("name"),
        tool_call_id=message.get("tool_call_id"),
        arguments=arguments,
        result=message.get("content") if named else answer,
    )


def _tools_apart(messages: Any) -> tuple[Any, list[Any]]:
    """The messages, and the definitions of tools that the LangChain handler lists behind them as if they were some."""
    if not isinstance(messages, list):
        return messages, []
    tools = [obj(item)["content"] for item in messages if _defines(item)]
    return [item for item in messages if not _defines(item)], tools


def _defines(item: Any) -> bool:
    content = obj(obj(item).get("content"))
    return obj(item).get("role") == "tool" and content.get("type") == "function" and "function" in content


def _usage(one: dict[str, Any]) -> tuple[Any, Any]:
    if one.get("inputUsage") or one.get("outputUsage"):
        return one.get("inputUsage"), one.get("outputUsage")
    details = obj(one.get("usageDetails")) or obj(one.get("usage"))
    return details.get("input"), details.get("output")


def _cost(one: dict[str, Any]) -> Any:
    """In dollars, whether its SDK stated it or Langfuse priced it."""
    return first(one, "totalCost", "calculatedTotalCost") or obj(one.get("costDetails")).get("total")


def _scores(one: dict[str, Any], trace: dict[str, Any]) -> tuple[SpanEvent, ...]:
    """Scores of an observation; those of the whole trace stand at its root."""
    root = not one.get("parentObservationId")
    found = []
    for item in seq(trace.get("scores")):
        score = obj(item)
        of = score.get("observationId")
        if text(score.get("name")) and (of == one.get("id") or (of is None and root)):
            value = first(score, "stringValue", "value")
            at = unix_nano(first(score, "updatedAt", "timestamp")) or unix_nano(one.get("startTime"))
            id_ = id_in(Langfuse.name, score.get("id"))
            if score.get("dataType") == "CORRECTION":
                found.append(evaluation(CORRECTION, None, json_text(value), at, id_))
            else:
                found.append(evaluation(text(score["name"]), value, score.get("comment"), at, id_))
    return tuple(found)
