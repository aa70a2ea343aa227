"""The exception tree of ``training``.

TidemillError
└── TrainingError            root of this package's errors
    ├── SftError             an adapter could not be trained
    │   ├── NoTarget         no row is left that has a token to learn
    │   ├── WorkerFailed     the training process ended without a result
    │   └── AdapterFault     the adapter is not finite, changes nothing, or is not the one its name says
    ├── DemonstrationRefused what a person did is not possible under the harness
    ├── GateInputError       the two arms are not a comparison of two releases on held-out tasks
    ├── WorldMismatch        the snapshot held under a digest is another world
    ├── LeakTestRefused      an adapter's memory cannot be tested as asked
    ├── JudgeUnavailable     a model that judges gave no reply
    └── LeverRefused         a pattern does not carry a change that this lever may make
"""

from __future__ import annotations

from governance.errors import TidemillError


class TrainingError(TidemillError):
    """Root of this package's errors."""


class SftError(TrainingError):
    """An adapter could not be trained."""


class NoTarget(SftError):
    """No row is left that has a token to learn."""


class WorkerFailed(SftError):
    """The training process ended without a result."""


class AdapterFault(SftError):
    """The adapter is not finite, changes nothing, or is not the one that its name says."""


class DemonstrationRefused(TrainingError):
    """What a person did is not possible under the harness. ``reason`` is the exclusion's reason."""

    def __init__(self, reason: str, text: str) -> None:
        """``text`` says what was refused."""
        super().__init__(text)
        self.reason = reason


class GateInputError(TrainingError):
    """The two arms are not a comparison of two releases on held-out tasks."""


class WorldMismatch(TrainingError):
    """The snapshot that is held under a digest is another world."""


class LeakTestRefused(TrainingError):
    """An adapter's memory cannot be tested as asked."""


class JudgeUnavailable(TrainingError):
    """A model that judges gave no reply that could be read."""


class LeverRefused(TrainingError):
    """A pattern does not carry a change that this lever may make: it is held for a person instead."""
