"""Who a command is about: the tenant by name, the person's id from standard input, so that it lands in no history."""

from __future__ import annotations

import sys

from governance.errors import RecordError
from pipelines.wiring import Mill

MOST_WORDS = 64 * 1024
"""Bytes that are read of standard input."""


def read_person() -> str:
    """The id on standard input: one line, not empty, without control characters.

    Raises:
        RecordError: saying what is wrong with it, never the id itself.
    """
    data = sys.stdin.buffer.read(4097)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordError("the person's id on standard input is not UTF-8") from error
    lines = text.rstrip("\n").split("\n")
    if len(data) > 4096 or len(lines) != 1:
        raise RecordError("standard input must hold one person's id on one line")
    raw_id = lines[0].strip()
    if not raw_id:
        raise RecordError("standard input is empty: it must hold a person's id, as in `echo C-1001 | tidemill ...`")
    if not raw_id.isprintable():
        raise RecordError("the person's id on standard input holds control characters")
    return raw_id


def read_person_and_words() -> tuple[str, str]:
    """The id on the first line of standard input, and what stands below it.

    Raises:
        RecordError: saying what is wrong, never what was read.
    """
    data = sys.stdin.buffer.read(MOST_WORDS + 1)
    try:
        raw_id, _, words = data.decode("utf-8").partition("\n")
    except UnicodeDecodeError as error:
        raise RecordError("standard input is not UTF-8") from error
    if len(data) > MOST_WORDS:
        raise RecordError(f"standard input holds more than {MOST_WORDS} bytes")
    raw_id, words = raw_id.strip(), words.strip()
    if not raw_id or not raw_id.isprintable():
        raise RecordError("the first line of standard input must hold a person's id")
    if not words:
        raise RecordError("below the person's id, standard input must hold what is right instead")
    return raw_id, words


def known_tenant(mill: Mill, tenant: str) -> str:
    """The tenant, if there is one of that name.

    Raises:
        RecordError: naming the tenants that there are.
    """
    known = sorted({*mill.store.rights.tenants(), *mill.tenant_keys.by_key().values()})
    if tenant not in known:
        none = f"none; make one: tidemill tenant keys add --tenant {tenant}"
        raise RecordError(f"no tenant {tenant!r}: known are {', '.join(known) or none}")
    return tenant
