"""MLflow: traces as ``mlflow.search_traces``, the REST API and ``Trace.to_json`` write them.

Source: MLflow's trace schema (``info``, ``data.spans``), its third version (OTLP ids in base64, nanoseconds in
``start_time_unix_nano``) and its second (``context``, ``request_id``). Attribute values are texts of JSON; what was
said stands in ``mlflow.spanInputs`` and ``mlflow.spanOutputs``, and becomes ``gen_ai.*`` where no dialect reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.span import Span, SpanEvent
from ingestion.importers import shapes
from ingestion.importers.draft import Draft, Said, evaluation, events, finish, id_in, say
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.times import unix_nano
from ingestion.importers.values import first, head, obj, parsed, seq, text

_OPERATIONS: Final = {
    "LLM": "chat", "CHAT_MODEL": "chat", "AGENT": "invoke_agent", "TOOL": "execute_tool", "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings", "RERANKER": "rerank",
}  # fmt: skip


class MlflowTrace(FileForm):
    """One trace, or a list of them."""

    name = "mlflow"
    needs = "an object with `info` (`trace_id` or `request_id`) and `data.spans`"

    def recognises(self, document: Document) -> bool:
        """By the two parts of a trace."""
        trace = head(document)
        info, data = obj(parsed(trace.get("info"))), obj(parsed(trace.get("data")))
        return bool({"trace_id", "request_id"} & info.keys()) and isinstance(data.get("spans"), list)

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Span by span; the assessments of the whole trace stand at its root."""
        for number, item in enumerate(document if isinstance(document, list) else [document]):
            fields = obj(item)
            info, data = obj(parsed(fields.get("info"))), obj(parsed(fields.get("data")))
            if not seq(data.get("spans")):
                yield Refused(where=f"{source}: trace {number}", reason="a trace without `data.spans`")
            for position, one in enumerate(seq(data.get("spans"))):
                where = f"{source}: trace {number}, span {position}"
                span = obj(one)
                decoded = {key: parsed(value) for key, value in obj(parsed(span.get("attributes"))).items()}
                yield say(finish(_draft(span, decoded, info), self.name, where, position), _said(span, decoded))


def _parent(span: dict[str, Any]) -> Any:
    return first(span, "parent_span_id", "parent_id") or None


def _draft(span: dict[str, Any], decoded: dict[str, Any], info: dict[str, Any]) -> Draft:
    context, status = obj(span.get("context")), obj(span.get("status"))
    metadata = obj(first(info, "trace_metadata", "request_metadata"))
    people = {"user.id": metadata.get("mlflow.trace.user"), "session.id": metadata.get("mlflow.trace.session")}
    start = first(span, "start_time_unix_nano", "start_time_ns", "start_time")
    trace = first(span, "trace_id") or first(context, "trace_id") or first(info, "trace_id", "request_id")
    at = unix_nano(start)
    return Draft(
        trace=trace,
        span=first(span, "span_id") or context.get("span_id"),
        parent=_parent(span),
        name=span.get("name"),
        start=start,
        end=first(span, "end_time_unix_nano", "end_time_ns", "end_time"),
        status=first(span, "status_code") or status.get("code"),
        status_message=text(first(span, "status_message") or status.get("message")),
        attributes={key: value for key, value in people.items() if isinstance(value, str)} | decoded,
        events=events(span.get("events"), at) + (() if _parent(span) else tuple(_assessments(info, at))),
        resource={"service.name": metadata.get("mlflow.source.name")},
    )


def _said(span: dict[str, Any], decoded: dict[str, Any]) -> Said:
    operation = _OPERATIONS.get(text(decoded.get("mlflow.spanType")))
    inputs = first(decoded, "mlflow.spanInputs") if "mlflow.spanInputs" in decoded else parsed(span.get("inputs"))
    outputs = first(decoded, "mlflow.spanOutputs") if "mlflow.spanOutputs" in decoded else parsed(span.get("outputs"))
    if operation == "execute_tool":
        return Said(operation=operation, tool_name=span.get("name"), arguments=inputs, result=outputs)
    tokens = shapes.usage(decoded.get("mlflow.chat.tokenUsage"), obj(outputs).get("usage") if operation else None)
    model = first(decoded, "mlflow.llm.model") or obj(inputs).get("model")
    named = isinstance(model, str) and operation == "chat"
    return Said(
        operation=operation or (None if _parent(span) else "invoke_workflow"),
        input=shapes.messages(inputs),
        output=shapes.messages(outputs),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        more={"gen_ai.request.model": model} if named else {},
    )


def _assessments(info: dict[str, Any], at: int) -> Iterator[SpanEvent]:
    for item in seq(info.get("assessments")):
        said = obj(item)
        name = text(first(said, "assessment_name", "name"))
        value = obj(said.get("feedback")).get("value")
        if name and value is not None:
            when = unix_nano(first(said, "last_update_time", "create_time")) or at
            yield evaluation(
                name, value, said.get("rationale"), when, id_in(MlflowTrace.name, said.get("assessment_id"))
            )
