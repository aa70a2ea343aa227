"""Records that the store's tests put in: small, whole, and different where asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from governance.records.content import AdmittedSpan, SpanContent
from governance.records.context import Context, Fact
from governance.records.dataset import DatasetManifest, DatasetRow
from governance.records.harness import Harness
from governance.records.lever import ContextChange, Lever, Pattern, Proposal
from governance.records.message import Role, text_message
from governance.records.release import AdapterRef, BaseModelRef, ReleaseBundle
from governance.records.rights import (
    KOREA,
    KOREAN_BASES,
    Basis,
    ConsentEvent,
    ConsentStatus,
    Contract,
    FactKind,
    Purpose,
    PurposeTerm,
    RightsFact,
    Verdict,
)
from governance.records.rollout import Grade, Rollout, StopReason
from governance.records.signal import Signal, SignalKind
from governance.records.span import Span
from governance.records.task import GoldAction, Split, Task
from governance.records.trajectory import Actor, ToolInvocation, Trajectory, Turn
from governance.records.verifier import Answered
from governance.records.world import World, WorldRef, WorldSubject

T0 = datetime(2026, 1, 1, tzinfo=UTC)
"""Before everything: contracts and consents hold from here."""
T1 = datetime(2026, 3, 1, 9, tzinfo=UTC)
"""When the agents ran."""
DIGEST = "0" * 63


def person(number: int) -> str:
    return f"{number:064x}"


def contract(
    tenant: str = "acme", *, basis: Basis = Basis.CONSENT, purposes: Any = None, shared: bool = False, **over: Any
) -> Contract:
    of = KOREA if basis in KOREAN_BASES else None
    named = purposes or set(Purpose) - {Purpose.COMPLY}
    terms = tuple(PurposeTerm(purpose=purpose, basis=basis, jurisdiction=of) for purpose in named)
    fields = {"id": f"contract-{tenant}", "valid_from": T0, "recorded_at": T0} | over
    fields.setdefault("terms", tuple(sorted(terms, key=str)))
    return Contract(tenant_id=tenant, shared_adapter=shared, **fields)


def consent(
    subject: str, *, tenant: str = "acme", purpose: Purpose = Purpose.TRAIN_WEIGHTS, at: datetime = T0, **over: Any
) -> ConsentEvent:
    status = over.pop("status", ConsentStatus.GIVEN)
    fields = {
        "id": f"{tenant}/{subject}/{purpose}/{status}/{at.isoformat()}",
        "valid_from": at,
        "recorded_at": at,
        "notice_digest": DIGEST + "1",
        "actor": "portal",
    } | over
    return ConsentEvent(tenant_id=tenant, subject=subject, purpose=purpose, status=status, **fields)


def consents(subject: str, tenant: str = "acme") -> list[ConsentEvent]:
    return [consent(subject, tenant=tenant, purpose=purpose) for purpose in Purpose if purpose is not Purpose.COMPLY]


def rights_fact(kind: FactKind, subject: str | None = None, *, tenant: str = "acme", **over: Any) -> RightsFact:
    fields = {
        "id": f"{tenant}/{kind}/{subject}/{over.get('trajectory_id')}/{over.get('recorded_at', T0)}",
        "valid_from": T0,
        "recorded_at": T0,
        "reason": "case 7",
        "actor": "reviewer",
    } | over
    return RightsFact(tenant_id=tenant, kind=kind, subject=subject, **fields)


def trace_id(number: int) -> str:
    return f"{number + 1:032x}"


def span_id(number: int) -> str:
    return f"{number + 1:016x}"


def span(
    trace: int, number: int = 0, *, subject: str, tenant: str = "acme", content: SpanContent | None = None, **over: Any
) -> AdmittedSpan:
    mentions = over.pop("mentions", ())
    start = over.pop("start_unix_nano", 1_772_355_600_000_000_000 + number * 1000)
    structure = {"name": "chat", "start_unix_nano": start, "end_unix_nano": start + 500} | over
    said = SpanContent(operation="chat", input=(text_message(Role.USER, f"hello from trace {trace}"),))
    return AdmittedSpan(
        tenant_id=tenant,
        subject=subject,
        span=Span(trace_id=trace_id(trace), span_id=span_id(number), **structure),
        content=content or said,
        mentions=mentions,
    )


def trajectory(trace: int, *, subject: str, tenant: str = "acme", text: str | None = None, **over: Any) -> Trajectory:
    at = over.pop("at", T1 + timedelta(seconds=trace))
    turn = Turn(
        actor=Actor.CUSTOMER,
        message=text_message(Role.USER, text or f"please refund order {trace}"),
        span_id=span_id(0),
        at=at,
    )
    call = ToolInvocation(
        span_id=span_id(1),
        call_id=f"call-{trace}",
        name="refund_order",
        arguments={"order_id": f"O-{trace}"},
        result={"ok": True},
        actor=Actor.AGENT,
        started_at=at,
    )
    fields = {"turns": (turn,), "calls": (call,), "session_id": f"s-{trace}"} | over
    return Trajectory(
        tenant_id=tenant,
        trace_id=trace_id(trace),
        subject=subject,
        agent_name="shop",
        started_at=at,
        ended_at=at + timedelta(seconds=5),
        **fields,
    )


def signal(of: Trajectory, number: int = 0, label: str = "") -> Signal:
    return Signal(
        id=f"{of.id}/{number}{label}",
        label=label,
        tenant_id=of.tenant_id,
        trajectory_id=of.id,
        subject=of.subject,
        kind=SignalKind.TOOL_ERROR,
        detail={"error": f"no such order O-{of.trace_id}"},
        at=of.started_at,
    )


def task(of: Trajectory, world_digest: str = DIGEST + "2", split: Split = Split.TRAIN) -> Task:
    return Task(
        tenant_id=of.tenant_id,
        subject=of.subject,
        topic=None,
        instruction=of.turns[0].message.text,
        world_digest=world_digest,
        at=of.started_at,
        verifiers=(Answered(),),
        gold=(GoldAction(name="refund_order", arguments={"order_id": "O-1"}),),
        split=split,
        sources=(of.id,),
        family="refund_order",
    )


def grade(of: Task, release: str) -> tuple[Grade, Rollout]:
    made = Grade(task_digest=of.digest(), release_digest=release, reward=1.0, passed=("answered",), failed=())
    run = Rollout(
        release_digest=release, model="base", steps=(), calls=(), answer=of.instruction, stop=StopReason.ANSWERED
    )
    return made, run


def row(of: Trajectory, verdict: Verdict, step: int = 0) -> DatasetRow:
    ids = tuple(ord(letter) for letter in of.turns[0].message.text)
    return DatasetRow(
        tenant_id=of.tenant_id,
        subject=of.subject,
        trajectory_id=of.id,
        step=step,
        input_ids=ids,
        completion_mask=(1,) * len(ids),
        verdict=verdict,
        origin="takeover",
    )


def manifest(rows: list[DatasetRow], scope: str = "shop@acme") -> DatasetManifest:
    digests = tuple(sorted(item.digest() for item in rows))
    return DatasetManifest(scope=scope, rows=digests, exclusions={}, policy_version="1")


def pattern(key: str, of: list[Trajectory], **evidence: Any) -> Pattern:
    return Pattern(
        key=key,
        scope="shop@acme",
        lever=Lever.CONTEXT,
        reason="the policy changed",
        evidence={"count": len(of), "trajectories": [item.id for item in of]} | evidence,
        trajectory_ids=tuple(item.id for item in of),
        subjects=len({item.subject for item in of}),
    )


def fact(key: str = "refund_window") -> Fact:
    return Fact(key=key, text=f"{key}: 14 days", valid_from=T1)


def proposal(key: str, stated: Fact) -> Proposal:
    change = ContextChange(fact=stated)
    return Proposal(pattern_key=key, scope="shop@acme", change=change, reason="it changed", created_at=T1)


def adapter(dataset: str, number: int = 1) -> AdapterRef:
    return AdapterRef(content_digest=f"{number:064x}", rank=8, target_modules=("q_proj",), dataset_digest=dataset)


def bundle(
    *, weights: AdapterRef | None = None, facts: tuple[Fact, ...] = (), prompt: str = "{tools}"
) -> ReleaseBundle:
    base = BaseModelRef(name="base", content_digest=DIGEST + "3")
    harness = Harness(agent_name="shop", system_prompt=prompt, chat_template="x", tools=(), permissions=())
    return ReleaseBundle.of(base, weights, harness, Context(facts=facts))


def world(*owners: str, source: str = DIGEST + "4", tenant: str = "acme") -> tuple[WorldRef, World, list[WorldSubject]]:
    rows = tuple({"id": f"C-{owner[-4:]}", "name": f"surrogate {owner[-4:]}"} for owner in owners)
    made = World(tables={"customers": rows, "items": ({"sku": "A"},)}, documents={"policy": "14 days"}, at=T1)
    ref = WorldRef(tenant_id=tenant, source_digest=source, masked_digest=made.digest(), at=T1)
    index = [WorldSubject(subject=o, table="customers", key_field="id", key=f"C-{o[-4:]}") for o in owners]
    return ref, made, index
