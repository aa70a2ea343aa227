"""The exception tree of ``serving``.

TidemillError
└── ServingError    root of this package's errors
"""

from __future__ import annotations

from governance.errors import TidemillError


class ServingError(TidemillError):
    """Root of this package's errors."""
