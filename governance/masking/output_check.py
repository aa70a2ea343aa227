"""Output check: surrogates in a text, told by where they lie and by the tenant's keyed mark.

Theory. Nothing may leave with a surrogate, and no table of them is kept. Most surrogates lie in a range in which no
real value lies (``governance.masking.makers``), so their form alone tells them: mail at ``example.com`` of our form,
telephone numbers for fiction, issuer 999999, births before 1850. Names, towns and streets are made of known syllables
and carry the tenant's mark (``Seed.marked``): a word that merely looks made up carries it once in ``MARK``. A secret's
end follows from the rest of it under the tenant's key. What has neither a range nor a mark cannot be told by anybody:
dates, ages, last digits of a card, post codes, and numbers of types whose specification sets no range apart; those are
known by their recorded marks only (``annotations``).

A telephone number counts where it is written as one: ten bare digits are too often an order's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from governance.masking.draw import Seed
from governance.masking.makers import checks, name_parts, phones, secrets
from governance.masking.makers.names import script_of
from governance.masking.spans import Hit, resolve
from governance.masking.surrogate import Surrogates
from governance.ports.keys import KeyProvider
from governance.ports.surrogate_check import SurrogateCheck, SurrogatePlace

Proof = Callable[[Seed, str], bool]


_KOREAN_FORM: Final = re.compile(r"\(?0\d{1,2}[\s).\-]+0\d{2,3}[\s.\-]?\d{4}")
"""A Korean number without its country is grouped so that its exchange begins with 0."""
_AMERICAN_FORM: Final = re.compile(r"(?:\+?1[\s.\-]?)?\(?\d{3}\)?[\s.\-/]{0,2}\d{3}[\s.\-]?\d{4}")
"""As numbers of +1 are grouped: other ten digits have such an exchange by chance."""
_WORD: Final = re.compile(r"(?<![\w@])[^\W\d_](?:[^\W_]|[\u0300-\u036f\u093e-\u094d\u0e31-\u0e4e])+(?!\w)")
_LATIN: Final = re.compile(f"{name_parts.GIVEN.pattern}|{name_parts.FAMILY.pattern}", re.IGNORECASE)
_SCRIPTS: Final = {name: re.compile(kind.pattern) for name, kind in name_parts.SCRIPTS.items()}
_KOREAN: Final = re.compile(
    rf"(?<![가-힣])[{''.join(name_parts.KOREAN_FAMILY)}]([{''.join(name_parts.KOREAN_GIVEN)}]{{2}})"
)


def _always(seed: Seed, text: str) -> bool:  # noqa: ARG001 - the form is the proof
    return True


def _checked(kind: str) -> Proof:
    return lambda _, text: checks.CHECKS[kind](re.sub(r"[\W_]", "", text).upper())


def _phone(_: Seed, text: str) -> bool:
    if text.isdecimal() or text.startswith("999"):
        return False
    plain = "".join(char for char in text if char.isdecimal()).removeprefix("00")
    home = plain.startswith("0") and phones.korean(plain)
    form = _KOREAN_FORM if home else _AMERICAN_FORM if len(plain.removeprefix("1")) == 10 else None
    return phones.reserved(plain) and (form is None or form.fullmatch(text) is not None)


_FORMS: Final[tuple[tuple[str, str, Proof], ...]] = (
    ("EMAIL_ADDRESS", r"(?<![\w.\-])user-[0-9a-f]{12}@example\.com(?!\w)", _always),
    ("URL", r"(?<![\w.\-])site-[0-9a-f]{8}\.example\.com(?:/[0-9a-f]{8})?", _always),
    ("PHONE_NUMBER", r"(?<![\w.])(?:\+|\(\+?|0)?\d(?:[\s().\-/]{0,2}\d){7,15}(?![\w])", _phone),
    ("CREDIT_CARD", r"(?<!\d)9999[ -]?99\d{2}(?:[ -]?\d){4,11}(?!\d)", _checked("CREDIT_CARD")),
    ("IBAN_CODE", r"(?<!\w)[A-Z]{2}\d{2} ?(?:0000|XXXX)(?: ?[A-Z0-9]){7,26}(?!\w)", _checked("IBAN_CODE")),
    ("US_SSN", r"(?<![\d-])9\d{2}-[0-4]\d-\d{4}(?![\d-])", _always),
    ("KR_RRN", r"(?<![\d-])[0-4]\d{5}-[90]\d{6}(?![\d-])", _checked("KR_RRN")),
    ("UK_NHS", r"(?<!\d)999 \d{3} \d{4}(?!\d)", _checked("UK_NHS")),
    ("UK_NINO", r"(?<!\w)QQ ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)", _always),
    ("IP_ADDRESS", r"(?<![\w.])198\.1[89]\.\d{1,3}\.\d{1,3}(?![\w.]\d)", _always),
    ("IP_ADDRESS", r"(?<![\w:])2001:db8(?::[0-9a-f]{1,4}){6}(?![\w:])", _always),
    ("SECRET", r"(?<![\w/+.\-])[\w/+.\-]{16,512}={0,2}(?![\w/+])", secrets.proven),
)
_COMPILED: Final = tuple((kind, re.compile(form), proof) for kind, form, proof in _FORMS)


class KeyedSurrogateCheck(SurrogateCheck):
    """Tells the surrogates of any tenant whose keys it can ask for."""

    def __init__(self, keys: KeyProvider) -> None:
        """``keys`` are those that made the surrogates."""
        self._keys = keys
        self._seeds: dict[str, Seed] = {}

    def places(self, tenant_id: str, text: str) -> tuple[SurrogatePlace, ...]:
        """The surrogates in a text, in order, without overlap."""
        if tenant_id not in self._seeds:
            self._seeds[tenant_id] = Surrogates(self._keys, tenant_id).seed
        found = resolve(_hits(self._seeds[tenant_id], text))
        return tuple(SurrogatePlace(start=one.start, end=one.end, entity_type=one.entity_type) for one in found)


def _hits(seed: Seed, text: str) -> Iterator[Hit]:
    for kind, form, proof in _COMPILED:
        for match in form.finditer(text):
            if proof(seed, match.group()):
                yield Hit(*match.span(), kind, 1.0)
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        made = _LATIN if word.isascii() else _SCRIPTS.get(script_of(word))
        if made is not None and made.fullmatch(word) and seed.marked("NAME", word):
            yield Hit(*match.span(), "PERSON", 1.0)
    for match in _KOREAN.finditer(text):
        if seed.marked("NAME", match.group(1)):
            yield Hit(*match.span(), "PERSON", 1.0)
