"""The exception tree of ``serving``.

    TidemillError
    └── ServingError               root of this package's errors
        ├── BaseModelError         the base model cannot be found, converted or recognised
        ├── TemplateError          the chat template renders what the harness rules forbid
        │   └── TokenMismatch      token ids are not the ones that were sampled
        ├── EngineError            a model call came to nothing
        │   ├── EngineUnavailable  nobody answered: connection, time limit, 5xx
        │   ├── EngineRejected     the engine refused the request: 4xx
        │   └── EngineBroken       the answer does not have the shape it must have
        ├── ServerError            the engine's process did not start, or ended
        ├── ExportError            telemetry could not be delivered
        ├── UnknownScope           no champion is deployed for that name
        ├── RouteUnavailable       the deployment table cannot be read, and what is remembered is too old
        ├── PromotionRefused       a release may not become champion
        │   ├── AdapterIncompatible  the engine cannot serve the adapter as it was trained
        │   └── ProbeFailed        what is served is not what was trained
        └── TrackerError           the registry contradicts what it is told

Each message names what failed and where.
"""

from __future__ import annotations

from governance.errors import TidemillError


class ServingError(TidemillError):
    """Root of this package's errors."""


class BaseModelError(ServingError):
    """The base model cannot be found, converted or recognised."""


class TemplateError(ServingError):
    """The chat template renders what the harness rules forbid."""


class TokenMismatch(TemplateError):
    """Token ids are not the ones that were sampled."""


class EngineError(ServingError):
    """A model call came to nothing."""


class EngineUnavailable(EngineError):
    """Nobody answered: connection, time limit or a 5xx."""


class EngineRejected(EngineError):
    """The engine refused the request with a 4xx."""


class EngineBroken(EngineError):
    """The engine's answer does not have the shape that it must have."""


class ServerError(ServingError):
    """The engine's process did not start, or ended."""


class ExportError(ServingError):
    """Telemetry could not be delivered."""


class UnknownScope(ServingError):
    """No champion is deployed for that name."""


class RouteUnavailable(ServingError):
    """The deployment table cannot be read, and what is remembered is older than allowed."""


class PromotionRefused(ServingError):
    """A release may not become champion."""


class AdapterIncompatible(PromotionRefused):
    """The engine cannot serve the adapter as it was trained."""


class ProbeFailed(PromotionRefused):
    """What is served is not what was trained."""


class TrackerError(ServingError):
    """The registry contradicts what it is told."""
