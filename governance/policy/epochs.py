"""Epochs of the surrogate key: what was masked in different ones is never joined.

Within an epoch equal values have equal surrogates; across epochs they have not, so a join would find nothing, or the
wrong row. Spans, trajectories and worlds carry the epoch in which they were masked. What has none was masked before
epochs were recorded, and joins with anything as it did.
"""

from __future__ import annotations

from collections.abc import Iterable

from governance.errors import EpochCrossed


def united(epochs: Iterable[str]) -> str:
    """The epoch of what is made of several things: theirs, or all of them, which is none that a world has."""
    return "+".join(sorted({part for epoch in epochs for part in epoch.split("+") if part}))


def require_one(first: str, second: str, where: str) -> None:
    """Let the join pass.

    Raises:
        EpochCrossed: when the two were masked in different epochs.

    """
    if first and second and first != second:
        raise EpochCrossed(
            f"{where}: masked under the surrogate keys {first} and {second}; what was masked before a rotation joins "
            "only with its own time (docs/compliance.md)"
        )
