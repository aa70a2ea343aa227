"""What a value looks like: a secret, or what stands where a secret would.

Theory. Documents, templates and schemas are full of values that stand for a secret (``YOUR_API_KEY``, ``${TOKEN}``,
``xxxxx``) and of values that merely stand beside a telling name (a path, a host, a version, an enum). A made secret is
drawn at random: it mixes letters and digits without spelling words, and few of its characters repeat. So a value is
judged by what it is not. The library's filters decide what they know (templates, UUIDs, ARNs); the rest is here.
"""

from __future__ import annotations

import hashlib
import re
import string
from typing import Final

from detect_secrets.filters import heuristic
from detect_secrets.plugins.high_entropy_strings import calculate_shannon_entropy

from governance.masking.words import listed

_CHARSET: Final = string.ascii_letters + string.digits + "+/=_-.~!@#$%^&*:|"
_STAND_INS: Final = frozenset(
    listed(
        """
        admin any auto blank bool boolean bytes change changeit changeme credential credentials default dummy empty
        enabled disabled example fake false field foo foobar bar baz hidden input int integer invalid key label masked
        missing mock my name nil no none null number object optional pass passphrase password placeholder pwd redacted
        removed required sample secret set string test testing text todo token true type undefined unknown unset user
        username value wrong yes your
        """
    )
)
_TELLS_STAND_IN: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:your|my|the|insert|enter|replace|put|add)[-_ ]?(?:own[-_ ])?(?:\w+[-_ ])?"
    r"(?:api|app|access|auth|client|secret|token|key|pass|password|credential)|placeholder|change[-_]?me|changeit|"
    r"redacted|not[-_]a[-_]?real|goes[-_]here|(?:token|key|secret|password)[-_]?here|"
    r"process\.env|os\.environ|getenv|secrets?\.[a-z_]+$"
)
_TEMPLATE: Final = re.compile(
    r"\$\{|\$\(|\{\{|\}\}|<%|%>|^\$\w+$|^\$\d|^%[\w-]+%$|^%\(|^%[sdv]$|^@\w+@$|^[<\[][^<>\[\]]*[>\]]$|\.\.\.$"
)
_NAME_IN_BRACES: Final = re.compile(r"^\{[A-Za-z_][A-Za-z_. -]*\d?\}$")
_WORD: Final = re.compile(r"[A-Za-z]+\d{0,3}|[A-Z0-9]{1,4}|\d{1,12}")
_BETWEEN: Final = re.compile(r"[-_. /:]+")
_VERSION: Final = re.compile(r"(?i)^[a-z._-]{0,12}\d+(?:\.\d+){1,4}(?:[-_.+][\w.+-]*)?$|snapshot")
_PLACE: Final = re.compile(
    r"(?i)://|^\.{0,2}/|^~/|^[a-z]:\\|^(?:[a-z0-9-]{1,30}\.){1,5}[a-z]{2,6}(?::\d{1,5})?(?:/|$)|"
    r"\.(?:pem|cer|crt|key|jsonl?|ya?ml|xml|py|[jt]sx?|png|jpe?g|gif|html?|txt|properties|jks|p12|pfx|env|lock|toml)$"
)
_MAIL: Final = re.compile(r"^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$")
_DIGEST: Final = re.compile(r"(?i)^(?:sha\d*|md5)[:\-=$]")
LONG: Final = re.compile(r"[\w.~+/=:%-]{15}")
"""What every value is at least that no name but its vendor's gives away."""
UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SAMPLES: Final = frozenset(
    listed(
        """
        f56e323494a6 2037abcaffb2 3f370c9dd822 e4a5542bb7fd a19f89ab3555 0b476bdf9acf eb540d2b6ee2 37f8f09bdf12
        8731261cb72d 49f777db995e 27a9a42931df dc0fcf046c61 4c98242dcadc ea9bb1082cf9 3a8b61d0f636 a6c814bc555a
        """
    )
)
"""Keys that vendors publish in their SDKs' samples, by the start of their SHA-256: public, so nobody's secret. They are
those that gitleaks' configuration lists as such (github.com/gitleaks/gitleaks, MIT)."""


def entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    return float(calculate_shannon_entropy(value, _CHARSET))


def published(value: str) -> bool:
    """Whether the value is one that a vendor publishes as a sample."""
    return hashlib.sha256(value.encode()).hexdigest()[:12] in _SAMPLES


def dull(value: str) -> bool:
    """Whether few characters make up the value: ``xxxx``, ``****``, ``0000``."""
    body = re.sub(r"[^A-Za-z0-9]", "", value)
    if len(body) < 4:
        return len(set(value)) < 3
    most = max(map(body.count, set(body)))
    least = 0.0 if len(body) < 16 else 2.4 if len(body) < 32 else 2.9
    return len(set(body)) < 3 or most > len(body) * 0.45 or entropy(body) < least


def stand_in(value: str) -> bool:
    """Whether the value stands for a secret that is elsewhere."""
    if _TEMPLATE.search(value) or _NAME_IN_BRACES.search(value) or dull(value) or _TELLS_STAND_IN.search(value):
        return True
    parts = re.findall(r"[a-z]+", value.lower())
    return bool(parts) and all(part in _STAND_INS for part in parts) and sum(map(str.isdigit, value)) < 3


def ordinary(value: str) -> bool:
    """Whether the value is what configuration is made of: words, a path, a host, a version, a mail address."""
    if _PLACE.search(value) or _VERSION.search(value) or _MAIL.search(value) or _DIGEST.search(value):
        return True
    words = all(_WORD.fullmatch(part) for part in _BETWEEN.split(value) if part)
    return words or bool(heuristic.is_aws_arn(value))


def random(value: str, *, least: int, bits: float) -> bool:
    """Whether the value looks drawn: long enough, letters with digits (or long and of both cases), and varied."""
    if len(value) < least or heuristic.is_not_alphanumeric_string(value):
        return False
    mixed = any(map(str.isdigit, value)) or (len(value) >= 20 and value != value.lower() and value != value.upper())
    return mixed and entropy(value) >= bits
