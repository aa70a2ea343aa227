"""OpenInference: ``openinference.span.kind``, indexed ``llm.*_messages``, ``input.value`` and ``output.value``.

Source: Arize OpenInference semantic conventions (``llm.input_messages.N.message.*``, ``message_content``,
``tool_call.function.*``, ``llm.token_count.*``).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from governance.records.content import SpanContent
from governance.records.message import Message, Role
from governance.records.span import Span
from governance.records.usage import Usage
from ingestion.dialects import langchain
from ingestion.dialects.forms import Form, richest
from ingestion.dialects.indexed import collect, keys_under
from ingestion.dialects.messages import read_arguments, read_message, read_result, with_instructions
from ingestion.dialects.payload import called_with, read_payload
from ingestion.dialects.values import EXECUTE_TOOL, NOTHING, added, amount, count, present, unquoted, usage

CONTENT_EVENTS: Final[frozenset[str]] = frozenset()
CONTENT_KEYS: Final = (
    "llm.input_messages", "llm.output_messages", "input.value", "output.value", "llm.prompts", "llm.completions",
    "retrieval.documents", "reranker.input_documents", "reranker.output_documents", "reranker.query",
    "tool.parameters", "embedding.embeddings", "embedding.text", "llm.function_call", "llm.prompt_template.variables",
    "tool_call.function.arguments", "llm.choices", "smolagents.task",
)  # fmt: skip
_OPERATIONS: Final = {
    "LLM": "chat", "AGENT": "invoke_agent", "TOOL": EXECUTE_TOOL, "RETRIEVER": "retrieval",
    "EMBEDDING": "embeddings", "CHAIN": "invoke_workflow", "RERANKER": "rerank", "GUARDRAIL": "guardrail",
    "EVALUATOR": "evaluate",
}  # fmt: skip
_SPEAKING: Final = frozenset({"chat", "invoke_agent", "invoke_workflow", None})
_PARAMETERS: Final = "llm.invocation_parameters"
_SYSTEM: Final = ("instructions", "system", "system_instruction")
_REQUEST: Final = ("messages", "contents", "input", "prompt")
_PLAIN: Final = {"input": ("smolagents.task", "input.value"), "output": ("output.value",)}
"""What smolagents' agent was asked stands by itself; its input is the call of its ``run``."""
_BEEAI: Final = frozenset({"history", "thought"})
"""What BeeAI's own events repeat of a conversation."""
_HEADS: Final = ("llm.", "input.", "output.", "retrieval.", "reranker.", "tool.", "tool_call.", "embedding.")


def speaks(keys: Collection[str], events: Collection[str]) -> bool:  # noqa: ARG001  (every dialect is asked alike)
    """Whether a span with these attributes and events says anything in this dialect."""
    return "openinference.span.kind" in keys or any(key.startswith(_HEADS) for key in keys)


def content_keys(attributes: dict[str, Any]) -> set[str]:
    """The attributes that this dialect takes out of a span."""
    keys = keys_under(attributes, CONTENT_KEYS)
    if "beeai.version" in attributes:
        keys |= _BEEAI & attributes.keys()
    return keys | {_PARAMETERS} if _spoken(attributes) else keys


def _spoken(attributes: dict[str, Any]) -> dict[str, Any]:
    """What is said among the parameters of a call: some instrumentations write the whole request there."""
    value = attributes.get(_PARAMETERS)
    if isinstance(value, str) and not any(f'"{key}"' in value for key in (*_SYSTEM, *_REQUEST)):
        return {}  # most calls: nothing is parsed
    parameters = unquoted(value, set())
    held = parameters if isinstance(parameters, dict) else {}
    return {key: held[key] for key in (*_SYSTEM, *_REQUEST) if held.get(key)}


def read(span: Span) -> SpanContent:
    """What the span says in this dialect."""
    attributes = span.attributes
    if not speaks(span.attributes, {event.name for event in span.events}):
        return NOTHING
    notes: set[str] = set()
    kind = attributes.get("openinference.span.kind")
    operation = _OPERATIONS.get(kind.upper()) if isinstance(kind, str) else None
    tool = operation == EXECUTE_TOOL
    input_ = _side(attributes, "input", Role.USER, operation)
    output = _side(attributes, "output", Role.ASSISTANT, operation)
    return SpanContent(
        operation=operation,
        input=_with_parameters(input_, attributes, notes) if operation in _SPEAKING else input_.messages,
        output=output.messages,
        tool_name=_tool_name(span) if tool else None,
        tool_call_id=_tool_call_id(attributes) if tool else None,
        tool_arguments=_arguments(attributes, operation, notes),
        tool_result=_result(attributes, notes) if tool else _documents(attributes, operation, notes),
        usage=_usage(attributes),
        flags=tuple(sorted(notes | input_.flags | output.flags)),
    )


