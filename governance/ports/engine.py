"""The model behind an agent: prompt tokens in, sampled tokens out.

The harness runtime owns prompt and template; an engine only completes. So a served model, a scripted incumbent and a
demonstration replayed for training all stand behind one port, and the runtime cannot tell them apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from governance.records.base import Record
from governance.records.harness import Sampling
from governance.records.message import Message


class CompletionRequest(Record):
    """One model call."""

    model: str
    """Served name: the base's name or an adapter's ``served_name``."""
    messages: tuple[Message, ...]
    """The rendered conversation, for engines that read text; a token engine uses ``prompt_token_ids``."""
    prompt_token_ids: tuple[int, ...]
    tools: tuple[str, ...]
    """Names of the tools that the harness offers in this step."""
    action_schema: dict[str, Any]
    """JSON Schema that the answer must satisfy (structured output)."""
    sampling: Sampling
    trace_parent: str | None = None
    """W3C ``traceparent`` to send along."""


class Completion(Record):
    """What came back, token by token."""

    text: str
    token_ids: tuple[int, ...]
    """Sampled ids, including the end-of-turn token where it was sampled; empty for engines without tokens."""
    finish_reason: str
    model: str
    """The name that answered, as the engine reports it."""
    response_id: str
    input_tokens: int
    output_tokens: int


class ChatEngine(ABC):
    """Completes prompts."""

    @abstractmethod
    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request.

        Raises:
            TidemillError: of the implementing package, when the engine cannot answer.

        """
