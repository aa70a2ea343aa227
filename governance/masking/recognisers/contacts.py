"""How people are reached: mail addresses and user ids.

Theory. A mail address ends in a domain of the public suffix list, or in a name that is set apart for private use; any
other host counts with a word for mail beside it, since package pins and units of an operating system are written so
too (``systemd@user-1000.service``). A number is no domain (``react@18.2.0``), and what a program logs in with is no
mailbox (``git@host:path``, ``ssh://git@host``). Korean, Chinese and Japanese write particles onto an address: it ends
behind the longest domain of the list, and begins behind such letters where it goes on in Latin ones. An address all in
letters of such a script is one too (RFC 6531).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from presidio_analyzer import Pattern, PatternRecognizer

from governance.masking import words
from governance.masking.profile import UNSPACED, TextProfile, lower
from governance.masking.recognisers.evidence import Words
from governance.masking.recognisers.kit import Listed, pattern

_FRONT: Final = re.compile(r".*(?:[?&;][\w.\-]+=|/)(?=.)", re.DOTALL)
"""What stands before a mail address in a web address."""
_PRIVATE: Final = frozenset(
    words.listed("example test invalid localhost local localdomain internal intranet private lan corp home")
)
"""Names of the highest level that no register gives out (RFC 2606, RFC 6762, ICANN) or that companies use as such."""
_MAIL_WORDS: Final = Words.parted(
    "mail;e-mail;email;emails;mailbox;mailto;inbox;contact;메일;이메일;전자우편;メール;电邮;邮箱;邮件"
)
_LOGIN: Final = re.compile(r"(?:ssh|git|sftp|scp|rsync|svn|hg|https?)(?:\+ssh)?://$", re.IGNORECASE)
_REMOTE_PATH: Final = re.compile(r":(?:[~/][\w.~\-]|[\w.\-]+(?:/[\w.\-]+)*\.git(?!\w)|[\w.\-]+/[\w./\-])")
_PROGRAMS: Final = frozenset(words.listed("git hg svn root ubuntu ec2-user centos admin deploy pi vagrant"))
_STUCK_BEFORE: Final = re.compile(f".*[{UNSPACED}][^0-9A-Za-z]*(?=[0-9A-Za-z])", re.DOTALL)
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_NUMBERED: Final = re.compile(r"v?\d+(?:\.\d+)+(?:[.\-]|$)", re.IGNORECASE)


class MailboxRecognizer(PatternRecognizer):  # type: ignore[misc] # Presidio's types are not followed
    """Mail addresses, without the web address whose parameter or path they end and what is written onto them."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None, regex_flags: int | None = None) -> Any:
        """The addresses as results."""
        lowered = lower(text)
        return [
            result
            for result in super().analyze(text, entities, nlp_artifacts, regex_flags)
            if _is_cut_to_address(text, lowered, result)
        ]


def _is_cut_to_address(text: str, lowered: str, result: Any) -> bool:
    """Cut what was found to the address in it; False where none is."""
    at = text.index("@", result.start)
    for front in (_FRONT, _STUCK_BEFORE):
        before = front.match(text[result.start : at])
        result.start += before.end() if before else 0
    end = next(_ends(lowered, at + 1, result.end), 0)
    if not end:
        end = _last_latin(text, at + 1, result.end)
        if not _MAIL_WORDS.beside(lowered, result.start, end):
            return False
    result.end = end
    host = text[at + 1 : end]
    return _is_domain(host) and not _is_login(text, result.start, at, end)


def _ends(lowered: str, start: int, end: int) -> Iterator[int]:
    """Where a host ends in a known domain, the longest first."""
    place = end
    while place > start:
        label = max(lowered.rfind(".", start, place), start - 1) + 1
        if label == start:
            return
        for cut in range(place, label, -1):
            if (cut == place or _UNSPACED.match(lowered, cut)) and lowered[label:cut] in _domains():
                yield cut
        place = label - 1


def _last_latin(text: str, start: int, end: int) -> int:
    """The end of a host that no list knows: before the letters of another script that are written onto it."""
    label = text.rfind(".", start, end) + 1
    stuck = _UNSPACED.search(text, label, end)
    return stuck.start() if stuck and stuck.start() > label else end


def _is_domain(host: str) -> bool:
    return not host.rsplit(".", 1)[-1].isdecimal() and _NUMBERED.match(host) is None


def _is_login(text: str, start: int, at: int, end: int) -> bool:
    """Whether a program logs in so, on a host behind the name."""
    if text[start:at].lower() in _PROGRAMS and _LOGIN.search(text[max(0, start - 12) : start]):
        return True
    return _REMOTE_PATH.match(text, end) is not None


@lru_cache(maxsize=1)
def _domains() -> frozenset[str]:
    """The names of the highest level: those of the public suffix list, and those for private use."""
    from tldextract import TLDExtract

    listed = TLDExtract(suffix_list_urls=(), cache_dir=None).tlds
    ends = {suffix.rsplit(".", 1)[-1].lower() for suffix in listed}
    return frozenset(ends | {end.encode("idna").decode() for end in ends if not end.isascii()} | _PRIVATE)


def _email() -> Any:
    """What is written as a mail address.

    The search begins where a local part does and nowhere inside one, so that a long run of letters takes linear time.
    """
    char = r"[\w!#$%&'*+\-/=?^`{|}~]"
    local = rf"(?<!{char})(?<!{char}\.){char}+(?:\.{char}+)*"
    shape = Pattern("mail address", rf"{local}@\w+(?:-+\w+)*(?:\.\w+(?:-+\w+)*)+", 0.9)
    return MailboxRecognizer("EMAIL_ADDRESS", patterns=[shape], name="EMAIL_ADDRESS_pattern")


def _user_id() -> Any:
    given = "|".join(sorted(words.GIVEN, key=lambda word: (-len(word), word)))
    shapes = [
        (rf"\b(?:{given})_[a-z]+_\d{{4,6}}\b", 0.6),
        (r"\b[a-z]+_[a-z]+_\d{4,5}\b", 0.1),
        (
            r"(?:(?<=user id is )|(?<=user id: ))(?-i:[\w.\-]*[a-z][\w\-]*\d)|(?<=username is )[\w.\-]*\w",
            0.6,
        ),
    ]
    return pattern("USER_ID", shapes, ["user", "username", "userid", "user_id", "login", "account", "profile"])


def _has_at(profile: TextProfile) -> bool:
    return "@" in profile.text


def _may_user_id(profile: TextProfile) -> bool:
    return profile.digits >= 4 or "user" in profile.folded


def build() -> list[Listed]:
    """All of them."""
    return [
        Listed(_email(), _has_at),
        Listed(_user_id(), _may_user_id),
    ]