def _side(attributes: dict[str, Any], side: str, role: Role, operation: str | None) -> Form:
    """The indexed messages of a model; the plain value where there are none, or where it says more of a run."""
    notes: set[str] = set()
    indexed = Form(_indexed(attributes, f"llm.{side}_messages", role, notes), frozenset(notes))
    if operation not in _SPEAKING or (indexed.parts and operation == "chat"):
        return indexed
    completion = Form(_completion(attributes, side, role, notes), frozenset(notes))
    plain_notes: set[str] = set()
    plain = read_payload(present(attributes, *_PLAIN[side]), role, plain_notes)
    return richest((indexed, completion, Form(plain, frozenset(plain_notes))))


def _with_parameters(input_: Form, attributes: dict[str, Any], notes: set[str]) -> tuple[Message, ...]:
    """The input, else the request among the parameters, after the instructions among them."""
    spoken = _spoken(attributes)
    request = {key: spoken[key] for key in _REQUEST if key in spoken}
    messages = input_.messages or read_payload(request, Role.USER, notes)
    return with_instructions(messages, present(spoken, *_SYSTEM), notes)


def _indexed(attributes: dict[str, Any], prefix: str, role: Role, notes: set[str]) -> tuple[Message, ...]:
    messages = []
    for item in collect(attributes, prefix, notes):
        fields = {key.removeprefix("message."): value for key, value in sorted(item.items())}
        calls = [_call(part) for part in collect(fields, "tool_calls", notes)]
        parts = [
            {key.removeprefix("message_content."): value for key, value in sorted(part.items())}
            for part in collect(fields, "contents", notes)
        ]
        body: dict[str, Any] = {"role": fields.get("role"), "tool_calls": calls}
        body["tool_call_id"] = fields.get("tool_call_id")
        content = fields.get("content")
        body["content"] = parts if content in (None, "") else content
        messages.append(read_message(body, role, notes))
    return tuple(message for message in messages if message is not None)


_COMPLETION: Final = {"input": ("llm.prompts", "prompt.text"), "output": ("llm.choices", "completion.text")}


def _completion(attributes: dict[str, Any], side: str, role: Role, notes: set[str]) -> tuple[Message, ...]:
    """The texts of a model that completes rather than converses."""
    prefix, key = _COMPLETION[side]
    messages = (read_message(item.get(key), role, notes) for item in collect(attributes, prefix, notes))
    return tuple(message for message in messages if message is not None)


def _call(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": fields.get("tool_call.id"),
        "name": fields.get("tool_call.function.name"),
        "arguments": fields.get("tool_call.function.arguments"),
    }


def _tool_name(span: Span) -> str | None:
    value = span.attributes.get("tool.name") or span.attributes.get("tool_call.function.name") or span.name
    return value if isinstance(value, str) and value else None


def _tool_call_id(attributes: dict[str, Any]) -> str | None:
    for key in ("tool_call.id", "tool.id", "tool.call.id"):
        if isinstance(attributes.get(key), str):
            return str(attributes[key])
    told = langchain.result(attributes.get("output.value"), set())
    value = told.value.get("tool_call_id") if isinstance(told.value, dict) else told.call_id
    return value if isinstance(value, str) else told.call_id


def _arguments(attributes: dict[str, Any], operation: str | None, notes: set[str]) -> Any:
    """The arguments of a tool; of a retrieval and its like, what it was given."""
    if operation in _SPEAKING:
        return None
    if operation != EXECUTE_TOOL:
        return read_result(attributes.get("input.value"), notes)
    raw = present(attributes, "tool_call.function.arguments", "input.value", "tool.parameters")
    if raw is None or (raw is attributes.get("input.value") and _is_plain(raw, attributes)):
        return raw
    return read_arguments(called_with(raw, notes), notes)[0]


def _is_plain(raw: Any, attributes: dict[str, Any]) -> bool:
    """Whether a tool was given a text that never was JSON: LangChain names the one argument by its value alone."""
    stated = attributes.get("input.mime_type", "text/plain")
    return stated == "text/plain" and isinstance(raw, str) and not raw.lstrip().startswith(("{", "["))


def _result(attributes: dict[str, Any], notes: set[str]) -> Any:
    return langchain.result(attributes.get("output.value"), notes).value


def _documents(attributes: dict[str, Any], operation: str | None, notes: set[str]) -> Any:
    """What a retrieval found: its documents, in order; what any other function gave back."""
    if operation in _SPEAKING:
        return None
    if operation != "retrieval":
        return _result(attributes, notes)
    documents = collect(attributes, "retrieval.documents", notes)
    if not documents:
        return _result(attributes, notes)
    return [{key.removeprefix("document."): value for key, value in sorted(item.items())} for item in documents]


def _usage(attributes: dict[str, Any]) -> Usage | None:
    parts = added(amount(attributes, "llm.cost.prompt"), amount(attributes, "llm.cost.completion"))
    cost = amount(attributes, "llm.cost.total")
    return usage(
        count(attributes, "llm.token_count.prompt"),
        count(attributes, "llm.token_count.completion"),
        cache_read=count(attributes, "llm.token_count.prompt_details.cache_read"),
        cache_write=count(attributes, "llm.token_count.prompt_details.cache_write"),
        reasoning=count(attributes, "llm.token_count.completion_details.reasoning"),
        cost=parts if cost is None else cost,
    )
