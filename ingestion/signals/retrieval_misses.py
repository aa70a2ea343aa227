"""``retrieval_miss``: something was looked for and nothing was found. Evidence: the span that looked.

1. ``retrieval``: the span is a retrieval by its convention.
2. ``search``: the span is a tool that searches: its name has a word of searching, or it was given a query. It answered
   with nothing: an empty list, object or text, an object whose lists of results are all empty or whose total is 0, or a
   short text that begins with saying so.
A call that failed found nothing for another reason, and an answer that is not there (withheld, not recorded) says
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from governance.records.base import from_unix_nano
from governance.records.signal import Signal, SignalKind
from governance.records.trajectory import ToolInvocation
from ingestion.signals.case import Case

_SEARCHING: Final = frozenset(
    {"search", "retrieve", "retrieval", "retriever", "lookup", "find", "query", "grep", "recall", "rag"}
)
_QUERIES: Final = frozenset({"query", "q", "search_query", "search_term", "keywords", "search"})
_RESULTS: Final = frozenset(
    {"results", "result", "hits", "items", "documents", "docs", "matches", "data", "records", "rows", "entries",
     "nodes", "chunks", "passages", "search_results"}
)  # fmt: skip
_TOTALS: Final = ("total", "total_results", "totalResults", "count", "num_results", "total_count")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SAYS_NOTHING: Final = re.compile(
    r"\W*(?:no|0|zero)\s+(?:\w+\s+){0,2}?(?:results?|matches|documents?|records?|entries|hits|items|passages|files)\b"
    r"(?:\s+(?:were|was|have been|could be))?(?:\s+(?:found|available|returned|match)|\s+for\b|\s*[.!]?\s*$)"
    r"|\W*nothing (?:was )?found|\W*(?:검색 결과|결과|문서)(?:가|이)? (?:없습니다|없음)",
    re.IGNORECASE,
)


def retrieval_misses(case: Case) -> Iterator[Signal]:
    """One for each search that found nothing."""
    for span_id, item in case.tree.spans.items():
        found = None if item.content is None else item.content.tool_result
        if case.tree.operation(span_id) == "retrieval" and _nothing(found, case.thresholds.empty_text):
            at, detail = from_unix_nano(item.span.start_unix_nano), {"by": "retrieval"}
            yield case.signal(SignalKind.RETRIEVAL_MISS, at, (span_id,), label=item.span.name, detail=detail)
    for call in case.trajectory.calls:
        if call.error is None and _searches(call) and _nothing(call.result, case.thresholds.empty_text):
            yield case.about_call(SignalKind.RETRIEVAL_MISS, call, label=call.name, detail={"by": "search"})


def _searches(call: ToolInvocation) -> bool:
    words = {word.lower() for word in _WORDS.findall(call.name)}
    asked = isinstance(call.arguments, dict) and not _QUERIES.isdisjoint(call.arguments)
    return asked or not _SEARCHING.isdisjoint(words)


def _nothing(result: Any, longest: int) -> bool:
    """Whether an answer is that there is nothing."""
    if isinstance(result, str):
        text = result.strip()
        return not text or (len(text) <= longest and _SAYS_NOTHING.match(text) is not None)
    if isinstance(result, dict):
        return not result or _empty_object(result)
    return isinstance(result, list) and not result


def _empty_object(result: dict[str, Any]) -> bool:
    lists = [value for key, value in result.items() if key in _RESULTS and isinstance(value, list | dict | None)]
    if any(lists):
        return False
    counted = any(result.get(key) == 0 and not isinstance(result.get(key), bool) for key in _TOTALS)
    return counted or any(isinstance(value, list) for value in lists)
