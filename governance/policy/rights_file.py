"""A policy of training rights, read from a TOML file and held against the floor.

A file may add denials and order them; it cannot take away a rule of the floor (those of the default policy that stand
above its line). Whatever is wrong with a file is said with the place: the rule by number and reason, the fact, the
value. A file that is no text, that nests too deep to be read, or that holds a number too long to be read or shown is
wrong too.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from governance.errors import PolicyError
from governance.policy.facts import FactSignature
from governance.policy.terms_file import assessment_terms, rebuild_terms
from governance.records.rights import Basis, ConsentStatus, Purpose, Reason
from governance.records.rights_policy import FactValue, RightsPolicy, RightsRule

DEFAULT_FILE: Final = Path(__file__).with_name("rights_policy.toml")
SETTABLE: Final = frozenset({Reason.MINOR})
"""Reasons of the default policy that are no part of the floor."""
_WORDS: Final = {
    "basis": {"none", *Basis},
    "consent": {"none", *ConsentStatus},
}
_KEYS: Final = frozenset({"name", "rule", "rebuild", "assessment"})
_NO_DENIALS: Final = frozenset({Reason.ALLOWED, Reason.COMPLY, Reason.EVIDENCE_EXPIRED})
_PURPOSES: Final = frozenset(Purpose) - {Purpose.COMPLY}


def default_policy() -> RightsPolicy:
    """The policy that comes with the project."""
    return _parse(DEFAULT_FILE.read_text(encoding="utf-8"), DEFAULT_FILE.name)


def read_policy(path: Path) -> RightsPolicy:
    """The policy of a file.

    Raises:
        PolicyError: naming the file, and what is wrong with it.

    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read: {error}") from error
    return parse_policy(text, str(path))


def parse_policy(text: str, where: str) -> RightsPolicy:
    """The policy of a file's text.

    Raises:
        PolicyError: naming ``where``, the rule and what is wrong with it.

    """
    policy = _parse(text, where)
    for rule in default_policy().rules:
        if rule.reason not in SETTABLE and rule not in policy.rules:
            raise PolicyError(f"{where}: the rule {rule.reason.value!r} is missing or changed: no policy may lift it")
    return policy


def _parse(text: str, where: str) -> RightsPolicy:
    try:
        return _policy(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{where}: not TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # a number too long for Python, or too deep a nesting
        raise PolicyError(f"{where}: cannot be read: {error}") from error


def _policy(raw: dict[str, Any], where: str) -> RightsPolicy:
    unknown = sorted(raw.keys() - _KEYS)
    if unknown:
        raise PolicyError(f"{where}: unknown key {unknown[0]!r}; there are: {', '.join(sorted(_KEYS))}")
    name, rules = raw.get("name"), raw.get("rule")
    if not isinstance(name, str) or not isinstance(rules, list) or not all(isinstance(one, dict) for one in rules):
        raise PolicyError(f"{where}: needs a name and rules, as [[rule]]")
    return RightsPolicy(
        name=name,
        rules=tuple(_rule(one, f"{where}: rule {n}") for n, one in enumerate(rules, 1)),
        rebuild=rebuild_terms(raw.get("rebuild", {}), where),
        assessment=assessment_terms(raw.get("assessment", {}), where),
    )


def _rule(raw: dict[str, Any], where: str) -> RightsRule:
    unknown = sorted(raw.keys() - {"reason", "purposes", "when"})
    if unknown:
        raise PolicyError(f"{where}: unknown key {unknown[0]!r}; there are: reason, purposes, when")
    reason = raw.get("reason")
    if not isinstance(reason, str) or reason not in set(Reason) - _NO_DENIALS:
        raise PolicyError(f"{where}: {reason!r} is no reason to deny; there are: {', '.join(sorted(Reason))}")
    when = raw.get("when")
    if not isinstance(when, dict) or not when:
        raise PolicyError(f"{where} ({reason}): says not when it denies")
    facts = {name: _values(name, value, f"{where} ({reason})") for name, value in when.items()}
    return RightsRule(reason=Reason(reason), purposes=_purposes(raw.get("purposes"), where), when=facts)


def _purposes(raw: Any, where: str) -> tuple[Purpose, ...] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or not raw or not set(map(str, raw)) <= _PURPOSES:
        raise PolicyError(f"{where}: purposes must be a list of {', '.join(sorted(_PURPOSES))}")
    return tuple(sorted(map(Purpose, raw)))


def _values(name: str, raw: Any, where: str) -> tuple[FactValue, ...]:
    if name not in FactSignature._fields:
        raise PolicyError(f"{where}: no fact {name!r}; there are: {', '.join(FactSignature._fields)}")
    values = raw if isinstance(raw, list) else [raw]
    allowed: set[Any] = _WORDS.get(name, {True, False})
    kind = str if name in _WORDS else bool
    wrong = [value for value in values if not isinstance(value, kind) or value not in allowed]
    if wrong or not values:
        kinds = ", ".join(sorted(map(str, allowed))).lower()
        raise PolicyError(f"{where}: {name} is one of {kinds}, not {wrong[0] if wrong else 'nothing'!r}")
    return tuple(sorted(values, key=str))
