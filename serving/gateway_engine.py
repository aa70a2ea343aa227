"""The champion as a ``ChatEngine``: the same requests as to vLLM, sent through the gateway to a scope.

The caller says which release it runs; the gateway says which one answered. Where the champion was switched between the
two, the answer is refused as broken rather than mixed into a run of another release.
"""

from __future__ import annotations

from governance.ports.engine import Completion, CompletionRequest
from serving.errors import EngineBroken
from serving.gateway import KEY_HEADER, RELEASE_HEADER
from serving.vllm_engine import VllmEngine, body_of, completion_of, payload


class GatewayEngine(VllmEngine):
    """One scope behind a gateway."""

    def __init__(self, base_url: str, scope: str, *, api_key: str = "", release: str | None = None) -> None:
        """``release`` is the digest that must answer; None takes whichever is champion."""
        super().__init__(base_url)
        self._scope, self._key, self._release = scope, api_key, release

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request by the scope's champion.

        Raises:
            EngineUnavailable: connection lost after every attempt, time limit, or a 5xx.
            EngineRejected: a 4xx, with the gateway's words.
            EngineBroken: an answer without ids, from another model, or of another release than the run's.

        """
        headers = {KEY_HEADER: self._key} if self._key else {}
        if request.trace_parent is not None:
            headers["traceparent"] = request.trace_parent
        response = await self._post("/v1/completions", {**body_of(request), "model": self._scope}, headers)
        answered = response.headers.get(RELEASE_HEADER)
        if response.is_success and self._release is not None and answered != self._release:
            raise EngineBroken(f"asked release {self._release[:12]}, and {(answered or 'none')[:12]} answered")
        return completion_of(request, payload(response))
