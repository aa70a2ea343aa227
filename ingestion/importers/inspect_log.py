"""Inspect: evaluation logs, ``.json`` and ``.eval`` (an archive of the same parts).

Source: Inspect AI's log schema (``EvalLog``, ``EvalSample``). Each sample and epoch is one run: its messages, with the
texts that the log keeps as attachments put back, its scores as evaluations, its tokens by model summed, its error as
the run's status.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from governance.records.base import digest_bytes
from governance.records.span import Span
from ingestion.dialects.values import added, amount
from ingestion.importers import conversation
from ingestion.importers.conversation import Conversation
from ingestion.importers.draft import evaluation
from ingestion.importers.form import Archive, Document, FileForm, Refused
from ingestion.importers.times import unix_nano
from ingestion.importers.values import count, first, json_text, obj, seq, text

_HEADERS: Final = ("header.json", "_journal/start.json")
_SAMPLES: Final = "samples/"
_ATTACHED: Final = "attachment://"


class InspectLog(FileForm):
    """A log of an evaluation."""

    name = "inspect"
    needs = "an object with `eval` (with `task`) and `samples`, or an archive with `header.json` and `samples/`"

    def recognises(self, document: Document) -> bool:
        """By the description of the evaluation."""
        head = _header(document)
        return "task" in obj(head.get("eval")) and bool({"version", "plan", "status", "samples"} & head.keys())

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Sample by sample."""
        head = _header(document)
        for position, item in enumerate(_samples(document)):
            where = f"{source}: sample {position}"
            sample = obj(item)
            if not seq(sample.get("messages")):
                yield Refused(where=where, reason="a sample without messages")
                continue
            yield from conversation.spans(_run(sample, head), self.name, where)


def _header(document: Document) -> dict[str, Any]:
    if isinstance(document, Archive):
        return next((obj(document.members[name]) for name in _HEADERS if name in document.members), {})
    return obj(document)


def _samples(document: Document) -> list[Any]:
    if isinstance(document, Archive):
        return [document.members[name] for name in sorted(document.members) if name.startswith(_SAMPLES)]
    return seq(obj(document).get("samples"))


def _run(sample: dict[str, Any], head: dict[str, Any]) -> Conversation:
    about, stats = obj(head.get("eval")), obj(head.get("stats"))
    attachments = obj(sample.get("attachments"))
    messages = [_message(obj(item), attachments) for item in seq(sample["messages"])]
    tokens = [obj(item) for item in obj(sample.get("model_usage")).values()]
    names = [text(first(about, "eval_id", "run_id")), json_text(sample.get("id")), json_text(sample.get("epoch"))]
    content = digest_bytes(json_text(sample["messages"]).encode("utf-8", "surrogatepass"))
    start = first(sample, "started_at") or first(stats, "started_at") or about.get("created")
    end = first(sample, "completed_at") or first(stats, "completed_at")
    error = sample.get("error")
    return Conversation(
        id="/".join([*names, content]),
        messages=messages,
        agent=text(about.get("task")) or "inspect",
        model=about.get("model"),
        start=start,
        end=end,
        attributes={
            "gen_ai.usage.input_tokens": _sum(tokens, "input_tokens"),
            "gen_ai.usage.output_tokens": _sum(tokens, "output_tokens"),
            "gen_ai.usage.cache_read.input_tokens": _sum(tokens, "input_tokens_cache_read"),
            "gen_ai.usage.cache_creation.input_tokens": _sum(tokens, "input_tokens_cache_write"),
            "gen_ai.usage.reasoning.output_tokens": _sum(tokens, "reasoning_tokens"),
            "gen_ai.usage.cost": added(*(amount(place, "total_cost") for place in tokens)),
            "inspect.sample.id": json_text(sample.get("id")),
            "inspect.epoch": sample.get("epoch"),
        },
        evaluations=tuple(
            evaluation(name, obj(score).get("value"), obj(score).get("explanation"), unix_nano(end or start))
            for name, score in obj(sample.get("scores")).items()
        ),
        status=2 if error else 0,
        status_message=text(obj(error).get("message")),
    )


def _sum(places: list[dict[str, Any]], key: str) -> int | None:
    found = [count(place.get(key)) for place in places]
    return sum(value or 0 for value in found) if found else None


def _message(message: dict[str, Any], attachments: dict[str, Any]) -> dict[str, Any]:
    """A message with its attachments put back; a call's name stands where the chat API has it."""
    calls = [
        {**obj(call), "name": text(obj(call).get("function")) or obj(call).get("name")}
        for call in seq(message.get("tool_calls"))
    ]
    content = _attached(message.get("content"), attachments)
    return {**message, "content": content} | ({"tool_calls": calls} if calls else {})


def _attached(content: Any, attachments: dict[str, Any]) -> Any:
    if isinstance(content, str) and content.startswith(_ATTACHED):
        return attachments.get(content.removeprefix(_ATTACHED), content)
    if isinstance(content, list):
        return [
            {key: _attached(value, attachments) if isinstance(value, str) else value for key, value in item.items()}
            if isinstance(item, dict)
            else item
            for item in content
        ]
    return content
