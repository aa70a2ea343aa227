"""Secrets in what carries them: URLs with credentials, cookies, command lines, key files, manifests.

Each carrier has a syntax of its own that says where the secret begins and ends (RFC 3986, 6265 and 7468; curl's manual;
PuTTY's key files; Kubernetes' ``Secret``). Each is read in one pass with bounded patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from governance.masking.recognisers.secret_values import dull, stand_in

Span = tuple[int, int]
_USERINFO: Final = re.compile(r"://([^\s/?#@:\"'<>`\[\]]{0,256}+):([^\s/?#@\"'<>`]{1,512}+)@(?=[\w\[.-])")
_COOKIE: Final = re.compile(
    r"(?<![\w])(set-)?cookie2?\\?[\"']?\s{0,3}:\s{0,3}\\?[\"']?(?=[\w.%-]{1,128}=)", re.IGNORECASE
)
_PAIRS: Final = re.compile(r"[\w.%-]{1,128}=[^\s;\"'\\]{1,4096}+(?:;\s?[\w.%-]{1,128}=[^\s;\"'\\]{0,4096}+)*")
_FIRST_PAIR: Final = re.compile(r"[\w.%-]{1,128}=([^\s;\"'\\]{1,4096}+)")
_USER_OPTION: Final = re.compile(r"(?:(?<=\s)|^)(?:-u|--user|--proxy-user)(?:=|[ \t]{0,5})(?=\S)")
_QUOTED_PAIR: Final = re.compile(r"([\"'])([^\"'\n]{0,256}:[^\"'\n]{1,256})\1(?!:)")
_BARE_PAIR: Final = re.compile(
    r"((?:\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[\w$@.{}-]{1,256}+):(?:\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'|[^\s\"']{1,256}+))"
)
_CURL: Final = 1_000
"""How far before an option its command may stand."""
_BEGIN: Final = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY: Final = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[nr]|[A-Z][\w-]{2,20}: [^\n\\]{1,200})*+")
_BASE64_LINE: Final = re.compile(r"[A-Za-z0-9+/=]{1,128}")
_PUTTY: Final = re.compile(r"Private-Lines: ?\d{1,3}\s{1,2}((?:[A-Za-z0-9+/=]{1,128}\s{0,2})+)")
_LEAST_KEY: Final = 24
_MANIFEST: Final = re.compile(r"(?im)^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?secret\b(?!\w)")
_ENTRY: Final = re.compile(
    r"(?m)^[ \t]+[\w.-]{1,128}:[ \t]{0,20}(?:[|>][-+]?\s{1,20})?[\"']?([A-Za-z0-9+/]{8,4096}+={0,3})[\"']?[ \t]*$"
)


def spans(text: str) -> Iterator[Span]:
    """Where a carrier holds a secret."""
    if "://" in text and "@" in text:
        yield from _credentials(text)
    if "ookie" in text.lower():
        yield from _cookies(text)
    if "curl" in text:
        yield from _command_line(text)
    if "PRIVATE KEY" in text:
        yield from _key_files(text)
    if "Private-Lines" in text:
        yield from (match.span(1) for match in _PUTTY.finditer(text))
    if "ecret" in text and "data" in text:
        yield from _manifest(text)


def _credentials(text: str) -> Iterator[Span]:
    for match in _USERINFO.finditer(text):
        if len(match.group(2)) >= 3 and not stand_in(match.group(2)):
            yield match.start(1), match.end(2)


def _cookies(text: str) -> Iterator[Span]:
    for header in _COOKIE.finditer(text):
        answer = header.group(1) is not None
        found = (_FIRST_PAIR if answer else _PAIRS).match(text, header.end())
        if found is None:
            continue
        start, end = found.span(1 if answer else 0)
        if any(map(str.isdigit, text[start:end])) and len(text[start:end]) >= 8 and not stand_in(text[start:end]):
            yield start, end


def _command_line(text: str) -> Iterator[Span]:
    for option in _USER_OPTION.finditer(text):
        if text.rfind("curl", max(option.start() - _CURL, 0), option.start()) < 0:
            continue
        quoted = _QUOTED_PAIR.match(text, option.end())
        found = quoted or _BARE_PAIR.match(text, option.end())
        if found is None:
            continue
        start, end = found.span(2 if quoted else 1)
        user, _, word = text[start:end].replace('"', "").replace("'", "").partition(":")
        if len(word) >= 3 and not stand_in(word) and not word.startswith("$") and "$(" not in user:
            yield start, end


def _key_files(text: str) -> Iterator[Span]:
    """The body of each private key, also of one whose begin or end was cut off."""
    begins = [match.end() for match in _BEGIN.finditer(text)]
    ends = [match.start() for match in _END.finditer(text)]
    taken = 0
    place = 0
    for number, begin in enumerate(begins):
        following = begins[number + 1] if number + 1 < len(begins) else len(text)
        while place < len(ends) and ends[place] < begin:
            yield from _before_end(text, taken, ends[place])
            taken = ends[place]
            place += 1
        closed = place < len(ends) and ends[place] < following
        stop = ends[place] if closed else _body_end(text, begin, following)
        yield from _trimmed(text, begin, stop)
        taken = stop
        place += closed
    for end in ends[place:]:
        yield from _before_end(text, taken, end)
        taken = end


def _body_end(text: str, begin: int, following: int) -> int:
    found = _BODY.match(text, begin, following)
    return found.end() if found else begin


def _before_end(text: str, least: int, end: int) -> Iterator[Span]:
    """The lines of base64 before an end without a begin."""
    start = end
    while start > least:
        line = max(text.rfind("\n", least, start - 1) + 1, least)
        if not _BASE64_LINE.fullmatch(text[line:start].strip()):
            break
        start = line
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    body = text[start:end]
    left = len(body) - len(re.sub(r"^(?:\s|\\[nr])+", "", body))
    right = (
        len(re.sub(r"(?:\s|\\[nr])+$", "", body)) if body[-1:].isspace() or body[-2:] in {"\\n", "\\r"} else len(body)
    )
    if right - left >= _LEAST_KEY and not dull(body[left:right][:2_000]):
        yield start + left, start + right


def _manifest(text: str) -> Iterator[Span]:
    """The values of a Kubernetes secret."""
    start = 0
    for document in re.split(r"(?m)^---[ \t]*$", text):
        data = re.search(r"(?m)^[ \t]*(?:stringData|data):[ \t]*$", document)
        if data and _MANIFEST.search(document):
            for entry in _ENTRY.finditer(document, data.end()):
                if not stand_in(entry.group(1)):
                    yield start + entry.start(1), start + entry.end(1)
        start = text.find(document, start) + len(document)
