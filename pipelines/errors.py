"""The exception tree of ``pipelines``.

TidemillError
└── PipelineError
    ├── ProductError     the configured agent product cannot be loaded
    ├── ServiceError     a service did not start, died, or its port is taken
    └── StepError        a step of a cycle cannot go on, and why
"""

from __future__ import annotations

from governance.errors import TidemillError


class PipelineError(TidemillError):
    """Root of this package's errors."""


class ProductError(PipelineError):
    """The configured agent product cannot be loaded."""


class ServiceError(PipelineError):
    """A service did not start, died, or its port is taken."""


class StepError(PipelineError):
    """A step of a cycle cannot go on."""
