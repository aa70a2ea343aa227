"""A signature: who signed, and what came of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from governance.records.base import Record


class Signature(Record):
    """An Ed25519 signature and the public key that it is checked with, in hex digits."""

    public_key: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    value: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{128}$")]
