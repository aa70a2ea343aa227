"""The kinds of a tool's failure: what has to be done about it is different for each."""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """Why a tool did not do what it was asked."""

    RATE_LIMIT = "rate_limit"
    """Too many requests, or a quota is spent: wait."""
    AUTH = "auth"
    """Nobody, or somebody without the right to it."""
    TIMEOUT = "timeout"
    """No answer in time."""
    SCHEMA = "schema"
    """The arguments are not what the tool takes."""
    NOT_FOUND = "not_found"
    """What was named is not there, or the tool itself."""
    CONFLICT = "conflict"
    """The state does not allow it: it exists already, it changed in between."""
    UNAVAILABLE = "unavailable"
    """The service behind the tool does not answer, or breaks."""
    OTHER = "other"
    """None of these can be told."""
