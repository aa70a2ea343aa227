"""Tokens that their published format gives away: a prefix that only they have, and a body of known letters and length.

Theory. Formats come from the maintained library (the shapes of its plugins; its look-ups on the network are never
called) and, where it has none, from what providers publish, in one table: prefixes, then the body. A token begins at
the beginning of a word, so only long words are looked at and only under their first letters: the cost grows with the
text, whatever is in it. What stands for a token (``xxxx``) has its format and is none (``secret_values.dull``).
Lengths and alphabets of the table are those of the providers' own pages and of gitleaks' rules (MIT).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Final

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from governance.masking.recognisers.secret_values import dull, ordinary, published

Span = tuple[int, int]
_W: Final = "[A-Za-z0-9]"
_TABLE: Final = r"""
ghp_ gho_ ghu_ ghs_ ghr_            [A-Za-z0-9_]{36,255}
github_pat_                         \w{60,100}
glpat- glft- glrt- glsoat- glffct-  [\w.-]{20,300}
glimt- gldt- glcbt- glwt- glagent- gloas- GR1348941  [\w.-]{20,300}
glptt-                              [0-9a-f]{40}
sk-ant-                             [a-z]+\d\d-[\w-]{80,110}AA
sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- sk-or- [\w-]{40,200}
sk-                                 [A-Za-z0-9]{32,64}
sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ pk_test_ [A-Za-z0-9]{10,250}
whsec_                              [A-Za-z0-9+/=]{20,100}
AIza                                [\w-]{35}
ya29.                               [\w-]{40,2000}
GOCSPX-                             [\w-]{28}
AKIA ASIA ABIA ACCA                 [A-Z2-7]{16}
ABSK                                [A-Za-z0-9+/]{109,269}={0,2}
bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t [A-Za-z0-9+/=]{0,2000}
hf_ api_org_                        [A-Za-z]{34}
xapp-                               \d-[A-Z0-9]+-\d+-[A-Za-z0-9]+
xoxp- xoxb- xoxe- xoxs- xoxo-       \d{8,14}-(?:\d{8,14}-){0,2}[A-Za-z0-9-]{18,64}
xoxe.xoxb- xoxe.xoxp-               \d-[A-Za-z0-9]{140,180}
xoxa- xoxr-                         (?:\d-)?[0-9a-zA-Z]{8,48}
npm_                                [A-Za-z0-9]{36}
pypi-                               AgE[\w-]{50,1000}
rubygems_                           [a-f0-9]{48}
CLOJARS_                            [A-Za-z0-9]{60}
dckr_pat_ dckr_oat_                 [\w-]{20,60}
SWMTKN-1-                           [a-z0-9]{40,60}-[a-z0-9]{20,30}
dop_v1_ doo_v1_ dor_v1_             [a-f0-9]{64}
shpat_ shpca_ shppa_ shpss_         [a-fA-F0-9]{32}
shippo_live_ shippo_test_           [a-fA-F0-9]{40}
sq0atp- sq0csp- sq0idp-             [\w-]{22,60}
EAAA                                [\w-]{55,65}
EAAM EAAC                           [A-Za-z0-9]{100,}
SG.                                 [\w-]{16,22}\.[\w-]{16,64}
xkeysib-                            [a-f0-9]{64}-[A-Za-z0-9]{16}
PMAK-                               [a-f0-9]{24}-[a-f0-9]{34}
NRAK- NRII- NRJS-                   [A-Za-z0-9-]{19,32}
lin_api_ lin_oauth_                 [A-Za-z0-9]{40,64}
ntn_                                [0-9]{11}[A-Za-z0-9]{35}
secret_                             [A-Za-z0-9]{43}
figd_                               [\w-]{40,60}
dapi                                [a-f0-9]{32}(?:-\d)?
dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. (?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}
dt0c01. dt0s16. dt0s01.             [A-Z0-9]{24}\.[A-Z0-9]{64}
duffel_live_ duffel_test_           [\w=-]{43}
EZAK EZTK                           [A-Za-z0-9]{54}
FLWSECK_TEST- FLWPUBK_TEST- FLWSECK- [a-h0-9]{12,32}(?:-X)?
fo1_                                [\w-]{43}
fm1a_ fm1r_ fm2_                    [A-Za-z0-9+/]{100,}={0,3}
fio-u-                              [\w=-]{64}
glc_                                [A-Za-z0-9+/]{32,400}={0,3}
glsa_                               [A-Za-z0-9]{32}_[A-Fa-f0-9]{8}
eyJrIjoi                            [A-Za-z0-9]{70,400}={0,3}
pat. sat.                           [\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
HRKU-                               [\w-]{36,60}
ico-                                [A-Za-z0-9]{32}
s-s4t2ud- s-s4t2af-                 [A-Fa-f0-9]{64}
API-                                [A-Z0-9]{26}
sha256~                             [\w-]{43}
pplx-                               [A-Za-z0-9]{40,60}
gsk_ xai- csk- nvapi- r8_ tgp_v1_ fw_ tvly- [\w-]{32,90}
lsv2_pt_ lsv2_sk_                   [a-f0-9]{32}_[a-f0-9]{10}
pscale_tkn_ pscale_oauth_ pscale_pw_ [\w=.-]{32,64}
pnu_                                [A-Za-z0-9]{36}
pul-                                [a-f0-9]{40}
rdme_                               [a-z0-9]{70}
tk-us-                              [\w-]{48}
sntrys_                             eyJ[\w+/=-]{60,450}
sntryu_                             [a-f0-9]{64}
sm_aat_ sm_pat_ sm_sat_             [A-Za-z0-9]{16}
sgp_                                (?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}
hvs. hvb.                           [\w-]{90,300}
hvr.                                [\w-]{90,300}
LTAI                                [A-Za-z0-9]{12,20}
AKCp                                [A-Za-z0-9]{69}
cmVmd                               [A-Za-z0-9]{59}
ATATT3 ATCTT3 ATBB                  [\w=-]{28,200}
p8e-                                [A-Za-z0-9]{32}
A3-                                 [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}
ops_                                eyJ[A-Za-z0-9+/]{200,}={0,3}
AGE-SECRET-KEY-1                    [QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}
4b1d                                [A-Za-z0-9]{38}
v1.0-                               [a-f0-9]{24}-[a-f0-9]{146}
dnkey-                              [\w=-]{26}-[\w=-]{52}
sc_ ext_ scauth_ authress_          [a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}
tfp_                                [\w.=-]{59}
AQVN                                [\w-]{35,38}
t1.                                 [\w-]+={0,2}\.[\w-]{86}={0,2}
sl.                                 [\w=-]{130,200}
access-sandbox- access-development- access-production- [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}
ZXlK                                [A-Za-z0-9+/_-]{60,}={0,2}
"""


def _table() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """The formats by the first two letters of their prefix, the longest prefix first."""
    made: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for line in _TABLE.strip().splitlines():
        *prefixes, body = line.split()
        for prefix in prefixes:
            made.setdefault(prefix[:2], []).append((prefix, re.compile(f"{re.escape(prefix)}({body})(?!{_W})")))
    return {key: sorted(formats, key=lambda one: -len(one[0])) for key, formats in made.items()}


_BY_START: Final = _table()
_LONG_WORD: Final = re.compile(r"[A-Za-z0-9][\w.~-]{3,}+")
_LONGEST_LINE: Final = 2_000
_LINE_BREAK: Final = re.compile(r"\\[nrt]")
"""Written as two letters, as in a string inside a string."""
_OVERLAP: Final = 300
_LETTERS_ALONE: Final = 28
"""Letters of a token that has no digit; a shorter one is a word."""
_BASE64_RUN: Final = re.compile(r"[A-Za-z0-9+/]{200}")
_LIBRARY: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("AKC", ArtifactoryDetector.denylist[0]),
    ("aws", AWSKeyDetector.denylist[1]),
    (".", DiscordBotTokenDetector.denylist[0]),
    ("-us", MailchimpDetector.denylist[0]),
    ("token", NpmDetector.denylist[0]),
    ("SG.", SendGridDetector.denylist[0]),
    ("xox", SlackDetector.denylist[0]),
    ("softlayer.com/", SoftlayerDetector.denylist[1]),
    ("sq0csp", SquareOAuthDetector.denylist[0]),
    ("k_live", StripeDetector.denylist[0]),
    ("SK", TwilioKeyDetector.denylist[1]),
)
"""Shapes of the library's plugins, each with the letters without which it finds nothing. Its plugins read a line at a
time; those that look for a name with a value are left to ``secret_context``, which reads more ways to write one."""
_ANCHORED: Final[tuple[tuple[str, int, re.Pattern[str]], ...]] = (
    ("1//0", 0, re.compile(r"1//0[\w-]{40,200}")),
    ("Q~", 4, re.compile(r"[\w~.]{3}\dQ~[\w~.-]{30,33}[\w~-](?![\w~-]|\.\w)")),
    (".atlasv1.", 14, re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}")),
    ("_mmk", 36, re.compile(r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)")),
    (":AA", 10, re.compile(r"\d{10}:AA[\w-]{33}(?![\w-])")),
    (":AA", 9, re.compile(r"\d{9}:AA[\w-]{33}(?![\w-])")),
    ("|", 16, re.compile(r"\d{16}\|[\w-]{27,40}(?![\w-])")),
    ("|", 15, re.compile(r"\d{15}\|[\w-]{27,40}(?![\w-])")),
)
"""Formats known by letters inside them: the letters, how far before them the token begins, its shape."""
_WEBHOOK: Final = re.compile(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{30,90})|"
    r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[\w-]{20,100})|"
    r"webhook\.office\.com/webhookb2/([\w@/-]{40,200}+))"
)
_JWT: Final = re.compile(r"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w=-]{8,}+\.[\w=-]*+(?:\.[\w=-]*+){1,3}")
_VAULT: Final = re.compile(r"(?<![\w.])s\.(?=[a-zA-Z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24}(?![\w.])")


def spans(text: str) -> Iterator[Span]:
    """Where a published format stands."""
    yield from _prefixed(text)
    yield from _library(text)
    yield from _anchored(text)
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if _is_jwt(match.group()):
                yield match.start(), match.start() + len(match.group().rstrip("."))
    if "hook" in text:
        for match in _WEBHOOK.finditer(text):
            place = match.lastindex or 0
            if not dull(match.group(place)):
                yield match.span(place)
    if "s." in text:
        yield from (match.span() for match in _VAULT.finditer(text))


def _prefixed(text: str) -> Iterator[Span]:
    for word in _LONG_WORD.finditer(text):
        start = word.start()
        if start and _LINE_BREAK.match(text, start - 1):
            start += 1
        if start >= 200 and _BASE64_RUN.match(text, start - 200):
            continue  # inside an image or a blob, where any four letters turn up
        for prefix, pattern in _BY_START.get(text[start : start + 2], ()):
            if not text.startswith(prefix, start):
                continue
            match = pattern.match(text, start)
            if match and _is_token(match.group(), match.group(1)):
                yield match.start(), match.start() + len(match.group().rstrip("."))
                break


def _is_token(token: str, body: str) -> bool:
    long_enough = len(token) >= _LETTERS_ALONE or any(map(str.isdigit, token))
    return long_enough and not (body and dull(body)) and not published(token)


def _library(text: str) -> Iterator[Span]:
    folded = text.lower()
    shapes = [(anchor, shape) for anchor, shape in _LIBRARY if anchor.lower() in folded]
    if not shapes:
        return
    for start, line in _lines(text):
        small = line.lower()
        for anchor, shape in shapes:
            if anchor.lower() not in small:
                continue
            for match in shape.finditer(line):
                span = match.span(match.lastindex or 0)
                value = line[slice(*span)].strip(' "=:')
                begin = line.index(value, span[0])
                if _alone(line, begin, begin + len(value)) and not dull(value) and not ordinary(value):
                    yield start + begin, start + begin + len(value)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of bounded length, as the library reads them."""
    start = 0
    for whole in text.splitlines(keepends=True):
        for cut in range(0, len(whole), _LONGEST_LINE):
            yield start + cut, whole[cut : cut + _LONGEST_LINE + _OVERLAP]
        start += len(whole)


def _alone(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit touches the span from outside."""
    before = text[max(start - 1, 0) : start].isalnum() and not _LINE_BREAK.match(text, max(start - 2, 0))
    return not (before or text[end : end + 1].isalnum())


def _anchored(text: str) -> Iterator[Span]:
    for letters, before, shape in _ANCHORED:
        place = text.find(letters)
        while place >= 0:
            start = place - before
            if start >= 0 and (match := shape.match(text, start)) and _alone(text, start, match.end()):
                yield match.span()
            place = text.find(letters, place + 1)


def _is_jwt(token: str) -> bool:
    """Whether the token has a JOSE header, and a payload that is a JSON object or is encrypted (RFC 7519, RFC 7516)."""
    header, payload, *rest = token.split(".")
    head, body = _json(header), _json(payload)
    return head is not None and "alg" in head and bool(rest) and (body is not None or "enc" in head)


def _json(part: str) -> dict[str, object] | None:
    try:
        made = json.loads(base64.urlsafe_b64decode(part.rstrip("=") + "=" * (-len(part.rstrip("=")) % 4)))
    except (binascii.Error, ValueError):
        return None
    return made if isinstance(made, dict) else None
