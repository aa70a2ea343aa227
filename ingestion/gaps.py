"""Why a trajectory is not whole. Each reason is a stable code; any of them keeps it out of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from governance.records.trajectory import UNKNOWN_SUBJECT, ToolInvocation
from ingestion.dialects.messages import CORRUPT
from ingestion.log_events import PARTLY_WITHHELD
from ingestion.session_logs import SESSION
from ingestion.tree import Tree

_CONTENT_FLAGS: Final = frozenset(
    {"corrupt_arguments", "missing_index", "python_repr", "redacted", "truncated", "unsupported_part"}
)


def gaps(tree: Tree, calls: Sequence[ToolInvocation], *, has_session: bool) -> tuple[str, ...]:
    """The reasons, sorted."""
    spans = [item.span for item in tree.spans.values()]
    contents = [item.content for item in tree.spans.values()]
    dropped = any(span.dropped_attributes_count for span in spans) or any(
        event.dropped_attributes_count for span in spans for event in span.events
    )
    subjects = {item.subject for item in tree.spans.values()} - {UNKNOWN_SUBJECT}
    found = {
        "missing_root": tree.root is None,
        "orphaned_spans": bool(tree.missing),
        "several_roots": bool(tree.extra_roots),
        "open_span": any(not span.end_unix_nano for span in spans),
        "dropped_attributes": dropped,
        "dropped_events": any(span.dropped_events_count for span in spans),
        "events_only": any(SESSION in span.flags for span in spans),
        "missing_session_id": dropped and not has_session,
        "several_subjects": len(subjects) > 1,
        "withheld": any(content is None for content in contents)
        or any(PARTLY_WITHHELD in span.flags for span in spans),
        "truncated": any("length" in _finish_reasons(span.attributes) for span in spans),
    }
    flags = {flag for content in contents if content is not None for flag in content.flags}
    if CORRUPT not in flags:  # a text that a tool was given where its arguments by name should be
        found["bare_arguments"] = any(isinstance(call.arguments, str) for call in calls)
    return tuple(sorted({reason for reason, holds in found.items() if holds} | (flags & _CONTENT_FLAGS)))


def _finish_reasons(attributes: dict[str, object]) -> list[object]:
    value = attributes.get("gen_ai.response.finish_reasons")
    return value if isinstance(value, list) else [value]
