"""What a tenant's policy does with the findings of one text.

Theory. Detection says what may be there; a judgement says what happens to it, in this order:

1. An allow-listed value stays. A finding under its type's threshold stays, and is told as ``unsure``. Of the others the
   policy's action for the type decides: masked, kept, or masked and quarantined.
2. A deny-listed value is masked wherever it stands, detected or not, unless it lies inside something that is masked
   anyway. What it shares with another masked finding becomes one finding over both.

Lists hold keyed identifiers only, so a listed value is found by hashing what the text offers: windows of as many words
as the longest listed value of the type has. A word is a run of letters and digits. Korean, Chinese and Japanese write
particles onto a word, so the last word of a window may end at any of its characters there. Of a type whose normal form
drops separators (phone and card numbers) a window has up to ``SPLIT`` words, however the listed value was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from governance.errors import RecordError
from governance.masking.spans import THRESHOLD, Hit, resolve
from governance.masking.surrogate import normalise
from governance.records.masking_policy import Action, ListedValue, MaskingPolicy, Outcome

SPLIT: Final = 8
NEAR: Final = 0.1
"""How far a score may lie from the threshold, on either side, for a person to be asked."""
_WORD: Final = re.compile(r"[^\W_]+")
_AGGLUTINATED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_OUTCOMES: Final = {
    Action.MASK: Outcome.MASKED,
    Action.KEEP: Outcome.KEPT,
    Action.QUARANTINE: Outcome.QUARANTINED,
}
_ARGUABLE: Final = frozenset({Outcome.MASKED, Outcome.UNSURE})
_LEFT: Final = frozenset({Outcome.KEPT, Outcome.ALLOWED, Outcome.UNSURE, Outcome.MARKED})
Mention = Callable[[str, str], str]
"""Entity type and value to the keyed identifier."""


class Judged(NamedTuple):
    """A finding and what becomes of it."""

    hit: Hit
    outcome: Outcome
    near: bool = False
    """Whether its score lies near the threshold."""

    @property
    def left(self) -> bool:
        """Whether the value stays."""
        return self.outcome in _LEFT


def listed(mention: Mention, entity_type: str, value: str) -> tuple[str, int]:
    """Under which keyed identifier a value stands on a list, and how many words it has.

    Raises:
        RecordError: for a value without a letter or a digit, which nothing could find.

    """
    trimmed = _trimmed(value)
    if not trimmed:
        raise RecordError("a listed value needs at least one letter or digit")
    return mention(entity_type, trimmed), word_count(trimmed)


def require_unsaid(entity_type: str, value: str, owner: str, reason: str) -> None:
    """See that what is told of an entry does not tell its value.

    Raises:
        RecordError: when the owner or the reason repeats it.

    """
    for name, told in (("owner", owner), ("reason", reason)):
        if _repeats(entity_type, value, told):
            raise RecordError(f"the {name} repeats the value, and would keep it in clear")


def _repeats(entity_type: str, value: str, told: str) -> bool:
    """Whether a text tells a value: a name in whole words and any order, anything else however it is spaced."""
    said, held = normalise(entity_type, value), normalise(entity_type, told)
    if entity_type == "PERSON":
        return set(said.split()) <= set(held.split())
    bare = _squeezed(value)
    return said in held or (bare != "" and bare in _squeezed(told))


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())


def word_count(value: str) -> int:
    """How many words a value has; one at least."""
    return max(1, sum(1 for _ in _WORD.finditer(value)))


class Judge:
    """One tenant's policy, applied."""

    def __init__(self, policy: MaskingPolicy, mention: Mention) -> None:
        """``mention`` is the tenant's."""
        self.mention = mention
        self._policy = policy
        self._allow = frozenset(entry.mention for entry in policy.allow)
        self._deny = {
            kind: _Denied(kind, [entry for entry in policy.deny if entry.entity_type == kind])
            for kind in sorted({entry.entity_type for entry in policy.deny})
        }

    def judge(self, text: str, hits: Sequence[Hit]) -> list[Judged]:
        """What becomes of each finding and of each deny-listed value, in order and without overlap."""
        judged = [self._judged(text, hit) for hit in hits]
        denied = [hit for one in self._deny.values() for hit in one.find(text, self.mention)]
        return judged if not denied else _with(judged, denied)

    def keeps(self, entity_type: str, value: str) -> bool:
        """Whether a declared value of that type stays as it is."""
        return all(one.left for one in self.judge(value, [Hit(0, len(value), entity_type, 1.0)]))

    def _judged(self, text: str, hit: Hit) -> Judged:
        outcome = self._outcome(text, hit)
        distance = hit.score - max(self._policy.threshold(hit.entity_type), THRESHOLD)
        return Judged(hit, outcome, near=outcome in _ARGUABLE and abs(distance) < NEAR)

    def _outcome(self, text: str, hit: Hit) -> Outcome:
        if self._allow and self._allowed(hit.entity_type, text[hit.start : hit.end]):
            return Outcome.ALLOWED
        if hit.score < self._policy.threshold(hit.entity_type):
            return Outcome.UNSURE
        return _OUTCOMES[self._policy.action(hit.entity_type)]

    def _allowed(self, entity_type: str, value: str) -> bool:
        trimmed = _trimmed(value)
        return self.mention(entity_type, value) in self._allow or (
            trimmed not in {"", value} and self.mention(entity_type, trimmed) in self._allow
        )


