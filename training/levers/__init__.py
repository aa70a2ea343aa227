"""Levers: what a pattern changes, and a candidate that carries the changes."""

from training.levers.candidate import apply

__all__ = ["apply"]
