"""Expressions: whether two formulas are one, however they are written.

Theory. An expression is parsed by Python's own parser, and only arithmetic, names and a few functions of it are read,
so nothing in it runs; values beyond ``MOST`` are no values, so nothing in it grows. Two expressions are one when they
agree at points drawn at random, to thirty digits: two different polynomials of degree d over values from a set of size
s agree at a point with a chance of d / s at most. Points where either has no value are passed over; where too few are
left the two are not said to be one. Of LaTeX the plain forms are read (fractions, roots, products, powers).

Sources: Schwartz 1980 and Zippel 1979 (testing identities at random points); mpmath (numbers of any precision).
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

MOST: Final = 1e30
"""No value of a part may be larger."""
DIGITS: Final = 30
_LONGEST: Final = 500
_DEEPEST: Final = 60
_POINTS: Final = 6
_FUNCTIONS: Final = {
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "log": "log", "ln": "log", "log10": "log10", "exp": "exp",
    "abs": "fabs",
}  # fmt: skip
_LATEX: Final = (
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\sqrt\s*\{([^{}]*)\}"), r"sqrt(\1)"),
    (re.compile(r"\\(?:cdot|times)"), "*"),
    (re.compile(r"\\(?:left|right|,|;|!|displaystyle)"), ""),
    (re.compile(r"\\(pi|sin|cos|tan|log|ln|exp|sqrt)\b"), r"\1"),
    (re.compile(r"[{]"), "("),
    (re.compile(r"[}]"), ")"),
    (re.compile(r"\^"), "**"),
    (re.compile(r"(?<![A-Za-z_\d.])(\d+(?:\.\d+)?)\s*(?![eE][+\-]?\d)(?=[A-Za-z(])"), r"\1*"),
    (re.compile(r"\)\s*(?=[A-Za-z(\d])"), ")*"),
)


_OF: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
"""What an expression is said to be of: one name. Any other equation, and an inequality, is no expression."""


class Expression(NamedTuple):
    """A formula that was read."""

    tree: ast.expr
    names: frozenset[str]
    """Its free names."""
    of: str = ""
    """The name that it is said to be of (``x = 2``); empty where it stands alone."""


class _NoValue(Exception):
    """A part has no value here."""


def expression(text: str) -> Expression | None:
    """The expression that a text is; None for any other text."""
    said = text.strip().strip("$").rstrip(".")
    if len(said) > _LONGEST:
        return None
    for pattern, made in _LATEX:
        while (changed := pattern.sub(made, said)) != said:
            said = changed
    of = _OF.match(said)
    said = said[of.end() :] if of else said
    try:
        tree = ast.parse(said.strip(), mode="eval").body
        return Expression(tree, frozenset(_names(tree, 0)), of[1] if of else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def same_expression(one: Expression, other: Expression, tolerance: float) -> bool:
    """Whether two expressions agree at random points, within the tolerance; constants are evaluated once."""
    if one.of and other.of and one.of != other.of:
        return False
    names = sorted(one.names | other.names)
    rng = random.Random(0)  # noqa: S311 - points, not secrets; the same in every run
    wanted = _POINTS if names else 1
    agreed = 0
    for _ in range(3 * wanted):
        point = {name: rng.uniform(0.1, 9.9) for name in names}
        try:
            left, right = _at(one.tree, point), _at(other.tree, point)
        except _NoValue:
            continue
        if abs(left - right) > min(tolerance, 1e-9) * max(1, abs(left)):
            return False
        agreed += 1
        if agreed == wanted:
            return True
    return False


def _names(node: ast.expr, depth: int) -> set[str]:
    """The free names of arithmetic.

    Raises:
        ValueError: for anything else.

    """
    if depth > _DEEPEST:
        raise ValueError("too deep")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return set()
        case ast.Name(id=name):
            return set() if name in {"pi", "e"} else {name}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            return _names(inner, depth + 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), left=left, right=right):
            return _names(left, depth + 1) | _names(right, depth + 1)
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            return _names(inner, depth + 1)
    raise ValueError("not arithmetic")


def _at(tree: ast.expr, point: Mapping[str, float]) -> Any:
    """The value of an expression at a point."""
    from mpmath import mp

    with mp.workdps(DIGITS):
        try:
            return _value(mp, tree, point)
        except (ZeroDivisionError, ValueError, OverflowError, TypeError) as error:
            raise _NoValue from error


def _value(mp: Any, node: ast.expr, point: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant(value=number):
            made = mp.mpf(str(number))
        case ast.Name(id="pi" | "e" as name):
            made = +getattr(mp, name)
        case ast.Name(id=name):
            made = mp.mpf(point[name])
        case ast.UnaryOp(op=operator, operand=inner):
            made = -_value(mp, inner, point) if isinstance(operator, ast.USub) else _value(mp, inner, point)
        case ast.BinOp(left=left, op=operator, right=right):
            made = _combined(_value(mp, left, point), operator, _value(mp, right, point))
        case ast.Call(func=ast.Name(id=name), args=[inner]):
            made = getattr(mp, _FUNCTIONS[name])(_value(mp, inner, point))
        case _:
            raise _NoValue
    if not mp.isfinite(made) or abs(made) > MOST:
        raise _NoValue
    return made


def _combined(left: Any, operator: ast.operator, right: Any) -> Any:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case _ if abs(right) < MOST and abs(left) < MOST:
            return left**right if abs(right) <= 1000 else _large_power(left)
    raise _NoValue


def _large_power(left: Any) -> Any:
    """A power beyond a thousand has a value that matters for one alone."""
    if left == 1:
        return left
    raise _NoValue
