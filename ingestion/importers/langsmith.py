"""LangSmith: runs, as the API and the SDKs write them.

Source: the LangSmith SDK's run schema (``run_type``, ``parent_run_id``, ``dotted_order``). Read are runs one by one,
in a list, line by line, nested in ``child_runs``, and the batches of the SDK (``post`` begins a run, ``patch`` ends
it; both name it by ``id`` or by the end of ``dotted_order``). Person and conversation are those of the metadata.
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
    "llm": "chat", "tool": "execute_tool", "retriever": "retrieval", "embedding": "embeddings",
}  # fmt: skip
_SESSION: Final = ("session_id", "thread_id", "conversation_id")


class LangSmith(FileForm):
    """Runs, or batches of them."""

    name = "langsmith"
    needs = "runs with `run_type` and `id`, or batches with `post` and `patch`"

    def recognises(self, document: Document) -> bool:
        """By a run, or by the two parts of a batch."""
        run = head(document)
        batch = seq(run.get("post")) or seq(run.get("patch")) or seq(run.get("runs"))
        return _is_run(run) or (is_objects(batch) and (_is_run(batch[0]) or "dotted_order" in batch[0]))

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Run by run, a run's children after it."""
        runs = _merged(document if isinstance(document, list) else [document])
        for position, run in enumerate(runs):
            where = f"{source}: run {position}"
            if not run.get("run_type"):
                yield Refused(where=where, reason="a run without `run_type`: its beginning is not in the file")
                continue
            yield say(finish(_draft(run), self.name, where, position), _said(run))


def _is_run(value: dict[str, Any]) -> bool:
    return isinstance(value.get("run_type"), str) and bool({"id", "dotted_order"} & value.keys())


def _merged(items: list[Any]) -> list[dict[str, Any]]:
    """Every run once, with what its parts say together; of two values the later."""
    found: dict[Any, dict[str, Any]] = {}
    for position, run in enumerate(_all(items)):
        key = _id(run) or position
        said = {name: value for name, value in run.items() if value not in (None, {}, [])}
        found[key] = {**found.get(key, {}), **said}
    return list(found.values())


def _all(items: list[Any]) -> Iterator[dict[str, Any]]:
    waiting: list[tuple[Any, Any, Any]] = [(item, None, None) for item in reversed(items)]
    while waiting:
        item, parent, trace = waiting.pop()
        run = obj(item)
        parts = [part for name in ("post", "patch", "runs") for part in seq(run.get(name))]
        if parts:
            waiting += [(part, None, None) for part in reversed(parts)]
            continue
        above = {"parent_run_id": parent, "trace_id": trace}
        run = {**{key: value for key, value in above.items() if value}, **run}
        yield run
        trace = first(run, "trace_id") or _id(run)
        waiting += [(child, _id(run), trace) for child in reversed(seq(run.get("child_runs")))]


def _id(run: dict[str, Any]) -> str:
    """The id of a run; a patch may say it only at the end of its place in the trace."""
    return text(run.get("id")) or text(run.get("dotted_order")).rpartition(".")[2].partition("Z")[2]


def _draft(run: dict[str, Any]) -> Draft:
    metadata = _metadata(run)
    error = text(run.get("error"))
    people = {"user.id": metadata.get("user_id"), "session.id": first(metadata, *_SESSION)}
    return Draft(
        trace=first(run, "trace_id") or _id(run),
        span=_id(run),
        parent=run.get("parent_run_id"),
        name=run.get("name"),
        start=run.get("start_time"),
        end=run.get("end_time"),
        status=2 if error or run.get("status") == "error" else 0,
        status_message=error,
        attributes={key: value for key, value in people.items() if isinstance(value, str | int)},
        events=tuple(_feedback(run)),
        resource={"service.name": run.get("session_name")},
    )


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    return obj(obj(parsed(run.get("extra"))).get("metadata")) or obj(run.get("metadata"))


def _said(run: dict[str, Any]) -> Said:
    operation = _OPERATIONS.get(run["run_type"]) if isinstance(run["run_type"], str) else None
    inputs, outputs = parsed(run.get("inputs")), parsed(run.get("outputs"))
    if operation == "execute_tool":
        answer = first(obj(outputs), "output") if len(obj(outputs)) == 1 else outputs
        message = obj(obj(answer).get("kwargs")) or obj(answer)
        return Said(
            operation=operation,
            tool_name=run.get("name"),
            tool_call_id=message.get("tool_call_id"),
            arguments=inputs["input"] if {*obj(inputs)} == {"input"} else inputs,
            result=message["content"] if "tool_call_id" in message and "content" in message else answer,
        )
    tokens = _usage(run, obj(outputs))
    metadata = _metadata(run)
    model = first(metadata, "ls_model_name") or obj(inputs).get("model")
    cost = run.get("total_cost")
    more = {"gen_ai.request.model": model, "gen_ai.provider.name": metadata.get("ls_provider")}
    return Said(
        operation=operation or (None if run.get("parent_run_id") else "invoke_workflow"),
        input=shapes.messages(inputs),
        output=shapes.messages(outputs),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        more={key: value for key, value in more.items() if isinstance(value, str)} | {"gen_ai.usage.cost": cost}
        if operation == "chat"
        else {},
    )


def _usage(run: dict[str, Any], outputs: dict[str, Any]) -> tuple[Any, Any]:
    generations = seq(outputs.get("generations"))
    inner = generations[0] if generations else None
    message = obj(obj(inner[0] if isinstance(inner, list) and inner else inner).get("message"))
    held = obj(message.get("kwargs")) or message
    return shapes.usage(
        outputs.get("usage_metadata"),
        outputs.get("usage"),
        _metadata(run).get("usage_metadata"),
        held.get("usage_metadata"),
        obj(outputs.get("llm_output")).get("token_usage"),
        run if run.get("run_type") == "llm" else None,
    )


def _feedback(run: dict[str, Any]) -> Iterator[SpanEvent]:
    at = unix_nano(run.get("end_time")) or unix_nano(run.get("start_time"))
    for item in seq(run.get("feedback")):
        said = obj(item)
        if text(said.get("key")):
            when = unix_nano(first(said, "modified_at", "created_at")) or at
            id_ = id_in(LangSmith.name, said.get("id"))
            yield evaluation(text(said["key"]), first(said, "score", "value"), said.get("comment"), when, id_)
            if said.get("correction"):
                words = json_text(said["correction"])
                yield evaluation(CORRECTION, None, words, when, f"{id_}/{CORRECTION}" if id_ else "")
