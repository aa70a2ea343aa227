"""The exception tree of ``training``.

TidemillError
└── TrainingError    root of this package's errors
"""

from __future__ import annotations

from governance.errors import TidemillError


class TrainingError(TidemillError):
    """Root of this package's errors."""
