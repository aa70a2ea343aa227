"""Places: street addresses part by part, towns, post codes.

A street address becomes a house number, a made-up street and a made-up town; each part has one surrogate, so a town
stays the same town. Words carry the tenant's mark. A post code keeps its shape and is mapped one to one where it is
digits. No specification sets streets, towns or post codes apart that nobody may use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from governance.masking import words
from governance.masking.draw import Seed
from governance.masking.makers.names import family_word, script_of
from governance.masking.makers.shape import shaped

_CODE: Final = re.compile(r"[\w-]{2,6}(?:[ -][\w-]{2,6})?")
_WORD: Final = re.compile(r"[^\W\d_]{2,}|[^\W\d_](?=\W|$)")
_UNIT: Final = re.compile(r"(?:apt|apartment|suite|ste|unit|flat|floor|room|p\.?o\.? box|#)\b", re.IGNORECASE)
_STATE: Final = re.compile(r"[A-Z]{2,3}")


def location(seed: Seed, value: str) -> str:
    """An address, its parts between commas and lines replaced one by one, what stands between them kept."""
    parts = re.split(r"(\s*[,\n]\s*)", value)
    return "".join(_place(seed, part) if part.strip(" ,\n\t") else part for part in parts)


def town(seed: Seed, value: str) -> str:
    """A place by its name: one made-up word, whatever the original's count."""
    return family_word(seed, "LOCATION", value.strip()) if _WORD.search(value) else shaped(seed, "LOCATION", value)


def post_code(seed: Seed, value: str) -> str:
    """A code of the same shape."""
    return shaped(seed, "ZIP_CODE", value)


def _place(seed: Seed, part: str) -> str:
    folded = " ".join(part.casefold().split())
    if _STATE.fullmatch(part):
        return shaped(seed, "STATE", part)
    if not any(char.isdigit() for char in part):
        return town(seed, folded.upper() if part.isupper() else folded if part.islower() else folded.capitalize())
    if _CODE.fullmatch(part):
        return post_code(seed, part)
    if _UNIT.match(part):
        return re.sub(r"\d+\w*", lambda match: shaped(seed, "UNIT", match.group()), part)
    if script_of(part.lstrip("0123456789 -") or "a") == "HANGUL":
        made = _WORD.sub(lambda match: family_word(seed, "LOCATION", match.group()), part)
        return re.sub(r"\d+", lambda match: shaped(seed, "HOUSE", match.group()), made)
    draw = seed.draw("LOCATION", folded)
    street = family_word(seed, "STREET", folded).capitalize()
    return f"{1 + draw.below(998)} {street} {draw.pick(words.STREET_ENDS)}"


MAKERS: Final[Mapping[str, Callable[[Seed, str], str]]] = {
    **dict.fromkeys(("LOCATION", "KR_ADDRESS"), location),
    **dict.fromkeys(("ZIP_CODE", "UK_POSTCODE", "CA_POSTAL_CODE", "DE_PLZ"), post_code),
    "GPE": town,
}
