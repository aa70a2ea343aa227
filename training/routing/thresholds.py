"""How much evidence a pattern needs before a lever moves. A small model also fails at random: less is held."""

from __future__ import annotations

from governance.records.base import Record


class Thresholds(Record):
    """The least evidence for a lever."""

    trajectories: int = 5
    subjects: int = 3
    share: float = 0.1
    """Of the runs (or calls) in which the failure could have shown, how many showed it."""
    consistency: float = 0.8
    """Of the evidence about what would have been right, how much agrees."""
    same_words: float = 0.8
    """Two requests are alike when this share of their words is common to both."""
