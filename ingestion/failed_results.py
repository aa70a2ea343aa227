"""Results that are errors in fact: a tool that answered, and what it answered is that it did not do it.

Careful by design: a result that only speaks of an error (a log file, a page, a script's output) is none. An object is
one when it says so and holds nothing else (``{"error": ...}``, ``{"success": false, "message": ...}``), or when it has
MCP's ``isError``. A text is one when it is short and begins as errors begin (``Error: ...``, ``ValueError: ...``,
``Unknown tool ...``). A traceback is none: it is what a script printed as often as what a tool raised, and a tool that
raised has a span that failed.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from ingestion.text import NotJson, parse_json

LONGEST: Final = 2000
"""Characters of a text that can be an error: a page or a file that begins with the word is longer."""
_ABOUT: Final = frozenset(
    {
        "error", "errors", "error_code", "errorCode", "error_type", "errorType", "error_message", "code", "status",
        "status_code", "statusCode", "message", "msg", "detail", "details", "reason", "type", "title", "success", "ok",
        "isError", "is_error", "request_id", "requestId", "trace_id", "timestamp", "hint", "suggestion", "retry_after",
        "jsonrpc", "id", "tool", "tool_name", "path", "param", "doc_url",
    }
)  # fmt: skip
"""What stands in an object that says nothing but an error."""
_BEGINS: Final = re.compile(
    r"\s*(?:\W{0,3}\berror\b\s*(?:\(?\w{0,12}\)?)?\s*:"
    r"|(?:[A-Za-z_]\w*\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Timeout)\b\s*(?::|\()"
    r"|error (?:code|executing|calling|invoking|running|while|during)\b"
    r"|(?:unknown|no such) tool\b|tool [`'\"]?[\w.-]{1,80}[`'\"]? (?:not found|does not exist|is not available)"
    r"|(?:tool|function) (?:call|execution) (?:failed|error)|오류\s*:|에러\s*:)",
    re.IGNORECASE,
)
_CODES: Final = ("status_code", "statusCode", "code", "error_code", "errorCode", "status")
_TYPES: Final = ("error_type", "errorType", "type", "code")
_TEXTS: Final = ("message", "msg", "error_message", "detail", "details", "reason", "title", "error", "errors")


class FailedResult(NamedTuple):
    """What a result says of its failure."""

    text: str
    type: str | None = None
    code: Any = None


def failed_result(result: Any) -> FailedResult | None:
    """What the result says of a failure, if it is one."""
    if isinstance(result, str):
        return _of_text(result)
    return _of_object(result) if isinstance(result, dict) else None


def _of_text(text: str) -> FailedResult | None:
    if len(text) > LONGEST:
        return None
    if text.lstrip().startswith("{"):
        try:
            held = parse_json(text, set())
        except NotJson:
            held = None
        return _of_object(held) if isinstance(held, dict) else None
    return FailedResult(text.strip()) if _BEGINS.match(text) else None


def _of_object(held: dict[str, Any]) -> FailedResult | None:
    marked = held.get("isError") is True or held.get("is_error") is True
    stated = held.get("error") or held.get("errors")
    refused = held.get("success") is False or held.get("ok") is False
    named = str(held.get("status")).lower() in ("error", "failed", "failure")
    coded = any(400 <= held[key] < 600 for key in _CODES if type(held.get(key)) is int)
    only = held.keys() <= _ABOUT
    if not marked and not (only and (stated or ((refused or named or coded) and _text(held)))):
        return None
    inner = next((one for one in (held.get("error"), held.get("errors")) if isinstance(one, dict)), None)
    said = held if inner is None else {**held, **inner}
    return FailedResult(_text(said) or _whole(held), _type(said), _code(said))


def _text(held: dict[str, Any]) -> str | None:
    return next((held[key] for key in _TEXTS if isinstance(held.get(key), str) and held[key].strip()), None)


def _whole(held: dict[str, Any]) -> str:
    return json.dumps(held, ensure_ascii=False, sort_keys=True)[:LONGEST]  # a result may hold an infinity


def _type(held: dict[str, Any]) -> str | None:
    return next((held[key] for key in _TYPES if isinstance(held.get(key), str)), None)


def _code(held: dict[str, Any]) -> Any:
    return next((held[key] for key in _CODES if isinstance(held.get(key), int)), None)
