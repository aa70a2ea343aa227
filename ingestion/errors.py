"""The exception tree of ``ingestion``.

TidemillError
└── IngestionError    root of this package's errors
"""

from __future__ import annotations

from governance.errors import TidemillError


class IngestionError(TidemillError):
    """Root of this package's errors."""
