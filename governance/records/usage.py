"""Usage: tokens and cost of a span, or of a whole run counted once.

1. ``input_tokens`` is the whole input and ``output_tokens`` the whole output. What was read from or written to a cache
   is part of the input, and reasoning is part of the output, so nothing of them is added to a total.
2. A cost is what the trace states, or what the company's own price table makes of the tokens; ``cost_basis`` says
   which. ``uncosted_tokens`` are those of which neither says anything: with any, the cost is a part of the whole.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from governance.records.base import Record


class CostBasis(StrEnum):
    """Where a cost comes from."""

    STATED = "stated"
    PRICED = "priced"
    MIXED = "mixed"


class Usage(Record):
    """Tokens and cost, each counted once."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    """Of the input, what the provider had in its cache."""
    cache_write_tokens: int = 0
    """Of the input, what the provider put into its cache."""
    reasoning_tokens: int = 0
    """Of the output, what was thought and not said."""
    cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    currency: str | None = None
    """Of the cost, as an ISO 4217 code."""
    cost_basis: CostBasis | None = None
    uncosted_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens
