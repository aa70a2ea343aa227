"""Who answers for a tenant's data: what a consent receipt says besides the consent (ISO/IEC TS 27560, party fields)."""

from __future__ import annotations

from governance.records.base import Record


class Controller(Record):
    """A data controller, as its own documents name it."""

    name: str
    address: str
    contact: str
    """Where a person reaches them: a mail address or a URL."""
    jurisdictions: tuple[str, ...]
    """ISO 3166 codes."""
    storage_locations: tuple[str, ...]
    """ISO 3166 codes of where the data lies."""
    recipients: tuple[str, ...] = ()
    """Who else gets it; nobody when empty."""
    language: str
    """ISO 639 code of its notices."""
    withdrawal: str
    """How a person withdraws, in words or as a URL."""


class ControllerFile(Record):
    """The file: one table for each tenant."""

    controller: dict[str, Controller] = {}
