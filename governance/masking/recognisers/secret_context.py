"""Secrets that the words before them give away: a name with a value, a header, a cookie, a URL, a command line.

Theory. A name says how much its value must show. After a password's name nearly anything counts, after the name of a
key or token only what looks drawn at random, after a mere vendor's name only a long random value. A name whose last
word says that its value is something else (``api_key_id``, ``token_url``, ``password_length``) or whose first words do
(``public_key``, ``next_page_token``, ``max_tokens``) counts for nothing.
Each name is found by one pass over the text and its value read from there with bounded patterns, so that the cost grows
with the text, whatever is in it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from governance.masking.profile import UNSPACED
from governance.masking.recognisers import secret_values as looks
from governance.masking.words import listed

Span = tuple[int, int]


class Strength(IntEnum):
    """How much a name says."""

    VENDOR = 0
    TOKEN = 1
    KEY = 2
    PASSWORD = 3


_LOGIN_WORDS: Final = (
    r"passw(?:or)?d|passphrase|passwort|contrase[nñ]a|mot de passe|pwd|_pass(?![a-z])|비밀번호|패스워드|암호"
)
_KEY: Final = (
    r"(?:api|access|secret|private|encryption|signing|subscription|account|shared|service|license|master|auth|app|"
    r"application|storage|deploy|admin|consumer|client|session|hmac|aes|crypto|db|database|webhook|integration|write|"
    r"read|server|refresh|rapidapi|functions?|openai|instrumentation|ingest|insert|host)[-_. ]?key|sharedaccesskey|"
    r"secret|authorization|bearer|credentials?|creds|(?:api|auth|access|refresh|id|security)[-_. ]?token|"
    r"connection[-_ ]?string"
)
_SESSION_WORDS: Final = r"token|sess(?:ion)?[-_. ]?id|session|sess|sid|signature|sig"
_VENDORS: Final = listed(
    """
    adafruit adobe airtable algolia alibaba artifactory asana atlassian beamer bintray bitbucket bittrex codecov cohere
    coinbase confluence confluent contentful contribsys datadog discord droneci dropbox etsy facebook fastly finicity
    finnhub flickr freshbooks gitter gocardless heroku hubspot intercom jfrog jira kraken kucoin launchdarkly linkedin
    linked_in lob mailchimp mailgun mapbox mattermost messagebird message_bird netlify newrelic new_relic new-relic
    nytimes okta plaid privateai private_ai rapidapi sendbird sentry snyk sonar sourcegraph squarespace sumo sumologic
    telegram travis twitch twitter typeform yandex zendesk
    """
)
"""Providers whose keys have no prefix of their own (from the names of gitleaks' rules)."""
_NAME: Final = re.compile(f"(?P<password>{_LOGIN_WORDS})|(?P<key>{_KEY})|(?P<token>{_SESSION_WORDS})")
_VENDOR: Final = re.compile(f"(?P<vendor>{'|'.join(_VENDORS)})(?![a-z])")
_WHOLE: Final = frozenset({"pwd", "creds", "sess", "session", "sid", "sig", "signature", *_VENDORS})
"""Names that are words of their own or none: ``sid`` is not in ``inside``."""
_NOT_NAME: Final = re.compile(r"[^\w.\-]")
_AFTER: Final = re.compile(r"[\w.\-]{0,40}")
_FOLD: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
"""Lower case for ASCII alone: a text keeps its length, so that spans stay where they are."""
NAMES: Final = (
    "pass", "contrase", "pwd", "비밀번호", "패스워드", "암호", "key", "secret", "authorization", "bearer", "cred",
    "token", "connection", "sess", "sid", "sig",
)  # fmt: skip
"""Letters without which no name but a vendor's is in a text."""
SHORT_VALUES: Final = (
    "passw", "passphrase", "contrase", "mot de passe", "pwd", "_pass", "비밀번호", "패스워드", "암호", "bearer",
    "basic", "digest", "negotiate", "apikey", "api-key", "api-token", "token", "oauth", "splunk", "sharedaccess",
    "geniekey", "ssws", "key",
)  # fmt: skip
"""Letters without which no value of fewer than twelve letters is a secret: names of passwords, and schemes."""
_SETS: Final = re.compile(
    r"(?:"
    r"\\?[\"'`]?\s{0,3}[\])]?\s{0,20}(?:::?=|===?|!=|=>|->|\|\||[:=])\s{0,20}"  # name = value, "name": value
    r"|\\?[\"'`]\s{0,3},\s{0,20}(?=\\?[\"'`])"  # f("name", "value")
    r"|\\?[\"'`]?\s{0,40},?\s{0,40}\\?[\"']?value\\?[\"']?\s{0,5}[:=]\s{0,5}"  # name="name" value="value"
    r"|</[\w-]{1,20}>\s{0,9}<[\w-]{1,20}>|>\s{0,5}"  # <name>value</name>, <k>name</k><v>value</v>
    r"|\s{1,3}(?:is|was)\s{1,3}"  # the name is value
    r"|[은는이가]?\s{1,3}"  # the name, then the value
    r")"
)
_SCHEME: Final = re.compile(
    r"(?:Bearer|Basic|Digest|Negotiate|ApiKey|Api-Key|Api-Token|Token|OAuth|Splunk|SharedAccessSignature|GenieKey|"
    r"SSWS|Key)[ \t]{1,5}",
    re.IGNORECASE,
)
_QUOTE: Final = re.compile(r"@?(\\?[\"'`])")
_BARE: Final = re.compile(r"[^\s\"'`,;<>(){}\[\]\\|&=]{1,4096}+(?:={1,3}+(?![^\s\"'`,;<>(){}\[\]\\|&]))?")
_BARE_PASSWORD: Final = re.compile(r"[^\s\"'`,;<>(){}\[\]\\|&]{1,128}+")
_IN_QUOTES: Final = re.compile(r"[^\"'`\n\\]{1,4096}")
_TAIL: Final = ".,:!?"
_LATIN: Final = re.compile(f"[!-~]+(?=[{UNSPACED}])")
_DIGITS: Final = re.compile(r"\d{4,8}")
"""What 비밀번호 says of so few digits is a PIN (``codes``)."""
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-. ]+")
_OTHER_VALUE: Final = frozenset(
    listed(
        """
        algorithm alg alias attempts audience base board code class count counter created curve date description
        duration endpoint ends error expiration expired expires expiry expire exp field file filename fingerprint flag
        format frame generator hash header help hint host id identifier ids in index info input issuer issued kind
        label length lifetime limit link location max message min mode name names number owner padding page path pattern
        plural policy port position prefix price provider quality reader ref reference regex request required reset
        response ring role rotation rule rules scope selector service signature size source spec start state status
        storetype store strength style suffix template text time timeout title ttl type types uri url usage used uses
        user username valid validation validator variable version vault week word words year s es
        """
    )
)
"""Last words of a name whose value is no secret."""
_OTHER_NAME: Final = frozenset(
    listed(
        """
        public pub primary foreign sort partition natural sequence next previous prev page continuation sync cursor
        cache max min total prompt completion input output num count avg cached reasoning stop eos bos pad unk special
        cancellation cancel idempotency csrf xsrf issuer hot idx bucket schema
        """
    )
)
"""Words before a name that make it another one."""
_NAME_AND_VALUE: Final = re.compile(r"[\w.-]{2,}+=.")
_GOES_ON: Final = ("(", "[", "=", "...", "\u2026")
"""What comes behind a value that is none: a call, another name with its value, a value cut short to show its place."""
_SIGN: Final = re.compile(r"[=:>|,]")


