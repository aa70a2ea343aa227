"""The served model as a ``ChatEngine``: token ids in, token ids out, through vLLM's ``/v1/completions``.

The prompt goes as ids, so the server adds no token and no template; the answer comes back as ids, end of turn
included, so nothing is tokenised twice. Structured output holds the model to the action schema. What answered must be
what was asked for: an answer under another model name is an error, not a detail.

Only a lost connection is tried again (the request may never have arrived, and a completion changes nothing); a time
limit, a 4xx and a 5xx are told as they are.
"""

from __future__ import annotations

import asyncio
from typing import Any, Self

import httpx

from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from serving.errors import EngineBroken, EngineRejected, EngineUnavailable

LOST = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
TEXT_LIMIT = 500


class VllmEngine(ChatEngine):
    """One vLLM server."""

    def __init__(
        self, base_url: str, *, timeout: float = 120.0, attempts: int = 3, pause: float = 0.2, connections: int = 64
    ) -> None:
        """``pause`` seconds after the first lost connection, doubled each time, up to ``attempts`` tries."""
        self._base_url, self._timeout = base_url, timeout
        self._attempts, self._pause = attempts, pause
        self._limits = httpx.Limits(max_connections=connections)
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, request: CompletionRequest) -> Completion:
        """Answer one request.

        Raises:
            EngineUnavailable: connection lost after every attempt, time limit, or a 5xx.
            EngineRejected: a 4xx, with the server's words.
            EngineBroken: an answer without ids, or from another model.

        """
        headers = {} if request.trace_parent is None else {"traceparent": request.trace_parent}
        response = await self._post("/v1/completions", body_of(request), headers)
        return completion_of(request, payload(response))

    async def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        for attempt in range(self._attempts):
            try:
                return await self._here().post(path, json=body, headers=headers)
            except LOST as error:
                if attempt + 1 == self._attempts:
                    raise EngineUnavailable(f"{self._base_url}{path}: {type(error).__name__}: {error}") from error
                await asyncio.sleep(self._pause * 2**attempt)
            except httpx.HTTPError as error:
                raise EngineUnavailable(f"{self._base_url}{path}: {type(error).__name__}: {error}") from error
        raise EngineUnavailable(f"{self._base_url}{path}: no attempt was allowed")

    def _here(self) -> httpx.AsyncClient:
        """The client of the running loop: connections belong to the loop that opened them."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = httpx.AsyncClient(
                base_url=self._base_url, timeout=self._timeout, limits=self._limits, trust_env=False
            )
            self._loop = loop
        return self._client

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.aclose()
        self._client = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def body_of(request: CompletionRequest) -> dict[str, Any]:
    """The request as vLLM reads it."""
    return {
        "model": request.model,
        "prompt": list(request.prompt_token_ids),
        "max_tokens": request.sampling.max_tokens,
        "temperature": request.sampling.temperature,
        "seed": request.sampling.seed,
        "structured_outputs": {"json": request.action_schema},
        "return_token_ids": True,
    }


def payload(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of an answer.

    Raises:
        EngineUnavailable: for a 5xx.
        EngineRejected: for a 4xx.
        EngineBroken: for anything that is no JSON object.

    """
    where = f"{response.request.url}: {response.status_code}"
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise EngineUnavailable(f"{where}: {response.text[:TEXT_LIMIT]}")
    if response.status_code >= httpx.codes.BAD_REQUEST:
        raise EngineRejected(f"{where}: {response.text[:TEXT_LIMIT]}")
    try:
        value = response.json()
    except ValueError as error:
        raise EngineBroken(f"{where}: not JSON") from error
    if not isinstance(value, dict):
        raise EngineBroken(f"{where}: not a JSON object")
    return value


def completion_of(request: CompletionRequest, value: dict[str, Any]) -> Completion:
    """The answer as a record.

    Raises:
        EngineBroken: when ids are missing or another model answered.

    """
    try:
        choice, usage = value["choices"][0], value["usage"]
        ids = choice["token_ids"]
        completion = Completion(
            text=choice["text"],
            token_ids=tuple(ids or ()),
            finish_reason=choice["finish_reason"] or "unknown",
            model=value["model"],
            response_id=value["id"],
            input_tokens=usage["prompt_tokens"],
            output_tokens=usage["completion_tokens"],
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise EngineBroken(f"the answer lacks what a completion must have: {type(error).__name__}: {error}") from error
    if not completion.token_ids:
        raise EngineBroken("the answer holds no token ids; the server must support return_token_ids")
    if completion.model != request.model:
        raise EngineBroken(f"asked {request.model}, and {completion.model} answered")
    return completion
