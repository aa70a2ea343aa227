"""Where a value holds the pieces of one text: content parts, and the chunks of a stream.

Theory. Pieces of one text stand in one list and are marked as pieces. A run is the pieces of one text in their order.

Content parts: neighbours of a type ``text``. Another part between them, and a role, begins another text.

Chunks: elements with a ``delta`` or a chunk somewhere inside, events of one name that says chunk, delta, stream or
token, and the chunks that look like answers (Gemini's ``candidates``, ``choices`` with a ``text``, Ollama's ``done``,
TGI's ``token``, Cohere's ``text-generation``).
What stands at the same place in them belongs together, and a place in a list is known by its ``index`` where there is
one: each choice, tool call and content block is a text of its own. What says nothing there interrupts nothing: an
empty delta, a ping, a chunk of usage, another event. Only a change of role begins another text. Where no index of an
element comes twice, it counts the chunks and tells no texts apart.

Neighbours that nothing marks are records of their own and are never joined: two order numbers are no phone number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]
_PIECE: Final = re.compile(r"delta|chunk", re.IGNORECASE)
_STREAM: Final = re.compile(r"delta|chunk|stream|token", re.IGNORECASE)
_CHOICE: Final = re.compile(r"choice[._]?index\Z", re.IGNORECASE)
_NAMES: Final = frozenset({"type", "id", "role", "object", "model", "name", "finish_reason"})
"""Fields of a chunk that say what it is."""
_INDEXES: Final = frozenset({"index", "output_index", "content_index", "contentBlockIndex"})
_MANY: Final = frozenset({"choices", "outputs", "generations", "candidates"})
"""Lists of several texts that grow side by side: their elements are no pieces of one."""
_DEEPEST: Final = 10
_CONTAINERS: Final = frozenset({dict, list, tuple})


class Run(NamedTuple):
    """The pieces of one text."""

    paths: list[Path]
    texts: list[str]

    @property
    def joined(self) -> str:
        """The text."""
        return "".join(self.texts)


class _Piece(NamedTuple):
    """A piece of the text ``name``, and where in the element it stands."""

    name: Path
    inside: Path
    text: str


def runs_in(values: Sequence[Any]) -> list[tuple[int, Run]]:
    """The runs of two pieces and more, each with the place of its value; no piece is in two of them."""
    return [(place, run) for place, value in enumerate(values) if _may_hold(value) for run in _distinct(value)]


def _distinct(value: Any) -> Iterator[Run]:
    taken: set[Path] = set()
    for run in _runs(value, ()):  # from the outside in
        if taken.isdisjoint(run.paths):
            taken.update(run.paths)
            yield run


def _may_hold(value: Any) -> bool:
    """Whether objects stand side by side anywhere in the value: without that nothing came in pieces."""
    waiting = [value] if type(value) in _CONTAINERS else []
    while waiting:
        held = waiting.pop()
        listed = type(held) is not dict
        inside = [item for item in (held if listed else held.values()) if type(item) in _CONTAINERS]
        if listed and len(inside) > 1 and sum([type(item) is dict for item in inside]) > 1:
            return True
        waiting += filter(None, inside)
    return False


def _runs(value: Any, path: Path) -> Iterator[Run]:
    if isinstance(value, dict):
        for key, item in value.items():
            if type(item) in _CONTAINERS:
                yield from _runs(item, (*path, key))
    elif isinstance(value, list | tuple):
        if len(value) > 1 and not (path and path[-1] in _MANY):
            yield from _SideBySide(path).of(value)
        for place, item in enumerate(value):
            if type(item) in _CONTAINERS:
                yield from _runs(item, (*path, place))


class _SideBySide:
    """The runs of one list's elements."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: Run = Run([], [])
        self._texts: dict[Path, dict[Path, Run]] = {}
        """Runs by what is said, and by the index of the element."""
        self._role: Any = None

    def of(self, items: Sequence[Any]) -> Iterator[Run]:
        for place, item in enumerate(items):
            if not isinstance(item, dict):
                yield from self._end_parts()
                continue
            if item.get("role"):
                yield from self._begin(item["role"])
            if "text" in item and isinstance(item["text"], str) and "text" in str(item.get("type") or ""):
                self._add(self._parts, place, ("text",), item["text"])
                continue
            if self._parts.texts and (len(item) > 1 or "type" not in item):
                yield from self._end_parts()
            for piece in _pieces(item):
                run = self._texts.setdefault(piece.name, {}).setdefault(_index(item), Run([], []))
                self._add(run, place, piece.inside, piece.text)
        yield from self._end_parts()
        yield from self._end_texts()

    def _add(self, run: Run, place: int, inside: Path, text: str) -> None:
        run.paths.append((*self._path, place, *inside))
        run.texts.append(text)

    def _begin(self, role: Any) -> Iterator[Run]:
        yield from self._end_parts()
        if role != self._role:
            yield from self._end_texts()
        self._role = role

    def _end_parts(self) -> Iterator[Run]:
        ended, self._parts = self._parts, Run([], [])
        if len(ended.texts) > 1:
            yield ended

    def _end_texts(self) -> Iterator[Run]:
        ended, self._texts = self._texts, {}
        for by_index in ended.values():
            runs = list(by_index.values())
            if all(len(run.texts) == 1 for run in runs):  # it counts chunks
                runs = [Run([run.paths[0] for run in runs], [run.texts[0] for run in runs])]
            yield from (run for run in runs if len(run.texts) > 1)


