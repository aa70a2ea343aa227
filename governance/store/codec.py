"""How a span and a trajectory are written: structure in the row, every word in blocks; and how they are read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from governance.records.content import AdmittedSpan
from governance.records.trajectory import Trajectory
from governance.store.blocks import BlockName, Collector, Owner, OwnerKind, value_of


def span_id(trace: str, span: str) -> str:
    """The owner id of a span."""
    return f"{trace}/{span}"


def write_span(item: AdmittedSpan, collector: Collector) -> dict[str, Any]:
    """The row's body; words go to the collector."""
    key = span_id(item.span.trace_id, item.span.span_id)
    owner = collector.owner(Owner(item.tenant_id, OwnerKind.SPAN, key, item.subject))
    body = item.plain()
    content = body["content"]
    if content is not None:
        for role in ("input", "output"):
            content[role] = [collector.ref(owner, role, message) for message in content[role]]
        for role in ("tool_arguments", "tool_result"):
            content[role] = collector.ref(owner, role, content[role])
        for evaluation in content["evaluations"]:
            evaluation["explanation"] = collector.ref(owner, "explanation", evaluation["explanation"])
    return body


def read_span(body: dict[str, Any], blocks: Mapping[BlockName, Any]) -> AdmittedSpan:
    """The span with its words back in place."""
    content, tenant = body["content"], body["tenant_id"]
    if content is not None:
        for role in ("input", "output"):
            content[role] = [value_of(tenant, ref, blocks) for ref in content[role]]
        for role in ("tool_arguments", "tool_result"):
            content[role] = value_of(tenant, content[role], blocks)
        for evaluation in content["evaluations"]:
            evaluation["explanation"] = value_of(tenant, evaluation["explanation"], blocks)
    return AdmittedSpan.model_validate(body)


def write_trajectory(item: Trajectory, collector: Collector) -> dict[str, Any]:
    """The row's body; words go to the collector."""
    owner = collector.owner(Owner(item.tenant_id, OwnerKind.TRAJECTORY, item.id, item.subject))
    body = item.plain()
    for turn in body["turns"]:
        turn["message"] = collector.ref(owner, turn["actor"], turn["message"])
    for call in body["calls"]:
        for role in ("arguments", "result", "error"):
            call[role] = collector.ref(owner, role, call[role])
    return body


def read_trajectory(body: dict[str, Any], blocks: Mapping[BlockName, Any]) -> Trajectory:
    """The trajectory with its words back in place."""
    tenant = body["tenant_id"]
    for turn in body["turns"]:
        turn["message"] = value_of(tenant, turn["message"], blocks)
    for call in body["calls"]:
        for role in ("arguments", "result", "error"):
            call[role] = value_of(tenant, call[role], blocks)
    return Trajectory.model_validate(body)
