"""Quantities: numbers as people write them, with a unit of the kind that is expected.

Theory. ``1,500 m``, ``1.5 km`` and ``1.5e3 meters`` are one length. A unit of another kind is another quantity; an
answer without a unit is taken in the expected one's. Numbers are exact fractions, so nothing is lost before the
tolerance. Units are single ones, by the names that sympy or everyday writing gives them; a unit made of several
(``km/h``) equals itself alone.

Source: sympy's units (SI, information, time, angle).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final

_NUMBER: Final = re.compile(
    r"(?P<sign>[+\-\u2212]?)\s*(?P<money>[$€£])?\s*"
    r"(?P<digits>\d{1,3}(?:[, '\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:[eE](?P<power>[+\-]?\d{1,3})|\s*/\s*(?P<below>\d+))?\s*(?P<unit>[^\W\d_][\w/^]*|[%$€£])?"
)
_LONGEST: Final = 200
_EVERYDAY: Final = {
    "min": "minute", "mins": "minute", "s": "second", "sec": "second", "secs": "second", "h": "hour", "hr": "hour",
    "hrs": "hour", "lb": "pound", "lbs": "pound", "ft": "foot", "in": "inch", "mi": "mile", "l": "liter",
    "ml": "milliliter", "usd": "$", "eur": "€", "gbp": "£",
}  # fmt: skip
"""How units are written every day, where sympy calls them otherwise."""


def quantity(text: str) -> tuple[Fraction, str] | None:
    """The number and the unit that a text is; None for any other text."""
    if len(text) > _LONGEST:
        return None
    match = _NUMBER.fullmatch(text.strip().rstrip(".").replace("\\", ""))
    if match is None:
        return None
    number = Fraction(re.sub(r"[, '\u00a0]", "", match["digits"])) * Fraction(10) ** int(match["power"] or 0)
    if match["below"]:
        if int(match["below"]) == 0:
            return None
        number /= int(match["below"])
    unit = match["unit"] or match["money"] or ""
    return (-number if match["sign"] in {"-", "\u2212"} else number), unit


def same_quantity(one: tuple[Fraction, str], other: tuple[Fraction, str], tolerance: float) -> bool:
    """Equal within the tolerance, in units of one kind; an answer without a unit is taken in the expected one's."""
    (wanted, unit), (found, said) = one, other
    unit, said = (_EVERYDAY.get(name.lower(), name) for name in (unit, said))
    if unit and said and unit != said:
        factor = _factor(said, unit)
        if factor is None:
            return False
        found *= Fraction(factor)
    return abs(found - wanted) <= Fraction(tolerance) * abs(wanted)


def _factor(unit: str, into: str) -> float | None:
    """How many of the second unit one of the first is; None where they measure different things."""
    from sympy.physics import units

    held = [_unit(name) for name in (unit, into)]
    if any(one is None for one in held):
        return None
    made = units.convert_to(held[0], held[1]) / held[1]
    return float(made) if made.is_number else None


def _unit(name: str) -> Any:
    from sympy.physics import units

    if name == "%":
        return units.percent
    found = getattr(units, name, None) or getattr(units, name.lower().removesuffix("s"), None)
    return found if isinstance(found, units.Quantity) else None
