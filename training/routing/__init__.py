"""Routing: from the traces alone, where each failure is put right. The cheapest reversible lever comes first."""

from training.routing.route import route
from training.routing.thresholds import Thresholds

__all__ = ["Thresholds", "route"]
