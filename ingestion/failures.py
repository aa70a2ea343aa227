"""Whether a call failed, and how: by its span, else by a result that is an error in fact.

A call whose result is an error in fact has failed, though its span did not: what the tool said is its error, so no
reader takes it for a success. The kind is told once, here.
"""

from __future__ import annotations

from governance.records.trajectory import ToolInvocation
from ingestion.error_kinds import code_kind, error_kind
from ingestion.failed_results import failed_result
from ingestion.tree import Tree


def judged(call: ToolInvocation, tree: Tree) -> ToolInvocation:
    """The call with its failure, if it has one."""
    item = tree.spans.get(call.span_id)
    if call.error is not None or call.error_type is not None:
        kind = error_kind(call.error_type, call.error or "", None if item is None else item.span.attributes)
        return call.model_copy(update={"error_kind": kind})
    failed = failed_result(call.result)
    if failed is None:
        return call
    kind = code_kind(failed.code) or error_kind(failed.type, failed.text)
    return call.model_copy(update={"error": failed.text, "error_type": failed.type, "error_kind": kind})
