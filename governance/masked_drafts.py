"""What may be kept of spans, masked: each span's carriers, and each message once however many spans repeat it.

The masker sees every string: of a span with its tool call as one value, so that names of fields count, and of each
message as a value of its own. What it leaves as it is stays the same object.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from governance import carriers
from governance.grown import Grown
from governance.own_id import HashedId, OwnId
from governance.ports.masker import Masked, Masker
from governance.records.content import Evaluation, SpanContent
from governance.records.message import Message
from governance.records.span import Span

Draft = tuple[Span, SpanContent | None]
"""A span and what may be kept of what was said in it."""
Hides = OwnId | HashedId
Finished = Callable[[Hides], tuple[Span, SpanContent | None, tuple[str, ...]]]
"""Given whose it is: the masked span, its masked content, and who is mentioned in that."""
_SAID: Final = ("operation", "tool_name", "tool_call_id", "tool_arguments", "tool_result")


def masked_drafts(masker: Masker, tenant_id: str, drafts: Sequence[Draft]) -> Iterator[Finished]:
    """The drafts, masked, in order.

    Raises:
        MaskingError: when a detector fails; nothing is returned then.

    """
    messages = {
        id(message): message
        for _, content in drafts
        if content is not None
        for side in (content.input, content.output)
        for message in side
    }
    carried = [_carried(draft) for draft in drafts]
    plain = [message.plain() for message in messages.values()]
    found = masker.mask(tenant_id, [*carried, *plain])
    said = _Messages(
        {
            place: (message, before, masked)
            for (place, message), before, masked in zip(messages.items(), plain, found[len(carried) :], strict=True)
        }
    )
    return iter([_Finish(*each, said) for each in zip(drafts, carried, found[: len(carried)], strict=True)])


def _carried(draft: Draft) -> dict[str, Any]:
    """Everything of a span that masking must see, but its messages."""
    span, content = draft
    if content is None:
        return {"span": carriers.strings_of(span)}
    said = {name: value for name in _SAID if (value := getattr(content, name)) is not None}
    if content.evaluations:
        said["evaluations"] = [one.plain() for one in content.evaluations]
    return {"span": carriers.strings_of(span), "content": said}


class _Messages:
    """The distinct messages of a batch, masked, and once more for each person whose own id stands in one."""

    def __init__(self, found: dict[int, tuple[Message, dict[str, Any], Masked]]) -> None:
        self._found = found
        self._grown: dict[Hides, Grown[tuple[Message, tuple[str, ...]]]] = {}
        self._made: dict[tuple[int, Hides], tuple[Message, tuple[str, ...]]] = {}

    def of(self, messages: tuple[Message, ...], own_id: Hides) -> tuple[tuple[Message, tuple[str, ...]], ...]:
        """The masked messages, each with who is mentioned in it."""
        if own_id not in self._grown:
            self._grown[own_id] = Grown(lambda some: [self._one(message, own_id) for message in some])
        return self._grown[own_id](messages)

    def _one(self, message: Message, own_id: Hides) -> tuple[Message, tuple[str, ...]]:
        key = id(message), own_id
        known = self._made.get(key)
        if known is None:
            original, before, masked = self._found[key[0]]
            value = own_id.hidden(masked.value)
            made = original if value is before else Message.parse(value, "masked message")
            known = self._made[key] = made, tuple(finding.mention for finding in masked.findings)
        return known


class _Finish:
    """One draft and what masking made of it."""

    def __init__(self, draft: Draft, carried: dict[str, Any], masked: Masked, said: _Messages) -> None:
        self._draft = draft
        self._carried = carried
        self._masked = masked
        self._said = said

    def __call__(self, own_id: Hides) -> tuple[Span, SpanContent | None, tuple[str, ...]]:
        span, content = self._draft
        value = own_id.hidden(self._masked.value)
        same = value is self._carried
        made = span if same else carriers.with_strings(span, value["span"])
        if content is None:
            return made, None, ()
        mentions = {finding.mention for finding in self._masked.findings}
        changes: dict[str, Any] = {} if same else _said_again(value["content"])
        for side in ("input", "output"):
            before: tuple[Message, ...] = getattr(content, side)
            pairs = self._said.of(before, own_id)
            mentions.update([mention for _, named in pairs for mention in named])
            after = tuple([new for new, _ in pairs])
            if any(map(operator.is_not, after, before)):
                changes[side] = after
        kept = content.model_copy(update=changes) if changes else content
        return made, kept, tuple(sorted(mentions))


def _said_again(value: dict[str, Any]) -> dict[str, Any]:
    changes = dict(value)
    if "evaluations" in changes:
        changes["evaluations"] = tuple(Evaluation.parse(one, "masked evaluation") for one in changes["evaluations"])
    return changes
