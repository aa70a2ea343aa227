"""Which kind of failure a tool's error is, told from its codes, its type and its text, in this order.

1. Codes: HTTP statuses, gRPC's status codes, JSON-RPC's and MCP's error codes. Each means one kind.
2. The type (``error.type``, an exception's class): its words, however they are joined. A type that says nothing
   (``ToolError``, ``RuntimeError``, ``_OTHER``) is passed over.
3. The text: the kind whose words come first in it. Only the beginning is read, where errors say what they are.
4. ``other`` where none tells: a wrong kind would send a failure to the wrong lever, an unknown one to a person.

Source: RFC 9110 (HTTP statuses), gRPC status codes, JSON-RPC 2.0 and the Model Context Protocol (error codes), and what
clients and frameworks write: requests, httpx, OpenAI, Anthropic, Inspect, LangChain, MCP servers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from governance.records.error_kind import ErrorKind
from ingestion.error_words import TEXTS, TYPES

READ: Final = 600
"""Characters of an error's text that are read."""
_CODE_KEYS: Final = (
    "http.response.status_code", "http.status_code", "rpc.response.status_code", "rpc.grpc.status_code",
    "rpc.jsonrpc.error_code", "jsonrpc.error.code", "error.code",
)  # fmt: skip
_CODES: Final = {
    400: ErrorKind.SCHEMA, 401: ErrorKind.AUTH, 403: ErrorKind.AUTH, 404: ErrorKind.NOT_FOUND,
    405: ErrorKind.SCHEMA, 407: ErrorKind.AUTH, 408: ErrorKind.TIMEOUT, 409: ErrorKind.CONFLICT,
    410: ErrorKind.NOT_FOUND, 412: ErrorKind.CONFLICT, 415: ErrorKind.SCHEMA, 422: ErrorKind.SCHEMA,
    423: ErrorKind.CONFLICT, 429: ErrorKind.RATE_LIMIT, 500: ErrorKind.UNAVAILABLE, 502: ErrorKind.UNAVAILABLE,
    503: ErrorKind.UNAVAILABLE, 504: ErrorKind.TIMEOUT, 529: ErrorKind.UNAVAILABLE,
    -32700: ErrorKind.SCHEMA, -32600: ErrorKind.SCHEMA, -32602: ErrorKind.SCHEMA, -32601: ErrorKind.NOT_FOUND,
    -32001: ErrorKind.TIMEOUT, -32002: ErrorKind.NOT_FOUND,
}  # fmt: skip
_GRPC: Final = {
    3: ErrorKind.SCHEMA, 4: ErrorKind.TIMEOUT, 5: ErrorKind.NOT_FOUND, 6: ErrorKind.CONFLICT, 7: ErrorKind.AUTH,
    8: ErrorKind.RATE_LIMIT, 9: ErrorKind.CONFLICT, 10: ErrorKind.CONFLICT, 11: ErrorKind.SCHEMA,
    14: ErrorKind.UNAVAILABLE, 16: ErrorKind.AUTH,
}  # fmt: skip
_CODE_IN_TEXT: Final = re.compile(
    r"mcp error (-32\d{3})"
    r"|(?:error code|status code|http(?:/\d\.\d)?|statuscode|status|code)\W{0,3}\b([45]\d\d)\b"
    r"|^\W{0,3}([45]\d\d)\b|\b([45]\d\d) (?:client|server) error",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
GRPC_KEYS: Final = frozenset({"rpc.grpc.status_code"})


def error_kind(error_type: str | None, text: str, attributes: Mapping[str, Any] | None = None) -> ErrorKind:
    """The kind of an error: its type, its text, and the attributes of the span that it happened in."""
    return (
        _by_codes(attributes or {})
        or _by_type(error_type or "")
        or _by_text(text[:READ])
        or ErrorKind.OTHER
    )  # fmt: skip


def _by_codes(attributes: Mapping[str, Any]) -> ErrorKind | None:
    found = (code_kind(attributes[key], grpc=key in GRPC_KEYS) for key in _CODE_KEYS if attributes.get(key) is not None)
    return next((kind for kind in found if kind is not None), None)


def code_kind(value: Any, *, grpc: bool = False) -> ErrorKind | None:
    """The kind that a code means, if it is one that is known."""
    text = str(value).strip()
    if not re.fullmatch(r"-?\d{1,6}", text):
        return _by_type(text) if isinstance(value, str) else None
    return (_GRPC if grpc else _CODES).get(int(text))


def _by_type(error_type: str) -> ErrorKind | None:
    """By a code, or by the words of the class's own name: its package says nothing of the kind."""
    if re.fullmatch(r"-?\d{1,6}", error_type.strip()):
        return _CODES.get(int(error_type))
    words = "_".join(_WORDS.findall(error_type.rpartition(".")[2])).lower()
    return _first((kind, pattern.search(words)) for kind, pattern in TYPES.items())


def _by_text(text: str) -> ErrorKind | None:
    coded = _CODE_IN_TEXT.search(text)
    if coded is not None:
        kind = _CODES.get(int(next(group for group in coded.groups() if group)))
        if kind is not None:
            return kind
    found = [(match.start(), kind) for kind, pattern in TEXTS.items() if (match := pattern.search(text))]
    return min(found, key=lambda one: one[0])[1] if found else None


def _first(found: Iterable[tuple[ErrorKind, re.Match[str] | None]]) -> ErrorKind | None:
    return next((kind for kind, match in found if match is not None), None)
