"""The executed tool calls of a trace, in order, each once.

1. A tool's span is a call; of two that describe one call, the outer.
2. Many instrumentations trace the model and not the tools. A call that a model asked for, whose result stands in what
   a later span was given, was executed too; its evidence is the span that asked. A tool's span accounts for the call of
   its id, else for one of its name, of its arguments before others, so no call is there twice.
3. Some write of a tool's span less than was asked: LangChain the bare value of a single argument. Where the id is the
   same, arguments and result that the span lacks are those of the messages.
4. Calls stand in order of time; those of one message, which may run at once, in the order in which it asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.message import Message, Part, ToolCallPart, ToolResultPart
from governance.records.trajectory import ToolInvocation
from ingestion.actors import actor
from ingestion.tree import Tree, operation

STATUS_ERROR: Final = 2
"""OTLP's STATUS_CODE_ERROR."""


class _Asked(NamedTuple):
    """A call as a message asks for it."""

    part: ToolCallPart
    item: AdmittedSpan
    """The span whose output the message is."""
    answer: ToolResultPart | None

    @property
    def ended(self) -> int:
        """When it was asked for."""
        return max(self.item.span.start_unix_nano, self.item.span.end_unix_nano)


class _Placed(NamedTuple):
    """A call with its place in time."""

    at: int
    call: ToolInvocation
    asked: str | None
    """The id under which a message asks for it."""


def calls_of(tree: Tree) -> tuple[ToolInvocation, ...]:
    """Every executed call."""
    traced = tool_spans(tree)
    asked = _asked(tree)
    matched = dict(_matches(traced, asked))
    placed = [_traced(item, tree, matched.get(item.span.span_id), asked) for item in traced]
    left = asked.keys() - matched.values()
    placed += [_told(one, tree) for id_, one in asked.items() if id_ in left and one.answer is not None]
    return _ordered(sorted(placed, key=lambda one: one.at), asked)


def _asked(tree: Tree) -> dict[str, _Asked]:
    """What was asked for, by the id of the call, in order; of spans that say the same, the deepest."""
    found: dict[str, tuple[AdmittedSpan, ToolCallPart]] = {}
    for item in tree.spans.values():
        for part in () if item.content is None else _parts(item.content.output):
            if isinstance(part, ToolCallPart) and part.id:
                held = found.get(part.id)
                if held is None or tree.depth(item.span.span_id) > tree.depth(held[0].span.span_id):
                    found[part.id] = item, part
    asked = {id_: _Asked(part, item, None) for id_, (item, part) in found.items()}
    answers = _answers(asked, tree) if asked else {}
    return {id_: one._replace(answer=answers.get(id_)) for id_, one in asked.items()}


def _answers(asked: dict[str, _Asked], tree: Tree) -> dict[str, ToolResultPart]:
    """The results in what the first span after the asking one was given; its last, where an id came back."""
    found: dict[str, ToolResultPart] = {}
    for item in tree.spans.values():
        said = () if item.content is None else _parts(item.content.input)
        new = {one.id: one for one in said if isinstance(one, ToolResultPart) and one.id in asked}
        for id_, part in new.items():
            if id_ not in found and item.span.start_unix_nano >= asked[id_].ended:
                found[id_] = part
    return found


def _parts(messages: Iterable[Message]) -> Iterator[Part]:
    return (part for message in messages for part in message.parts)


def _matches(traced: list[AdmittedSpan], asked: dict[str, _Asked]) -> Iterator[tuple[str, str]]:
    """Tool span to the id of the call that it accounts for."""
    left = dict(asked)
    unmatched = []
    for item in traced:
        id_ = _call_id(item)
        if id_ is not None and left.pop(id_, None) is not None:
            yield item.span.span_id, id_
        else:
            unmatched.append(item)
    for item in unmatched:
        same = [id_ for id_, one in left.items() if one.part.name == tool_name(item)]
        given = None if item.content is None else item.content.tool_arguments
        found = next((id_ for id_ in same if left[id_].part.arguments == given), next(iter(same), None))
        if found is not None:
            del left[found]
            yield item.span.span_id, found