def spans(text: str) -> Iterator[Span]:
    """Where a value stands that its surroundings call a secret."""
    folded = text.translate(_FOLD)
    done = 0
    for name in _names(folded):
        if name.start() < done:
            continue  # inside a value that was already read
        found = _value(text, name)
        if found is not None:
            done = found[1]
            yield found


def _names(folded: str) -> list[re.Match[str]]:
    found = list(_NAME.finditer(folded)) if any(letters in folded for letters in NAMES) else []
    if looks.LONG.search(folded):
        found += _VENDOR.finditer(folded)
    return sorted(found, key=re.Match.start)


def _value(text: str, name: re.Match[str]) -> Span | None:
    strength = Strength[(name.lastgroup or "token").upper()]
    before = _before(text, name.start())
    after = _AFTER.match(text, name.end())
    suffix = after.group() if after else ""
    if name.group() in _WHOLE and before[-1:].isalpha() and not text[name.start()].isupper():
        return None
    stated = _SETS.match(text, name.end() + len(suffix))
    if stated is None or _names_another(before, name.group(), suffix):
        return None
    found = _read(text, stated, strength)
    return None if found and name.group() == "비밀번호" and _DIGITS.fullmatch(text, *found) else found


def _before(text: str, place: int) -> str:
    """The part of the name before ``place``."""
    back = text[max(place - 60, 0) : place][::-1]
    cut = _NOT_NAME.search(back)
    return (back[: cut.start()] if cut else back)[::-1]