def _pieces(item: dict[str, Any]) -> list[_Piece]:
    """The pieces of texts in an element."""
    name = item.get("event_name")
    if isinstance(name, str) and isinstance(item.get("attributes"), dict):
        return list(_of_event(name, item["attributes"]))
    kind = item.get("type")
    marked = isinstance(kind, str) and _says_piece(kind)
    found = [] if marked else list(_of_answer(item))
    _chunks(item, (), (), found, marked=marked)
    return found


def _of_event(name: str, attributes: dict[str, Any]) -> Iterator[_Piece]:
    marked = _STREAM.search(name) is not None
    choice: Path | None = None
    for key, value in attributes.items():
        if isinstance(value, str) and (marked or _PIECE.search(key)):
            if choice is None:
                choice = tuple(each for at, each in attributes.items() if type(each) is int and _CHOICE.search(at))
            yield _Piece((name, key, *choice), ("attributes", key), value)


def _of_answer(item: dict[str, Any]) -> Iterator[_Piece]:
    """The texts of a chunk that looks like a whole answer."""
    for place, one in _objects(item, "candidates"):
        content = one.get("content")
        for at, part in _objects(content, "parts"):
            name = ("candidates", *(_index(one) or (place,)), str(part.get("thought")))
            yield from _text(name, ("candidates", place, "content", "parts", at), part, "text")
    for place, one in _objects(item, "choices"):
        yield from _text(("choices", *(_index(one) or (place,))), ("choices", place), one, "text")
    token = item.get("token")
    if isinstance(token, dict) and "logprob" in token:
        yield from _text(("token",), ("token",), token, "text")
    if item.get("event_type") == "text-generation":
        yield from _text(("event",), (), item, "text")
    if type(item.get("done")) is bool and "model" in item:
        yield from _text(("done",), (), item, "response")
        message = item.get("message")
        if isinstance(message, dict):
            for key in ("content", "thinking"):
                yield from _text(("done", key), ("message",), message, key)


def _objects(held: Any, key: str) -> list[tuple[int, dict[str, Any]]]:
    listed = held.get(key) if isinstance(held, dict) else None
    if not isinstance(listed, list | tuple):
        return []
    return [(place, one) for place, one in enumerate(listed) if isinstance(one, dict)]


def _text(name: Path, inside: Path, held: dict[str, Any], key: str) -> Iterator[_Piece]:
    if isinstance(held.get(key), str):
        yield _Piece(name, (*inside, key), held[key])


def _chunks(held: dict[str, Any], name: Path, inside: Path, found: list[_Piece], *, marked: bool) -> None:
    """Add the texts below a delta or a chunk."""
    for key, item in held.items():
        kind = type(item)
        if kind is str:
            if key not in _NAMES and (marked or _says_piece(key)):
                found.append(_Piece((*name, key), (*inside, key), item))
        elif kind in _CONTAINERS and item and len(inside) < _DEEPEST:
            below = marked or _says_piece(key)
            if kind is dict:
                _chunks(item, (*name, key, *_index(item)), (*inside, key), found, marked=below)
            elif below or len(item) == 1 or key in _MANY:
                _listed(item, (*name, key), (*inside, key), found, marked=below)


def _listed(held: Sequence[Any], name: Path, inside: Path, found: list[_Piece], *, marked: bool) -> None:
    for place, item in enumerate(held):
        if type(item) is dict:
            _chunks(item, (*name, *(_index(item) or (place,))), (*inside, place), found, marked=marked)
        elif marked and type(item) is str:
            found.append(_Piece((*name, place), (*inside, place), item))


@lru_cache(8192)
def _says_piece(key: str) -> bool:
    return _PIECE.search(key) is not None


def _index(item: dict[str, Any]) -> Path:
    """Which of several texts an object is about."""
    if _INDEXES.isdisjoint(item):
        return ()
    return tuple(item[key] for key in sorted(_INDEXES) if type(item.get(key)) is int)