def _ordered(placed: list[_Placed], asked: dict[str, _Asked]) -> tuple[ToolInvocation, ...]:
    """Calls of one message in its order, in the places that they hold together."""
    order = {id_: position for position, id_ in enumerate(asked)}
    places: dict[str, list[int]] = {}
    for position, one in enumerate(placed):
        if one.asked is not None:
            places.setdefault(asked[one.asked].item.span.span_id, []).append(position)
    result = list(placed)
    for held in places.values():
        together = sorted((placed[position] for position in held), key=lambda one: order[one.asked or ""])
        for position, one in zip(held, together, strict=True):
            result[position] = one
    return tuple(one.call for one in result)


def tool_spans(tree: Tree) -> list[AdmittedSpan]:
    """Executed tools in order; a span inside one of the same name and call is that call again."""
    return [item for item in tree.spans.values() if operation(item) == "execute_tool" and not _repeats(item, tree)]


def _repeats(item: AdmittedSpan, tree: Tree) -> bool:
    name, call_id = tool_name(item), _call_id(item)
    return any(
        operation(above) == "execute_tool"
        and tool_name(above) == name
        and (call_id is None or _call_id(above) in (None, call_id))
        for above in tree.ancestors(item.span.span_id)
    )


def tool_name(item: AdmittedSpan) -> str:
    """The tool of a span."""
    content_name = None if item.content is None else item.content.tool_name
    attributes = item.span.attributes
    names = (content_name, attributes.get("gen_ai.tool.name"), attributes.get("tool.name"))
    return next((str(name) for name in names if name), item.span.name.removeprefix("execute_tool ") or "unknown")


def _call_id(item: AdmittedSpan) -> str | None:
    content_id = None if item.content is None else item.content.tool_call_id
    value = content_id or item.span.attributes.get("gen_ai.tool.call.id")
    return str(value) if value else None


def _traced(item: AdmittedSpan, tree: Tree, asked_id: str | None, asked: dict[str, _Asked]) -> _Placed:
    """The call that a tool span describes."""
    span, content = item.span, item.content
    error, error_type = tool_error(item)
    arguments = None if content is None else content.tool_arguments
    result = None if content is None else content.tool_result
    told = asked[asked_id] if asked_id is not None and asked_id == _call_id(item) else None
    if told is not None and content is not None:
        bare = not isinstance(arguments, dict) and isinstance(told.part.arguments, dict)
        arguments = told.part.arguments if bare else arguments
        result = told.answer.response if result is None and told.answer is not None else result
    call = ToolInvocation(
        span_id=span.span_id,
        call_id=_call_id(item) or span.span_id,
        name=tool_name(item),
        arguments=arguments,
        result=result,
        error=error,
        error_type=error_type,
        actor=actor(item, tree),
        started_at=from_unix_nano(span.start_unix_nano),
    )
    return _Placed(span.start_unix_nano, call, asked_id)


def _told(one: _Asked, tree: Tree) -> _Placed:
    """The call that only messages tell of."""
    call = ToolInvocation(
        span_id=one.item.span.span_id,
        call_id=one.part.id,
        name=one.part.name,
        arguments=one.part.arguments,
        result=None if one.answer is None else one.answer.response,
        actor=actor(one.item, tree),
        started_at=from_unix_nano(one.ended),
    )
    return _Placed(one.ended, call, one.part.id)


def tool_error(item: AdmittedSpan) -> tuple[str | None, str | None]:
    """A tool's error text and type; two Nones when it succeeded."""
    span = item.span
    exception: dict[str, Any] = next((event.attributes for event in span.events if event.name == "exception"), {})
    failed = span.status_code == STATUS_ERROR
    error_type = span.attributes.get("error.type") or (exception.get("exception.type") if failed else None)
    if not failed and not error_type:
        return None, None
    text = span.status_message or exception.get("exception.message") or error_type or "error"
    return str(text), str(error_type) if error_type else None
