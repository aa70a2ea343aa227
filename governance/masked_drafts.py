"""What may be kept of spans, masked: each span's carriers, and each message once however many spans repeat it.

The masker sees every string: of a span with its tool call as one value, so that names of fields count, and of each
message as a value of its own, put together where it came in pieces (``governance.whole_values``). What it leaves as it
is stays the same object.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from governance import carriers
from governance.found import Found, in_message, in_span
from governance.grown import SHORTEST, Grown, begins
from governance.masking.annotations import marks_of, ordered
from governance.masking.failing import failing_closed
from governance.own_id import HashedId, OwnId
from governance.ports.masker import Masked, Masker
from governance.records.content import Evaluation, SpanContent
from governance.records.mark import Mark
from governance.records.message import Message
from governance.records.span import Span
from governance.whole_values import whole_values

Draft = tuple[Span, SpanContent | None]
"""A span and what may be kept of what was said in it."""
Hides = OwnId | HashedId
Joined = Callable[[Masker, str, Sequence[Any]], list[Any]]
"""The values with no personal value cut in two."""
_SAID: Final = ("operation", "tool_name", "tool_call_id", "tool_arguments", "tool_result")


class Read(NamedTuple):
    """A value that the masker read, and what it made of it."""

    value: Any
    masked: Masked

    @property
    def found(self) -> bool:
        """Whether anything was found in it, replaced or not."""
        masked = self.masked
        return bool(masked.findings or masked.kept or masked.quarantine)


class Finished(NamedTuple):
    """A masked draft."""

    span: Span
    content: SpanContent | None
    mentions: tuple[str, ...] = ()
    """Who is mentioned in the content."""
    special: tuple[str, ...] = ()
    """The types in it that its policy quarantines; none where no content is kept."""
    read: tuple[Read, ...] = ()
    """Where the content was found."""
    marks: tuple[Mark, ...] = ()
    """Where surrogates stand in it."""
    found: tuple[Read, ...] = ()
    """Those of ``read`` in which anything was found, replaced or not."""


class _Said(NamedTuple):
    """A masked message."""

    message: Message
    read: Read
    marks: tuple[Mark, ...]


Finishes = Callable[[Hides], Finished]
"""Given whose it is: the masked draft."""


def draft_of(span: Span, content: SpanContent, *, keep: bool) -> Draft:
    """What may be kept of a span: it and its content, or its structure."""
    bare = carriers.without_server_keys(span)
    if keep:
        return carriers.without_content(bare), content
    return carriers.with_scores(carriers.without_words(bare), content.evaluations), None


def masked_drafts(
    masker: Masker, tenant_id: str, drafts: Sequence[Draft], counted: Found, *, joined: Joined = whole_values
) -> Iterator[Finishes]:
    """The drafts, masked, in order; what was found in them is added to ``counted``.

    ``joined`` puts together what came in pieces.

    Raises:
        MaskingError: when a detector fails; nothing is returned then.

    """
    messages = _distinct(content for _, content in drafts if content is not None)
    sent = [*map(_carried, drafts), *(message.plain() for message in messages)]
    with failing_closed("reading pieces as one"):
        whole = joined(masker, tenant_id, sent)
    carried, plain = whole[: len(drafts)], whole[len(drafts) :]
    found = masker.mask(tenant_id, whole)
    masked, masked_words = found[: len(drafts)], found[len(drafts) :]
    for message, one in zip(messages, masked_words, strict=True):
        if one.findings:
            counted.update(in_message(message.role, one.findings))
    for one in masked:
        if one.findings:
            counted.update(in_span(one.findings))
    said = _Messages({id(each[0]): each for each in zip(messages, plain, masked_words, strict=True)})
    return iter([_Finish(*each, said) for each in zip(drafts, carried, masked, strict=True)])


def _distinct(contents: Iterable[SpanContent]) -> list[Message]:
    """The messages of all sides, each object once; of a history that grows only the new ones are looked at."""
    found: dict[int, Message] = {}

    def note(messages: Sequence[Message]) -> Sequence[None]:
        found.update(zip(map(id, messages), messages, strict=True))
        return [None] * len(messages)

    grown = Grown(note)
    for content in contents:
        grown(content.input)
        grown(content.output)
    return list(found.values())


def _carried(draft: Draft) -> dict[str, Any]:
    """Everything of a span that masking must see, but its messages."""
    span, content = draft
    if content is None:
        return {"span": carriers.strings_of(span)}
    said = {name: value for name in _SAID if (value := getattr(content, name)) is not None}
    if content.evaluations:
        said["evaluations"] = [one.plain() for one in content.evaluations]
    return {"span": carriers.strings_of(span), "content": said}


class _Side(NamedTuple):
    """Some messages, masked, and what was found in all of them."""

    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    """The same messages, where nothing was replaced in any."""
    read: tuple[Read, ...] = ()
    found: tuple[Read, ...] = ()
    """Those in which anything was found."""
    marks: frozenset[Mark] = frozenset()

    def with_(self, whole: tuple[Message, ...], more: Sequence[_Said]) -> _Side:
        """These and more: ``whole`` is all of them before masking."""
        new = tuple([one.message for one in more])
        same = self.after is self.before and all(map(operator.is_, new, whole[len(self.before) :]))
        read = tuple([one.read for one in more])
        found = self.found + tuple([one for one in read if one.found])
        marks = self.marks.union(*[one.marks for one in more])
        return _Side(whole, whole if same else self.after + new, self.read + read, found, marks)


_NO_SIDE: Final = _Side()


class _Messages:
    """The distinct messages of a batch, masked, and once more for each person whose own id stands in one."""

    def __init__(self, found: dict[int, tuple[Message, dict[str, Any], Masked]]) -> None:
        self._found = found
        self._last: dict[Hides, _Side] = {}
        self._made: dict[tuple[int, Hides], _Said] = {}

    def of(self, messages: tuple[Message, ...], own_id: Hides) -> _Side:
        """The masked messages with what was found in them. Of a history that grew only the new ones are looked at."""
        last = self._last.get(own_id, _NO_SIDE)
        known = last if begins(messages, last.before) else _NO_SIDE
        made = known.with_(messages, [self._one(one, own_id) for one in messages[len(known.before) :]])
        if len(messages) >= SHORTEST:
            self._last[own_id] = made
        return made

    def _one(self, message: Message, own_id: Hides) -> _Said:
        key = id(message), own_id
        known = self._made.get(key)
        if known is None:
            original, before, masked = self._found[key[0]]
            hidden = masked if _stays(original, before, masked, own_id) else own_id.hidden(masked)
            made = original if hidden.value is before else Message.parse(hidden.value, "masked message")
            known = self._made[key] = _Said(made, Read(before, masked), marks_of(hidden))
        return known


class _Finish:
    """One draft and what masking made of it."""

    __slots__ = ("_carried", "_draft", "_masked", "_said")

    def __init__(self, draft: Draft, carried: dict[str, Any], masked: Masked, said: _Messages) -> None:
        self._draft = draft
        self._carried = carried
        self._masked = masked
        self._said = said

    def __call__(self, own_id: Hides) -> Finished:
        with failing_closed("putting masked values back"):
            return self._finished(own_id)

    def _finished(self, own_id: Hides) -> Finished:
        span, content = self._draft
        masked = self._masked
        hidden = own_id.hidden(masked)
        value, marks = hidden.value, marks_of(hidden)
        same = value is self._carried
        made = span if same else carriers.with_strings(span, value["span"])
        if content is None:
            return Finished(made, None, marks=marks)
        changes: dict[str, Any] = {} if same else _said_again(value["content"])
        given, back = self._said.of(content.input, own_id), self._said.of(content.output, own_id)
        if given.after is not content.input:
            changes["input"] = given.after
        if back.after is not content.output:
            changes["output"] = back.after
        kept = content.but(**changes) if changes else content
        carried = Read(self._carried, masked)
        read = (carried, *given.read, *back.read)
        if given.marks or back.marks:
            marks = ordered({*marks, *given.marks, *back.marks})
        found = (carried, *given.found, *back.found) if carried.found else (*given.found, *back.found)
        if not found:
            return Finished(made, kept, read=read, marks=marks)
        mentions = {finding.mention for one in found for finding in one.masked.findings}
        special = {kind for one in found for kind in one.masked.quarantine}
        return Finished(made, kept, tuple(sorted(mentions)), tuple(sorted(special)), read, marks, found)


def _stays(message: Message, before: dict[str, Any], masked: Masked, own_id: Hides) -> bool:
    """Whether it is certain that nothing of a message is replaced; of texts alone, as most are, one look tells."""
    texts = message.texts if masked.value is before else None
    return texts is not None and not own_id.may_stand_in(texts)


def _said_again(value: dict[str, Any]) -> dict[str, Any]:
    changes = dict(value)
    if "evaluations" in changes:
        changes["evaluations"] = tuple(Evaluation.parse(one, "masked evaluation") for one in changes["evaluations"])
    return changes
