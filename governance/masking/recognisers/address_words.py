"""Words that make an address one: kinds of streets, parts of houses, boxes and countries, in many languages.

Theory. What a street is called is open; what kind of street it is, and what a part of a house is called, is a short
list in each language. The lists hold what postal services of the countries print in their own guides. Names of
countries come from phonenumbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from governance.masking.words import listed

STREET_LAST: Final = frozenset(
    listed(
        """
        street st avenue ave av road rd lane ln drive dr boulevard blvd way court ct place pl row square sq terrace
        ter close crescent cres parkway pkwy highway hwy circle cir trail trl turnpike tpke alley aly plaza esplanade
        expressway expy freeway fwy loop mews grove gardens gdns crossing xing walk quay wharf heights hts pike
        ridge rdg bypass causeway cswy broadway
        """
    )
)
"""English: the number comes first and this word last."""
STREET_FIRST: Final = frozenset(
    listed(
        """
        rue boulevard bd avenue av chemin allée allee allées impasse quai place route cours ruelle sentier esplanade
        via viale piazza piazzale corso vicolo largo strada contrada
        calle c/ avenida avda avd plaza paseo carrera carrer camino travesía ronda glorieta callejón carretera
        rua travessa praça praca estrada alameda rodovia beco
        ul ulica ulice aleja al aleje plac pl osiedle os
        strada bulevardul calea intrarea
        jalan jl jln lorong gang
        odos οδός λεωφόρος λεωφ πλατεία
        улица ул проспект пр переулок пер бульвар набережная площадь
        """
    )
)
"""The kind of street comes first, and the number behind the name, or in front of all."""
STREET_AFTER_NAME: Final = frozenset(
    listed(
        """
        u utca út útja tér tere körút krt köz sétány sor rakpart rkp
        põik tänav tn puiestee pst tee mnt maantee
        gatvė g iela prospektas caddesi cad sokak sok mahallesi marg nagar chowk
        náměstí nám třída námestie terrasse plass bakke vei veg gate
        """
    )
)
"""The kind of street stands behind its name as a word of its own, and the number behind both."""
PLAIN: Final = frozenset(
    listed(
        """
        via place plaza route routes court lane gang ter pl bd al os largo av str tee cad sok g u d st dr way drive
        close row square grove gardens loop walk quay heights pike ridge crossing alley trail circle terrace highway
        freeway ct sq int no flat floor door room block tower stock building unit fl rm court camino puerta plac
        aleja pass
        """
    )
)
"""Kinds that are plain words too: they count in capitals only."""
_COMPOUND: Final = re.compile(
    r"(?:straße|strasse|str\.|gasse|allee|platz|[a-zß]{3}weg|damm|chaussee|ufer|vej|allé|stræde|[^ie]gade|gatan|gata|gränd|"
    r"vägen|stigen|torget|veien|vegen|svingen|vegur|stígur|braut|stræti|katu|kuja|polku|[nrsl]tie|straat|laan|plein|gracht|"
    r"kade|singel|steeg|utca|tänav|iela)$"
)
"""One word that ends in the kind of street, as Germanic and Finnic languages write it."""
DWELLINGS: Final = frozenset(
    listed("apt apartment appt suite ste flat wohnung whg étage piso interno lgh leilighet byt")
)
UNITS: Final = DWELLINGS | frozenset(listed("unit floor fl room rm building bldg tower block blk door stock"))
"""Parts of a house; only those of a dwelling tell an address where no kind of street does."""
BOX: Final = re.compile(
    r"\b(?:p\.?\s?o\.?\s?box|post\s?box|post\s?office\s+box|postfach|postboks|postbus|boîte\s+postale|casella\s+postale|"
    r"apartado(?:\s+de\s+correos)?|caixa\s+postal|skrytka\s+pocztowa|case\s+postale)\s*(?:no\.?|nr\.?|#|:)?\s*\d{1,6}\b",
    re.IGNORECASE,
)
"""A box at a post office."""
MILITARY: Final = re.compile(
    r"\b(?:(?:PSC|CMR|Unit)\s+\d{1,5},?\s+Box\s+\d{1,5}|US[A-Z]{1,3}\s+[^\W\d_]+(?:\s+[^\W\d_]+)?)[,\s]+(?:APO|FPO|DPO),?\s+"
    r"(?:AA|AE|AP)(?:[,\s]+\d{5}(?:-\d{4})?)?\b",
    re.IGNORECASE,
)
"""Military and diplomatic post of the United States (USPS Publication 28, 238 and 239)."""
POSTCODE: Final = re.compile(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|[ABCEGHJ-NPRSTVXY]\d[A-Z]\s?\d[A-Z]\d|\d{4}\s[A-Z]{2}|\d{5}-\d{3,4}|\d{3}-\d{4}|"
    r"\d{2}-\d{3}|\d{3}\s\d{2}|[A-Z]{1,2}-\d{4,5})\b"
)
"""Postal codes of several groups: GB, CA, NL, US and BR, JP, PL, SE and CZ, and those with a country's letters."""
CUE: Final = re.compile(
    r"(?:\baddress(?:\s+(?:is|was|to|at))?|"
    r"\b(?:live[sd]?|living|reside[sd]?|residing|located|situated|based)\s+(?:at|on)|"
    r"\bmov(?:e|ed|ing)\s+to|\bcorner\s+of|\b(?:ship|send|deliver|mail|forward)(?:ed|s)?\s+(?:\w+\s+){0,3}to|"
    r"\bdirections\s+to)\s*[:\-]?\s*$",
    re.IGNORECASE,
)
"""What people say right before an address."""
CORNER: Final = re.compile(r"(?:\bthe\s+)?\bcorner\s+of\s+", re.IGNORECASE)
"""What makes two streets one place; part of the address, which is no place without it."""
PART_OF: Final = re.compile(r" \([^\W\d_][^()\d\n]{1,30}\)")
"""Which part of a country, in brackets behind its name."""
AT: Final = re.compile(r"\b(?:at|in|on|of|to|from)\s+$", re.IGNORECASE)
"""What may stand before one."""
_LANGUAGES: Final = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv")


def is_compound(word: str) -> bool:
    """Whether a folded word ends in a kind of street."""
    return len(word) > 5 and _COMPOUND.search(word) is not None


@cache
def countries() -> Mapping[str, tuple[str, ...]]:
    """Names of countries, folded, by their first word; longer ones first."""
    from phonenumbers.geodata.locale import LOCALE_DATA

    found = {"usa", "uk", "uae", "england", "scotland", "wales"}
    for names in LOCALE_DATA.values():
        for language in _LANGUAGES:
            name = names.get(language, "")
            found.add((names.get(name[1:], "") if name.startswith("*") else name).casefold())
    by_first: dict[str, tuple[str, ...]] = {}
    for name in sorted(found - {""}, key=lambda one: (-len(one), one)):
        first = name.split()[0]
        by_first[first] = (*by_first.get(first, ()), name)
    return by_first
