"""The receiver's bounds."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from governance.records.base import Record


class Limits(Record):
    """How much the receiver takes, and from when."""

    max_body_bytes: int = 8 * 2**20
    """Of a request as it arrives."""
    max_unpacked_bytes: int = 32 * 2**20
    """Of a request after gzip."""
    max_in_flight: int = 64
    """Requests in progress; further ones are told to come back."""
    max_in_flight_of_tenant: int = 48
    """Of one tenant, so that there is room for others whatever one of them sends."""
    max_bytes_of_tenant: int = 48 * 2**20
    """Of the requests of one tenant together."""
    decoders: int = 4
    """Large bodies that are unpacked or read at a time; what is made of one takes memory for as long as it is read."""
    max_bytes_in_flight: int = 64 * 2**20
    """Of all requests in progress together, packed and unpacked; what does not fit is told to come back. Decoding
    takes a multiple of a body's bytes: about 3 for long texts, about 24 for many small values, and 215 for empty
    events, of which ``ingestion.otlp_bounds`` lets 124 MiB come of one body."""
    retry_after_s: int = 5
    max_age_s: int | None = None
    """Spans that ended longer ago are rejected; None takes spans of any age."""
    body_timeout_s: float = 30.0
    """How long a sender may take to send one body."""

    @model_validator(mode="after")
    def _the_largest_body_fits(self) -> Self:
        # Otherwise a lawful body would be told to come back for ever.
        for name in ("max_bytes_in_flight", "max_bytes_of_tenant"):
            if getattr(self, name) < self.max_body_bytes + self.max_unpacked_bytes:
                raise ValueError(f"{name} must hold one body of the largest size, packed and unpacked")
        return self
