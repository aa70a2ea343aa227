"""The receiver's bounds."""

from __future__ import annotations

from governance.records.base import Record


class Limits(Record):
    """How much the receiver takes, and from when."""

    max_body_bytes: int = 8 * 2**20
    """Of a request as it arrives."""
    max_unpacked_bytes: int = 32 * 2**20
    """Of a request after gzip."""
    max_in_flight: int = 64
    """Requests in progress; further ones are told to come back."""
    retry_after_s: int = 5
    max_age_s: int | None = None
    """Spans that ended longer ago are rejected; None takes spans of any age."""
    body_timeout_s: float = 30.0
    """How long a sender may take to send one body."""
