"""A small agent of records: two reads, a write and an answer, with a tool session that remembers its calls."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.ports.tools import ToolRefusal, ToolSession
from governance.records.base import digest_bytes
from governance.records.context import Context, Fact
from governance.records.harness import Effect, Harness, PermissionRule, ToolSpec
from governance.records.release import AdapterRef, BaseModelRef, ReleaseBundle
from governance.records.rollout import AgentRequest
from governance.records.world import StateChange
from tests.serving.byte_tokenizer import CHATML

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BASE = BaseModelRef(name="base", content_digest="b" * 64)


def tool(name: str, effect: Effect, **fields: dict[str, Any]) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=f"does {name}", parameters=parameters, effect=effect)


ORDER = {"type": "string", "pattern": "^SO-[0-9]{4}$"}
TEXT = {"type": "string", "minLength": 1, "maxLength": 200}
TOOLS = (
    tool("get_order", Effect.READ, order_id=ORDER),
    tool("refund_order", Effect.WRITE, order_id=ORDER),
    tool("reply", Effect.ANSWER, text=TEXT),
)


def harness(**changes: Any) -> Harness:
    values: dict[str, Any] = {
        "agent_name": "shop",
        "system_prompt": "Write one action as JSON.\nTools:\n{tools}\nFacts:\n{facts}",
        "chat_template": CHATML,
        "tools": TOOLS,
        "permissions": (
            PermissionRule(topic="delivery", tools=("get_order", "reply")),
            PermissionRule(topic="refund", tools=("refund_order",)),
        ),
    }
    return Harness(**{**values, **changes})


CONTEXT = Context(facts=(Fact(key="returns", text="Items can be returned within 30 days.", valid_from=AT),))


def bundle(adapter: AdapterRef | None = None, context: Context = CONTEXT, **changes: Any) -> ReleaseBundle:
    return ReleaseBundle.of(BASE, adapter, harness(**changes), context)


def request(topic: str | None = "delivery", message: str = "Where is SO-1234?") -> AgentRequest:
    return AgentRequest(
        tenant_id="acme",
        session_id="session-1",
        user_id="person-7",
        topic=topic,
        message=message,
        world_digest="w" * 64,
        at=AT,
    )


def say(name: str, **arguments: Any) -> str:
    return json.dumps({"tool": name, "arguments": arguments}, separators=(",", ":"))


class Session(ToolSession):
    """Remembers calls; ``refuse`` names tools that refuse."""

    def __init__(self, refuse: Mapping[str, Exception] | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.refuse = refuse or {}

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((name, arguments))
        if name in self.refuse:
            raise self.refuse[name]
        return {"ok": name}

    def changes(self) -> tuple[StateChange, ...]:
        return ()


REFUSED = {"refund_order": ToolRefusal("conflict", "was refunded already")}


class Script(ChatEngine):
    """An engine without tokens that says what it is given, in order, or raises it."""

    def __init__(self, *says: str | Exception | Callable[[CompletionRequest], Completion]) -> None:
        self.says = list(says)
        self.requests: list[CompletionRequest] = []

    async def complete(self, request: CompletionRequest) -> Completion:
        self.requests.append(request)
        said = self.says.pop(0)
        if isinstance(said, Exception):
            raise said
        if callable(said):
            return said(request)
        return completion(request, said)


def completion(request: CompletionRequest, text: str, ids: tuple[int, ...] = ()) -> Completion:
    return Completion(
        text=text,
        token_ids=ids,
        finish_reason="stop",
        model=request.model,
        response_id="r-1",
        input_tokens=len(request.prompt_token_ids),
        output_tokens=len(ids),
    )


def write_adapter(folder: Path, seed: str, **config: Any) -> AdapterRef:
    """A folder with the two files of an adapter, whose weights are one made-up tensor pair."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], "bias": "none", **config}
    (folder / "adapter_config.json").write_text(json.dumps(values))
    name = "base_model.model.model.layers.0.self_attn.q_proj"
    data = (seed.encode() * 8)[:8]
    header = json.dumps(
        {
            f"{name}.lora_A.weight": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]},
            f"{name}.lora_B.weight": {"dtype": "F32", "shape": [1, 1], "data_offsets": [4, 8]},
        }
    ).encode()
    weights = struct.pack("<Q", len(header)) + header + data
    (folder / "adapter_model.safetensors").write_bytes(weights)
    return AdapterRef(content_digest=digest_bytes(weights), rank=8, target_modules=("q_proj",), dataset_digest="d" * 64)
