"""A small server that speaks OpenAI's API by a script: chat completions and responses, whole and as a stream.

1. The script maps a question to its steps; a step calls tools or answers. Which step is next shows in the ids of the
   calls whose results have come since the question, so the server holds no conversation.
2. Each step says its usage; the same request gives the same answer, byte for byte but for the time.
3. A question named in ``refused_once`` is answered 429 the first time that an API key asks it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "small-talk-1"


@dataclass(frozen=True)
class Step:
    """One answer of the model: tools to call, or a text."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input."""
    reasoning_tokens: int = 0
    """Of the output."""


@dataclass
class Script:
    """What the model says, and what was asked of it."""

    steps: Mapping[str, Sequence[Step]]
    refused_once: frozenset[str] = frozenset()
    refused: set[tuple[str, str]] = field(default_factory=set)
    """API key and question of every 429."""
    requests: list[tuple[str, str, bool]] = field(default_factory=list)
    """API key, path and whether a stream was asked for, of every request that was answered."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, question: str, answered: Sequence[str]) -> tuple[str, Step]:
        """The next step after these results, with the stem of its ids."""
        position = 1 + max((int(call_id.split("_")[2]) for call_id in answered), default=-1)
        return f"{list(self.steps).index(question)}_{position}", self.steps[question][position]

    def refuses(self, key: str, question: str) -> bool:
        """Whether this is the first time that the key asks a question that is refused once."""
        with self.lock:
            if question not in self.refused_once or (key, question) in self.refused:
                return False
            self.refused.add((key, question))
            return True


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """The base URL of a server that answers by the script."""

    class Handler(_Handler):
        """Bound to the script."""

    Handler.script = script
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Nothing."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        form = FORMS.get(self.path)
        if form is None:
            self._send(404, {"error": {"message": f"no {self.path} here", "type": "invalid_request_error"}})
            return
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        question, answered = form.asked(request)
        if self.script.refuses(key, question):
            error = {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}
            self._send(429, {"error": error}, {"retry-after-ms": "20"})
            return
        stem, step = self.script.next(question, answered)
        answer = form(request, stem, step)
        self.script.requests.append((key, self.path, bool(request.get("stream"))))
        if request.get("stream"):
            self._stream(answer.events())
        else:
            self._send(200, answer.whole())

    def _send(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, lines: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for line in lines:
            self.wfile.write(f"{line}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True


class Chat:
    """``/v1/chat/completions``."""

    def __init__(self, request: Mapping[str, Any], stem: str, step: Step) -> None:
        self._step = step
        self._usage_wanted = (request.get("stream_options") or {}).get("include_usage", False)
        self._head = {"id": f"chatcmpl-{stem}", "created": int(time.time()), "model": MODEL}
        self._calls = _calls(stem, step)

    @staticmethod
    def asked(request: Mapping[str, Any]) -> tuple[str, list[str]]:
        """The last question, and the ids of the calls answered since."""
        messages = request["messages"]
        last = max(place for place, one in enumerate(messages) if one["role"] == "user")
        answered = [one["tool_call_id"] for one in messages[last:] if one["role"] == "tool"]
        return text_of(messages[last]["content"]), answered

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        calls = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in self._calls
        ]
        message = {"role": "assistant", "content": self._step.text or None, **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": self._usage}

    def events(self) -> Iterator[str]:
        """The answer in pieces, usage last where it was asked for."""
        yield self._chunk({"role": "assistant", "content": "" if self._step.text else None})
        for piece in _pieces(self._step.text):
            yield self._chunk({"content": piece})
        for index, (id_, name, arguments) in enumerate(self._calls):
            head = {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": ""}}
            yield self._chunk({"tool_calls": [head]})
            for piece in _pieces(arguments):
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield self._chunk({}, self._reason)
        if self._usage_wanted:
            last = {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": self._usage}
            yield f"data: {json.dumps(last)}"
        yield "data: [DONE]"

    def _chunk(self, delta: Mapping[str, Any], reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({**self._head, 'object': 'chat.completion.chunk', 'choices': [choice]})}"

    @property
    def _reason(self) -> str:
        return "tool_calls" if self._calls else "stop"

    @property
    def _usage(self) -> dict[str, Any]:
        step = self._step
        return {
            "prompt_tokens": step.input_tokens,
            "completion_tokens": step.output_tokens,
            "total_tokens": step.input_tokens + step.output_tokens,
            "prompt_tokens_details": {"cached_tokens": step.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": step.reasoning_tokens},
        }


class Responses:
    """``/v1/responses``."""

    def __init__(self, request: Mapping[str, Any], stem: str, step: Step) -> None:
        self._step = step
        self._head = {
            "id": f"resp_{stem}", "object": "response", "created_at": int(time.time()), "model": MODEL, "error": None,
            "incomplete_details": None, "instructions": request.get("instructions"), "metadata": {},
            "parallel_tool_calls": True, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto",
            "tools": request.get("tools", []),
        }  # fmt: skip
        self._items: list[dict[str, Any]] = [
            {"id": f"fc_{id_}", "type": "function_call", "call_id": id_, "name": name, "arguments": arguments,
             "status": "completed"}
            for id_, name, arguments in _calls(stem, step)
        ]  # fmt: skip
        if step.text:
            content = [{"type": "output_text", "text": step.text, "annotations": [], "logprobs": []}]
            message = {"id": f"msg_{stem}", "type": "message", "role": "assistant", "status": "completed"}
            self._items.append({**message, "content": content})

    @staticmethod
    def asked(request: Mapping[str, Any]) -> tuple[str, list[str]]:
        """The last question, and the ids of the calls answered since."""
        items = request["input"]
        if isinstance(items, str):
            return items, []
        last = max(place for place, one in enumerate(items) if one.get("role") == "user")
        answered = [one["call_id"] for one in items[last:] if one.get("type") == "function_call_output"]
        return text_of(items[last]["content"]), answered

    def whole(self) -> dict[str, Any]:
        """The answer in one piece."""
        step = self._step
        usage = {
            "input_tokens": step.input_tokens,
            "input_tokens_details": {"cached_tokens": step.cached_tokens, "cache_write_tokens": 0},
            "output_tokens": step.output_tokens,
            "output_tokens_details": {"reasoning_tokens": step.reasoning_tokens},
            "total_tokens": step.input_tokens + step.output_tokens,
        }
        return {**self._head, "status": "completed", "output": self._items, "usage": usage}

    def events(self) -> Iterator[str]:
        """The answer in pieces; the last event holds the whole."""
        for number, (kind, body) in enumerate(self._events()):
            event = {"type": kind, "sequence_number": number, **body}
            yield f"event: {kind}\ndata: {json.dumps(event)}"

    def _events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        begun = {**self._head, "status": "in_progress", "output": [], "usage": None}
        yield "response.created", {"response": begun}
        for place, item in enumerate(self._items):
            at = {"output_index": place, "item_id": item["id"]}
            is_call = item["type"] == "function_call"
            empty: dict[str, Any] = {"arguments": ""} if is_call else {"content": []}
            started = {**item, "status": "in_progress", **empty}
            yield "response.output_item.added", {"output_index": place, "item": started}
            yield from _call_events(at, item) if is_call else _text_events(at, item)
            yield "response.output_item.done", {"output_index": place, "item": item}
        yield "response.completed", {"response": self.whole()}


FORMS: Mapping[str, type[Chat] | type[Responses]] = {"/v1/chat/completions": Chat, "/v1/responses": Responses}
"""What is served, by path."""


def _call_events(at: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for piece in _pieces(item["arguments"]):
        yield "response.function_call_arguments.delta", {**at, "delta": piece}
    yield "response.function_call_arguments.done", {**at, "name": item["name"], "arguments": item["arguments"]}


def _text_events(at: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    at = {**at, "content_index": 0}
    (part,) = item["content"]
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}


def text_of(content: Any) -> str:
    """The text of a message's content, given as text or as parts."""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _calls(stem: str, step: Step) -> list[tuple[str, str, str]]:
    """Id, name and arguments as JSON of each call."""
    return [(f"call_{stem}_{place}", name, json.dumps(held)) for place, (name, held) in enumerate(step.calls)]


def _pieces(text: str) -> Iterator[str]:
    """A text as it streams: in pieces that end anywhere."""
    yield from (text[start : start + 7] for start in range(0, len(text), 7))
