"""The candidate's harness and context: the champion's, with the proposed changes."""

from __future__ import annotations

from collections.abc import Iterable

from governance.records.context import Context
from governance.records.harness import Harness
from governance.records.lever import ContextChange, HarnessChange, Proposal


def apply(proposals: Iterable[Proposal], harness: Harness, context: Context) -> tuple[Harness, Context]:
    """Harness and context after the proposals. A change of weights touches neither."""
    for proposal in proposals:
        match proposal.change:
            case ContextChange(fact=fact):
                context = context.with_fact(fact)
            case HarnessChange(tool=tool):
                tools = tuple(tool if old.name == tool.name else old for old in harness.tools)
                harness = harness.model_copy(update={"tools": tools})
            case _:
                pass
    return harness, context