class _Denied:
    """The deny-listed values of one type."""

    def __init__(self, entity_type: str, entries: Iterable[ListedValue]) -> None:
        self._entity_type = entity_type
        self.mentions = frozenset(entry.mention for entry in entries)
        longest = max(entry.words for entry in entries)
        self._splits = normalise(entity_type, "1 2") == normalise(entity_type, "12")
        self._longest = max(longest, SPLIT) if self._splits else longest

    def find(self, text: str, mention: Mention) -> Iterator[Hit]:
        """Each place where one stands; the longest from the left."""
        words = list(_WORD.finditer(text))
        place = 0
        while place < len(words):
            last, end = self._longest_from(text, words, place, mention)
            if end:
                last, end = self._tight(text, words, (place, last), end, mention)
                yield Hit(words[place].start(), end, self._entity_type, 1.0)
            place = last + 1

    def _longest_from(self, text: str, words: Sequence[re.Match[str]], place: int, mention: Mention) -> tuple[int, int]:
        """The last word and the end of the longest listed value that begins with a word; the word and 0 for none.

        A window that is a listed value without its first word too begins later.
        """
        for last in range(min(place + self._longest, len(words)) - 1, place - 1, -1):
            later = words[place + 1].start() if last > place and self._ignorable(words[place]) else None
            for end in _ends(words[last]):
                if self._is_listed(text, words[place].start(), end, mention) and (
                    later is None or not self._is_listed(text, later, end, mention)
                ):
                    return last, end
        return place, 0

    def _tight(
        self, text: str, words: Sequence[re.Match[str]], window: tuple[int, int], end: int, mention: Mention
    ) -> tuple[int, int]:
        """The last word and the end without the words behind that the normal form ignores."""
        place, last = window
        while last > place and self._ignorable(words[last]):
            before = words[last - 1].end()
            if not self._is_listed(text, words[place].start(), before, mention):
                break
            last, end = last - 1, before
        return last, end

    def _ignorable(self, word: re.Match[str]) -> bool:
        """Whether the normal form may ignore a word that is no part of the value; digits may be part of a number."""
        return not (self._splits and any(char.isdigit() for char in word.group()))

    def _is_listed(self, text: str, begin: int, end: int, mention: Mention) -> bool:
        return mention(self._entity_type, text[begin:end]) in self.mentions


def _ends(word: re.Match[str]) -> Iterable[int]:
    """Where a value may end in its last word."""
    if _AGGLUTINATED.search(word.group()):
        return range(word.end(), word.start(), -1)
    return (word.end(),)


def _trimmed(value: str) -> str:
    """The value from its first word to its last."""
    words = list(_WORD.finditer(value))
    return value[words[0].start() : words[-1].end()] if words else ""


def _with(judged: Sequence[Judged], denied: Sequence[Hit]) -> list[Judged]:
    """The judgement with deny-listed values masked; what is left gives way to what is masked."""
    masked = [one for one in judged if not one.left]
    fresh = [hit for hit in denied if not any(one.hit.start <= hit.start and hit.end <= one.hit.end for one in masked)]
    made = [Judged(hit, _strictest(hit, masked)) for hit in resolve([*(one.hit for one in masked), *fresh])]
    left = [one for one in judged if one.left and not any(one.hit.overlaps(other.hit) for other in made)]
    return sorted([*made, *left], key=lambda one: one.hit.start)


def _strictest(hit: Hit, masked: Sequence[Judged]) -> Outcome:
    """What becomes of a resolved finding: quarantined when any part of it is."""
    parts = {one.outcome for one in masked if one.hit.overlaps(hit)}
    if Outcome.QUARANTINED in parts:
        return Outcome.QUARANTINED
    return Outcome.MASKED if parts else Outcome.DENIED
