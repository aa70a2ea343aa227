"""Thresholds of the detectors: one record, each with its reason. A higher one says less and is surer of it."""

from __future__ import annotations

from pydantic import Field

from governance.records.base import Record


class Thresholds(Record):
    """When something counts as a signal."""

    loop_calls: int = Field(default=3, ge=2)
    """Calls that make a loop. One retry after an error is good practice, and is no loop."""
    loop_likeness: float = Field(default=0.9, gt=0, le=1)
    """How much of their written form two arguments share to be nearly the same: one changed letter or digit in a call
    of ordinary length. Only calls that failed may be nearly the same; successes must be exactly so, since the pages
    and the items of a list are read with nearly the same arguments."""
    loop_compared: int = Field(default=4000, ge=1)
    """Characters of an argument that are compared for likeness: the comparison is quadratic."""
    refusal_within: int = Field(default=200, ge=1)
    """Characters at the beginning of an answer in which a refusal must stand: later on it is about a detail."""
    refusal_length: int = Field(default=600, ge=1)
    """A refusal is short: an answer that is longer has helped with something."""
    empty_text: int = Field(default=200, ge=1)
    """A text that says that nothing was found is short; a longer one has found something."""
    outlier_sample: int = Field(default=20, ge=5)
    """Earlier runs of the agent below which no run is called an outlier: median and spread of fewer are noise."""
    outlier_window: int = Field(default=200, ge=5)
    """Earlier runs that are compared with: recent ones, since agents and models change."""
    outlier_distance: float = Field(default=6.0, gt=0)
    """Robust standard deviations (1.4826 times the median absolute deviation) above the median. Durations and costs
    have long tails, so it is twice what it would be for a normal distribution."""
    outlier_ratio: float = Field(default=2.0, gt=1)
    """Times the median that an outlier is at least: where all runs are alike the spread is near nothing, and a
    difference that nobody would care for would be an outlier."""
