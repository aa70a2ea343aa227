"""The words by which a tool's error tells its kind: of its type, joined by ``_``, and of its text.

Business refusals ("not enough seats", "not available on that date") have no kind of their own: their words are left
out on purpose.
"""

from __future__ import annotations

import re
from typing import Final

from governance.records.error_kind import ErrorKind

_TYPE_WORDS: Final = {
    ErrorKind.RATE_LIMIT: ("rate_?limit", "too_many_requests", "throttl", "quota", "resource_exhausted"),
    ErrorKind.TIMEOUT: ("time_?out", "timed_out", "deadline"),
    ErrorKind.AUTH: (
        r"\bauth(_|n\b|z\b|entication|orization)", "unauth", "forbidden", "permission", "access_denied", "credential",
    ),
    ErrorKind.NOT_FOUND: ("not_found", "no_such", "not_exist", "unknown_(tool|function|method)"),
    ErrorKind.CONFLICT: ("conflict", "already_exists", "precondition", "integrity", "duplicate", r"\baborted\b"),
    ErrorKind.UNAVAILABLE: (
        "unavailable", "connect", "network", "gateway", "overloaded", "server_error", "socket", "remote_protocol",
    ),
    ErrorKind.SCHEMA: (
        "schema", "validation", "validator", "invalid_(arg|param|input|request|type|json|format)", "bad_request",
        "pars(e|ing)", "json_decode", "unprocessable", "missing_(arg|param|field|required)", "out_of_range",
    ),
}  # fmt: skip
_TEXT_WORDS: Final = {
    ErrorKind.RATE_LIMIT: (
        "too many requests", "rate[ -_]?limit", r"quota\b.{0,20}\bexceeded", r"exceeded .{0,20}\bquota",
        "insufficient_quota", "throttl", "usage limit", "요청이 너무 많", "요청 한도", "速率限制", "请求过于频繁",
    ),
    ErrorKind.TIMEOUT: (r"\btime[ds]?[ -_]?out\b", "deadline exceeded", "시간(이)? ?초과", "超时"),
    ErrorKind.AUTH: (
        "unauthori[sz]ed", "unauthenticated", "authentication (is )?(failed|required|error)", "not authenticated",
        r"(invalid|expired|missing|incorrect) (api[ _-]?key|credentials?|(access )?token)\b",
        r"\b(api key|token|credentials?) (is |has |are |was )?(expired|missing|invalid|required)", r"\bforbidden\b",
        r"permission\b.{0,60}\bdenied", "not logged in", "(please|must|need to) (log|sign) in",
        "access (is |was )?denied", "insufficient (permission|scope|privilege)", "not authori[sz]ed",
        "not permitted", "권한이 없", "인증에 실패", "접근이 거부",
    ),
    ErrorKind.NOT_FOUND: (
        r"\bnot found\b", r"\bno such\b", "does(n't| not) exist", "do not exist", "could not find", "cannot find",
        "couldn't find", "(unknown|unsupported) (tool|function|method)", r"\bno \w+( \w+)? (found|exists)",
        "찾을 수 없", "존재하지 않", "不存在", "找不到",
    ),
    ErrorKind.CONFLICT: (
        r"\bconflict\b", "already (exists|in use|been|registered)", "duplicate (key|entry)", "precondition failed",
        "version mismatch", "concurrent (update|modification)", "이미 존재", "이미 사용",
    ),
    ErrorKind.UNAVAILABLE: (
        "(service|server|temporarily) (is )?(temporarily )?unavailable", "bad gateway", "overloaded",
        "connection (was |is )?(refused|reset|aborted|closed|error|lost)", "failed to connect", "could not connect",
        "unreachable", "name or service not known", "internal server error", "max retries exceeded",
        "일시적으로 사용할 수 없",
    ),
    ErrorKind.SCHEMA: (
        "validation (error|failed)", "invalid (arg|param|input|json|request|type|format|value|literal)",
        r"(missing|required|unexpected|unknown|unrecogni[sz]ed) .{0,40}?\b(argument|parameter|propert|field|keyword)",
        r"(argument|parameter|property|field)s?\b.{0,40}\b(is|are|was) (required|missing)", "missing field",
        r"missing ['\"`]\w", "is a required property", "does not match (the )?(schema|pattern|regex|expected)",
        "is not of type", "is required for", r"invalid[ _]syntax", "out of range", "is not one of", "is not a valid",
        "should be a valid", "expecting value", "(failed|unable) to parse", "could not parse", "parse error",
        "malformed", "bad request", "필수 (값|항목|인자)", "형식이 (잘못|올바르지)",
    ),
}  # fmt: skip
TYPES: Final = {kind: re.compile("|".join(words)) for kind, words in _TYPE_WORDS.items()}
TEXTS: Final = {kind: re.compile("|".join(words), re.IGNORECASE) for kind, words in _TEXT_WORDS.items()}
