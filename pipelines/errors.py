"""The exception tree of ``pipelines``.

TidemillError
└── PipelineError
    ├── ProductError     the configured agent product cannot be loaded
    ├── TableError       a file that a setting names cannot be read
    ├── LineError        a line of a file of texts is not what it must be
    ├── ServiceError     a service did not start, died, or its port is taken
    └── StepError        a step of a cycle cannot go on, and why
"""

from __future__ import annotations

from governance.errors import TidemillError


class PipelineError(TidemillError):
    """Root of this package's errors."""


class ProductError(PipelineError):
    """The configured agent product cannot be loaded."""


class TableError(PipelineError):
    """A file that a setting names cannot be read."""


class LineError(PipelineError):
    """A line of a file of texts is not what it must be."""

    def __init__(self, number: int, words: str) -> None:
        """``words`` name the field and never its value."""
        super().__init__(f"line {number}: {words}")
        self.number = number


class ServiceError(PipelineError):
    """A service did not start, died, or its port is taken."""


class StepError(PipelineError):
    """A step of a cycle cannot go on."""
