"""Mail addresses, network addresses and pages.

Mail goes to ``example.com`` and pages lie under it (RFC 2606); addresses are of 198.18.0.0/15 (RFC 2544) and
2001:db8::/32 (RFC 3849); a MAC address is a locally administered one (IEEE 802), which no maker of devices assigns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from governance.masking.draw import Seed
from governance.masking.makers.shape import refill, shaped

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*://|mailto:", re.IGNORECASE)


def email(seed: Seed, value: str) -> str:
    """A mailbox at ``example.com``."""
    return f"user-{seed.draw('EMAIL_ADDRESS', value.casefold().strip()).hex(12)}@example.com"


def ip_address(seed: Seed, value: str) -> str:
    """An address of the same version; the length of a network stays."""
    address, slash, length = value.strip().partition("/")
    draw = seed.draw("IP_ADDRESS", address.casefold())
    if ":" in address:
        return "2001:db8:" + ":".join(f"{draw.below(65536):x}" for _ in range(6)) + slash + length
    return f"198.{18 + draw.below(2)}.{draw.below(256)}.{draw.below(256)}" + slash + length


def mac_address(seed: Seed, value: str) -> str:
    """A locally administered address in the same notation."""
    draw = seed.draw("MAC_ADDRESS", "".join(char for char in value.casefold() if char in _HEX))
    made = draw.hex(1) + "26ae"[draw.below(4)] + draw.hex(10)
    return refill(value, made.upper() if value.upper() == value else made, _HEX.__contains__)


def page(seed: Seed, value: str) -> str:
    """A page of a made-up site, under the same scheme."""
    scheme = _SCHEME.match(value)
    draw = seed.draw("URL", value.casefold().strip())
    return f"{scheme.group() if scheme else ''}site-{draw.hex(8)}.example.com/{draw.hex(8)}"


def domain(seed: Seed, value: str) -> str:
    """A made-up site's name."""
    return f"site-{seed.draw('DOMAIN_NAME', value.casefold().strip()).hex(8)}.example.com"


def uuid(seed: Seed, value: str) -> str:
    """Another id of the same form. A tenant that masks ids gives up joining by them."""
    if not all(char in _HEX or not char.isalnum() for char in value):
        return shaped(seed, "UUID", value)
    made = seed.draw("UUID", value.casefold()).hex(len(value))
    return refill(value, made.upper() if value.upper() == value else made, _HEX.__contains__)


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {
    "EMAIL_ADDRESS": email, "EMAIL": email, "IP_ADDRESS": ip_address, "MAC_ADDRESS": mac_address, "URL": page,
    "DOMAIN_NAME": domain, "UUID": uuid,
}  # fmt: skip