def _names_another(before: str, name: str, suffix: str) -> bool:
    last = [part.lower() for part in _HUMP.split(suffix) if part]
    if last and (last[-1] in _OTHER_VALUE or last[0] in {"s", "ized", "ization", "izer"}):
        return True
    if name in _WHOLE and suffix[:1].islower():
        return True
    first = [part.lower() for part in _HUMP.split(before) if part]
    return bool(first) and first[-1] in _OTHER_NAME and name != "secret"


def _read(text: str, stated: re.Match[str], strength: Strength) -> Span | None:
    """The value behind a name, when it passes for a secret under a name of that strength."""
    start = stated.end()
    quote = _QUOTE.match(text, start)
    if quote:
        start = quote.end()
    scheme = _SCHEME.match(text, start)
    if scheme:
        start = scheme.end()
        strength = max(strength, Strength.KEY)
    shape = _IN_QUOTES if quote else _BARE_PASSWORD if strength is Strength.PASSWORD else _BARE
    found = shape.match(text, start)
    if found is None:
        return None
    end = found.end() if quote else start + _written(found.group())
    how = _How(strength, quoted=quote is not None, signed=_SIGN.search(stated.group()) is not None, scheme=bool(scheme))
    if not _may_pass(text[start:end], how) or text.startswith(_GOES_ON, found.end() if quote else end):
        return None
    return (start, end) if _passes(text[start:end], how) else None


def _written(bare: str) -> int:
    """How much of a bare value is one: without the end of a sentence and a particle that is written onto it."""
    latin = _LATIN.match(bare)
    return len((latin.group() if latin else bare).rstrip(_TAIL))


@dataclass(frozen=True)
class _How:
    """How a value was named."""

    strength: Strength
    quoted: bool
    signed: bool
    """Whether a sign sets the value, not the mere order of words."""
    scheme: bool
    """Whether an authentication scheme stands before it."""


def _may_pass(value: str, how: _How) -> bool:
    """What a value must have whatever its letters are: most of what follows a name is refused here, at no cost."""
    if how.strength is Strength.PASSWORD:
        return len(value) >= 4 and (how.quoted or not (value.isalpha() or _NAME_AND_VALUE.match(value)))
    least = 8 if how.scheme else 12 if how.strength is Strength.KEY else 15
    if len(value) < least or " " in value or not (value.isascii() and value.isprintable()):
        return False
    return len(value) >= 20 or how.scheme or any(map(str.isdigit, value))


def _passes(value: str, how: _How) -> bool:
    if looks.published(value) or looks.stand_in(value):
        return False
    if how.strength is Strength.PASSWORD:
        return _password(value, how)
    if looks.UUID.fullmatch(value):
        return how.strength is Strength.KEY and how.signed
    if how.scheme and _is_pair(value):
        return True
    if looks.ordinary(value):
        return False
    if not how.signed and not how.scheme:
        return looks.random(value, least=18, bits=3.0) and sum(map(str.isdigit, value)) >= 3
    return looks.random(value, least=8, bits=2.5)


def _is_pair(value: str) -> bool:
    """Whether the value is ``user:password`` in base64, as the scheme Basic writes it (RFC 7617)."""
    try:
        return b":" in base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False


def _password(value: str, how: _How) -> bool:
    digits, letters = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    if len(value) > 128 or "://" in value or value.startswith(("/", "./")):
        return False
    if " " in value:
        return how.quoted and digits and len(value.split()) <= 6
    if not how.signed:
        return digits and letters and len(value) >= 6
    marks = any(not char.isalnum() and char not in "._-" for char in value)
    if digits and (letters or marks):
        return not looks.ordinary(value) or "." not in value
    return digits or (letters and (marks or (how.quoted and len(value) >= 6)))
