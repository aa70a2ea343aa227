"""``refusal``: the agent declined. Evidence: the span that says so.

1. ``content_filter`` and ``refusal``: the provider says it, as the reason why the answer ended.
2. ``part``: the answer has a part of the type ``refusal``. Later spans repeat it, so the first that has it counts.
3. ``text``: the answer begins with a formula of declining, in English or Korean, and is short. Only formulas that
   decline to help at all are known; that a thing cannot be found or is not allowed is an answer, and no refusal.
One signal a span, by the first of these that holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import Actor, Turn
from ingestion.actors import actor
from ingestion.dialects.messages import FILTERED, REFUSAL
from ingestion.signals.case import Case
from ingestion.signals.thresholds import Thresholds

_REASON_KEYS: Final = (
    "ai.response.finishReason", "gen_ai.response.finish_reason", "gen_ai.response.finish_reasons",
    "gen_ai.response.stop_reason", "llm.finish_reason", "stop_reason",
)  # fmt: skip
_REASONS: Final = {
    "content_filter": "content_filter", "content-filter": "content_filter", "contentfilter": "content_filter",
    "safety": "content_filter", "prohibited_content": "content_filter", "blocklist": "content_filter",
    "spii": "content_filter", "guardrail_intervened": "content_filter", "content_filtered": "content_filter",
    "refusal": "refusal",
}  # fmt: skip
"""Of OpenAI, Azure, Anthropic, Google, Bedrock and the Vercel AI SDK."""
_FLAGS: Final = {FILTERED: FILTERED, REFUSAL: "part"}
_NOT: Final = r"(can't|cannot|can not|won't|will not|(am|are) (unable|not able) to|must decline to)"
_HELP: Final = r"(help(?! but)|assist|comply|fulfil+|answer|discuss|engage|participate|do that|provide that)"
_DECLINES: Final = (
    re.compile(rf"\b(i|we) ({_NOT}) {_HELP}\b|\b(i'm|we're) (unable|not able) to {_HELP}\b", re.IGNORECASE),
    re.compile(
        r"(죄송|유감|미안|양해)[^.!?\n]{0,80}(도와 ?드릴|도움을 드릴|도움 드릴|답변을? ?드릴|답변할) 수(가|는)? 없"
    ),
)
_IN_EVERY: Final = ("n't", "not", "unable", "decl", "없")
"""One of these stands in whatever ``_DECLINES`` finds."""


def refusals(case: Case) -> Iterator[Signal]:
    """One for each span in which the agent declined."""
    told: dict[str, str] = {}
    for span_id, item in case.tree.spans.items():
        label = _stated(item)
        if label is not None and actor(item, case.tree) is Actor.AGENT:
            told[span_id] = label
    for flag, label in _FLAGS.items():
        first = _first_with(flag, case)
        if first is not None:
            told.setdefault(first, label)
    for span_id, label in told.items():
        span = case.tree.spans[span_id].span
        at = from_unix_nano(span.end_unix_nano or span.start_unix_nano)
        yield case.signal(SignalKind.REFUSAL, at, (span_id,), label=label)
    for turn in case.trajectory.turns:
        if turn.span_id not in told and _declines(turn, case.thresholds):
            told[turn.span_id] = "text"
            yield case.signal(SignalKind.REFUSAL, turn.at, (turn.span_id,), label="text")


def _stated(item: AdmittedSpan) -> str | None:
    attributes = item.span.attributes
    for key in _REASON_KEYS:
        if key in attributes:
            for reason in _listed(attributes[key]):
                if reason in _REASONS:
                    return _REASONS[reason]
    return None


def _first_with(flag: str, case: Case) -> str | None:
    """The span that said it: the first to end, since later ones repeat it in their history."""
    spans = [
        item
        for item in case.tree.spans.values()
        if item.content is not None and flag in item.content.flags and actor(item, case.tree) is Actor.AGENT
    ]
    first = min(spans, key=lambda item: (item.span.end_unix_nano, item.span.span_id), default=None)
    return None if first is None else first.span.span_id


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [one.rpartition(".")[2].lower() for one in values if isinstance(one, str)]


def _declines(turn: Turn, thresholds: Thresholds) -> bool:
    if turn.actor is not Actor.AGENT or turn.earlier:
        return False
    text = turn.message.text.strip()
    if len(text) > thresholds.refusal_length:
        return False
    beginning = text[: thresholds.refusal_within].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    lowered = beginning.lower()
    if not any(word in lowered for word in _IN_EVERY):
        return False
    return any(pattern.search(beginning) for pattern in _DECLINES)
