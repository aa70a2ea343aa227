"""What a dialect reads out of a span, and a span that passed the door.

A dialect is a pure function ``Span -> SpanContent``: it takes every message, tool argument and tool result out of the
attributes and events, whatever convention wrote them. What is left of the span is structure.
"""

from __future__ import annotations

from typing import Any

from governance.records.base import Record
from governance.records.mark import Mark
from governance.records.message import Message
from governance.records.span import Span
from governance.records.usage import Usage


class Evaluation(Record):
    """One ``gen_ai.evaluation.result``: feedback or a score on a span."""

    name: str
    score: float | None = None
    label: str | None = None
    explanation: str | None = None
    at_unix_nano: int
    id: str | None = None
    """The sender's own name for it (``tidemill.feedback.id``), if there is one."""


class SpanContent(Record):
    """Everything in a span that somebody said or that a tool was given or gave back."""

    operation: str | None = None
    """``chat``, ``invoke_agent``, ``execute_tool``, ``retrieval``, ...: ``gen_ai.operation.name`` or its equivalent."""
    input: tuple[Message, ...] = ()
    output: tuple[Message, ...] = ()
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_arguments: Any = None
    tool_result: Any = None
    evaluations: tuple[Evaluation, ...] = ()
    usage: Usage | None = None
    flags: tuple[str, ...] = ()
    """``corrupt_arguments``, ``missing_index``, ... : reasons that make the trajectory incomplete."""


class AdmittedSpan(Record):
    """A span after the door: masked, owned by a tenant and a subject. ``content`` is None where it was withheld."""

    tenant_id: str
    subject: str
    span: Span
    """Masked, without the attributes and events that ``content`` holds."""
    content: SpanContent | None
    withheld_reason: str | None = None
    mentions: tuple[str, ...] = ()
    """Keyed identifiers of people named in the content."""
    marks: tuple[Mark, ...] = ()
    """Where surrogates stand in its texts: what masking it again leaves alone."""
    epoch: str = ""
    """The epoch of the surrogate key under which it was masked."""
    masked_under: str = ""
    """The version of the policy that masked all of it; empty where several did."""
