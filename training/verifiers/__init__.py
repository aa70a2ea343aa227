"""Verifiers: what must be true after a run, checked by code alone, and what a run was worth."""

from __future__ import annotations

from training.verifiers.changes import same_changes
from training.verifiers.grading import grade, judge

__all__ = ["grade", "judge", "same_changes"]
