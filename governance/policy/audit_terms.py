"""What of an audit event stands in clear, and what as a salted commitment.

An event is chained for good, so it must hold nothing that would have to leave with a person. What is known to be
about the installation stands in clear: the act, its role, numbers, and the words of ``CLEAR_KEYS`` and
``CLEAR_TARGETS``. Every other string is replaced by a commitment, HMAC-SHA256 over its place and itself under a salt.
Salts of people leave with them; from then on a commitment tells nothing, and the chain holds as before.

A commitment says what it is of, so whoever knows the value can ask whether an event is about it for as long as the salt
is there.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Any, Final

from governance.records.audit import AuditEvent

PREFIX: Final = "hmac-sha256:"
PERSON: Final = frozenset({"subject", "subjects", "person", "mention"})
"""Keys and kinds of targets whose values are people's keyed hashes."""
CLEAR_TARGETS: Final = frozenset(
    """
    act adapter approval assessment audit chain checkpoint contract cycle dataset declaration door erasure export import
    key manifest masking-list notice policy principal promotion quarantine recipient release request retention review
    role rule scope segment source table tasks tenant token world
    """.split()  # noqa: SIM905 - a list of words reads as one
)
"""Kinds of things of which no single person is behind."""
CLEAR_KEYS: Final = frozenset(
    """
    act action adapter adapters aim approver arm asked_by basis builder check contract dataset datasets deadline
    decision digest dropped duty ends entity_type exclusions error expires_at fates format holds kind lane leaks list
    made_for masked merkle_root method mode notice_digest old_until outcome place policy policy_version principal
    public_key purpose purposes reasons recipient release releases remaining report request role roles root scope
    scopes state states status step swept table tables tenants token tokens types until verdict version
    """.split()  # noqa: SIM905 - a list of words reads as one
)
"""Keys of details whose strings name terms of ours, artifacts and times, and never a person."""
_WORD: Final = re.compile(r"[a-z][a-z_-]{0,39}")
_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_ .-]{0,39}")

Commit = Callable[[str, str], str]
"""(person or "", what is committed to) to the commitment."""


def commitment(salt: bytes, value: str) -> str:
    """What stands for ``value``."""
    return PREFIX + hmac.new(salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def committed(event: AuditEvent, commit: Commit) -> AuditEvent:
    """The event as it is chained."""
    detail = {_key(key, commit): _value(key, value, commit) for key, value in event.detail.items()}
    return event.model_copy(update={"target": _target(event.target, commit), "detail": detail})


def _target(target: str, commit: Commit) -> str:
    kind, colon, rest = target.partition(":")
    if not _WORD.fullmatch(kind):
        return _hidden("target", target, commit)
    return target if not colon or kind in CLEAR_TARGETS else f"{kind}:{_hidden(kind, rest, commit)}"


def _value(key: str, value: Any, commit: Commit) -> Any:
    if isinstance(value, str):
        return value if key in CLEAR_KEYS else _hidden(key, value, commit)
    if isinstance(value, dict):
        return {
            _key(name, commit): _value(key if key in CLEAR_KEYS else name, one, commit) for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_value(key, one, commit) for one in value]
    return value


def _key(key: str, commit: Commit) -> str:
    return key if _KEY.fullmatch(key) else _hidden("key", key, commit)


def _hidden(place: str, value: str, commit: Commit) -> str:
    if value.startswith(PREFIX):
        return value
    person = value.rpartition("/")[2] if place in PERSON else ""
    return commit(person, person or f"{place}:{value}")
