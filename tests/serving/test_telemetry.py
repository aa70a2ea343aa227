"""Telemetry and conversations: the spans that leave, through the real exporter, to a real HTTP receiver."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from governance.ports.people import Customer, Demonstration, Feedback, Operator
from governance.ports.tools import ToolSession
from governance.records.rollout import AgentRequest, Rollout, RolloutCall
from serving.conversation import Conversation, SessionRecord
from serving.errors import EngineUnavailable, ExportError
from serving.runtime import HarnessRuntime
from serving.telemetry import SessionTracing, SteppingClock, TelemetryExport
from tests.serving.byte_tokenizer import ByteTokenizer
from tests.serving.shop_records import AT, REFUSED, Script, Session, bundle, request, say
from tests.serving.vllm_double import serving
from tests.support.clock import ManualClock
from tests.support.ids import SeededIds

READ, REPLY = say("get_order", order_id="SO-1234"), say("reply", text="On its way, Zoë ☂")
WRITE = say("refund_order", order_id="SO-1234")


@dataclass
class Receiver:
    """Takes OTLP; answers the statuses it is given, then 200."""

    statuses: list[int] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    url: str = ""

    def spans(self) -> list[dict[str, Any]]:
        found = []
        for sent in self.requests:
            for resource in MessageToDict(sent)["resourceSpans"]:
                found += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    state, app = Receiver(), FastAPI()

    @app.post("/v1/traces")
    async def traces(call: Request) -> Response:
        state.keys.append(call.headers.get("x-tidemill-key"))
        status = state.statuses.pop(0) if state.statuses else 200
        if status == 200:
            body = gzip.decompress(await call.body())
            state.requests.append(ExportTraceServiceRequest.FromString(body))
        return Response(status_code=status)

    with serving(app) as url:
        state.url = f"{url}/v1/traces"
        yield state


class Visitor(Customer):
    def __init__(self, *, happy: bool, score: int | None) -> None:
        self.happy, self.score = happy, score

    def helped(self, request: AgentRequest, rollout: Rollout, tools: ToolSession) -> bool:
        return self.happy

    def feedback(self, request: AgentRequest, *, helped_by_agent: bool) -> Feedback:
        return Feedback(score=self.score, comment="thanks" if self.score else None)


class Desk(Operator):
    def take_over(self, request: AgentRequest, tools: ToolSession) -> Demonstration:
        done = []
        for name, arguments in (("refund_order", {"order_id": "SO-1234"}), ("reply", {"text": "Refunded."})):
            done.append(RolloutCall(name=name, arguments=arguments, result=tools.call(name, arguments)))
        return Demonstration(calls=tuple(done), answer="Refunded.")


def hold(
    engine: Script, tools: Session, export: TelemetryExport | None, *, happy: bool = True, score: int | None = 1
) -> tuple[SessionRecord, SessionTracing]:
    clock = SteppingClock(AT)
    runtime = HarnessRuntime(ByteTokenizer(), None, ManualClock())
    tracing = SessionTracing(SeededIds("session"), "shop")
    talk = Conversation(runtime, tracing, clock, export.export if export else None)
    record = asyncio.run(
        talk.hold(bundle(), request(), tools, engine, customer=Visitor(happy=happy, score=score), operator=Desk())
    )
    return record, tracing


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span.get("attributes", [])}


def by_name(spans: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {span["name"]: span for span in spans}


def test_a_session_arrives_whole_under_the_tenants_key(receiver: Receiver) -> None:
    export = TelemetryExport(receiver.url, "key-of-acme")
    record, _ = hold(Script(READ, REPLY), Session(), export)
    spans = receiver.spans()
    assert receiver.keys == ["key-of-acme"]
    assert [span["name"] for span in spans] == [
        "chat base",
        "execute_tool get_order",
        "chat base",
        "invoke_agent shop",
    ]
    root = by_name(spans)["invoke_agent shop"]
    found = attributes(root)
    assert found["gen_ai.operation.name"] == "invoke_agent"
    assert found["gen_ai.agent.name"] == "shop"
    assert found["gen_ai.conversation.id"] == "session-1"
    assert found["user.id"] == "person-7"
    assert found["tidemill.release"] == bundle().release.digest()
    assert found["tidemill.world.digest"] == "w" * 64
    assert found["tidemill.request.topic"] == "delivery"
    assert found["tidemill.stop_reason"] == "answered"
    assert json.loads(found["gen_ai.input.messages"])[0]["parts"] == [{"type": "text", "content": "Where is SO-1234?"}]
    assert json.loads(found["gen_ai.output.messages"])[0]["parts"][0]["content"] == "On its way, Zoë ☂"
    assert [one["name"] for one in json.loads(found["gen_ai.tool.definitions"])] == ["get_order", "reply"]
    assert all(span.get("parentSpanId") == root["spanId"] for span in spans[:-1])
    assert record.trace_id == record.rollout.trace_id
    assert (record.helped_by_agent, record.demonstration) == (True, None)


def test_chat_and_tool_spans_carry_what_ingestion_reads(receiver: Receiver) -> None:
    hold(Script(READ, REPLY), Session(), TelemetryExport(receiver.url, "k"))
    chat, tool = receiver.spans()[0], receiver.spans()[1]
    found = attributes(chat)
    assert found["gen_ai.provider.name"] == "vllm"
    assert found["gen_ai.request.model"] == found["gen_ai.response.model"] == "base"
    assert found["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "stop"}]}
    assert int(found["gen_ai.usage.input_tokens"]) > 0
    said = json.loads(found["gen_ai.output.messages"])[0]
    assert said["parts"] == [
        {"type": "tool_call", "id": "call_1", "name": "get_order", "arguments": {"order_id": "SO-1234"}}
    ]
    assert [one["role"] for one in json.loads(found["gen_ai.input.messages"])] == ["system", "user"]
    done = attributes(tool)
    assert done["gen_ai.tool.name"] == "get_order"
    assert done["gen_ai.tool.call.id"] == "call_1"
    assert json.loads(done["gen_ai.tool.call.arguments"]) == {"order_id": "SO-1234"}
    assert json.loads(done["gen_ai.tool.call.result"]) == {"ok": "get_order"}


def test_a_takeover_and_a_vote_stand_in_the_same_trace(receiver: Receiver) -> None:
    record, _ = hold(Script("nonsense"), Session(), TelemetryExport(receiver.url, "k"), happy=False, score=-1)
    spans = by_name(receiver.spans())
    root, human = spans["invoke_agent shop"], spans["invoke_agent human_operator"]
    assert human["parentSpanId"] == root["spanId"]
    assert spans["execute_tool refund_order"]["parentSpanId"] == human["spanId"]
    assert "execute_tool reply" not in spans
    assert attributes(human)["tidemill.actor"] == "human"
    assert json.loads(attributes(human)["gen_ai.output.messages"])[0]["parts"][0]["content"] == "Refunded."
    assert root["status"]["code"] == "STATUS_CODE_ERROR"
    event = root["events"][0]
    assert event["name"] == "gen_ai.evaluation.result"
    assert attributes(event)["gen_ai.evaluation.name"] == "customer_feedback"
    assert attributes(event)["gen_ai.evaluation.score.value"] == "-1"
    assert attributes(event)["gen_ai.evaluation.explanation"] == "thanks"
    assert record.demonstration is not None


def test_refusals_of_agent_and_person_are_errors(receiver: Receiver) -> None:
    record, _ = hold(
        Script(say("get_order", order_id="12")),
        Session(REFUSED),
        TelemetryExport(receiver.url, "k"),
        happy=False,
        score=None,
    )
    spans = by_name(receiver.spans())
    assert attributes(spans["execute_tool get_order"])["error.type"] == "schema_violation"
    assert attributes(spans["execute_tool refund_order"])["error.type"] == "conflict"
    assert spans["execute_tool refund_order"]["status"]["message"] == "was refunded already"
    assert attributes(spans["invoke_agent human_operator"])["error.type"] == "conflict"
    assert record.demonstration is None
    assert "events" not in spans["invoke_agent shop"]


def test_an_engine_error_is_on_its_span(receiver: Receiver) -> None:
    hold(Script(EngineUnavailable("gone")), Session(), TelemetryExport(receiver.url, "k"))
    spans = by_name(receiver.spans())
    assert attributes(spans["chat base"])["error.type"] == "EngineUnavailable"
    assert attributes(spans["invoke_agent shop"])["tidemill.stop_reason"] == "engine_error"


def test_the_same_session_gives_the_same_bytes(receiver: Receiver) -> None:
    for _ in range(2):
        hold(Script(READ, REPLY), Session(), TelemetryExport(receiver.url, "k"))
    first, second = receiver.requests
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


def test_every_span_holds_a_traceparent_for_its_engine() -> None:
    engine = Script(READ, REPLY)
    record, _ = hold(engine, Session(), None)
    assert all(str(sent.trace_parent).split("-")[1] == record.trace_id for sent in engine.requests)


def test_export_waits_and_tries_again(receiver: Receiver) -> None:
    receiver.statuses = [400, 401]
    waits: list[float] = []
    export = TelemetryExport(receiver.url, "k", pause=0.5, sleep=waits.append)
    hold(Script(READ, REPLY), Session(), export)
    assert waits == [0.5, 1.0]
    assert len(receiver.spans()) == 4


def test_spans_that_nobody_takes_are_an_error(receiver: Receiver) -> None:
    receiver.statuses = [400] * 9
    export = TelemetryExport(receiver.url, "k", attempts=3, sleep=lambda _: None)
    with pytest.raises(ExportError, match="4 spans"):
        hold(Script(READ, REPLY), Session(), export)
    assert len(receiver.keys) == 3
    export.close()


def test_without_an_exporter_spans_stay_with_the_tracing() -> None:
    _, tracing = hold(Script(READ, REPLY), Session(), None)
    assert len(tracing.take()) == 4
    assert tracing.take() == ()


def test_half_surrogates_do_not_stop_the_export(receiver: Receiver) -> None:
    export = TelemetryExport(receiver.url, "k")
    tracing = SessionTracing(SeededIds(), "shop")
    talk = Conversation(HarnessRuntime(ByteTokenizer(), None, ManualClock()), tracing, SteppingClock(AT), export.export)
    asked = request(message="odd \ud800 letter")
    asyncio.run(
        talk.hold(bundle(), asked, Session(), Script(REPLY), customer=Visitor(happy=True, score=None), operator=Desk())
    )
    assert receiver.spans()


def test_a_stepping_clock_moves_by_its_step() -> None:
    clock = SteppingClock(AT, timedelta(seconds=2))
    assert (clock.now(), clock.now()) == (AT, AT + timedelta(seconds=2))
