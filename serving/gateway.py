"""The gateway: an OpenAI-compatible door in front of vLLM, where a model's name is a scope.

1. Each request is routed once, by the deployment table (``serving.route``); it then finishes on that release, whatever
   is promoted meanwhile. The header ``x-tidemill-release`` names the release, and ``model`` in the answer is the name
   under which the engine served it: an answer from another model is a 502, never passed on.
2. A route that was remembered while its adapter was unloaded is read again, once.
3. Bodies are bounded while they are read. A tenant's key opens the scopes of that tenant alone; the keys in force are
   asked for on every request.
4. Streams are passed through as they come. An answer with a surrogate that its request did not hold is counted, and
   flagged where its headers are not sent yet (``serving.output_watch``).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from governance.ports.clock import Clock
from governance.ports.surrogate_check import SurrogateCheck
from serving.errors import RouteUnavailable, UnknownScope
from serving.gateway_metrics import GatewayMetrics
from serving.output_watch import OutputWatch
from serving.route import Deployments, Releases, Route, Routes, tenants_of

RELEASE_HEADER = "x-tidemill-release"
KEY_HEADER = "x-tidemill-key"
PASSED_ON = ("traceparent", "tracestate")
KeySource = Callable[[], Mapping[str, str]]
"""Gives the API keys in force, each with its tenant."""


class _Refused(Exception):
    """A request that ends here, with an OpenAI-style error."""

    def __init__(self, status: int, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.status, self.extra = status, extra


class Gateway:
    """Routes and forwards."""

    def __init__(
        self,
        routes: Routes,
        upstream: httpx.AsyncClient,
        tenant_keys: Mapping[str, str] | KeySource | None,
        max_body_bytes: int,
        watch: OutputWatch,
    ) -> None:
        """``tenant_keys`` maps an API key to its tenant, or gives the mapping in force; None asks for no key."""
        self.routes, self.metrics = routes, watch.metrics
        self._upstream, self._keys, self._most = upstream, tenant_keys, max_body_bytes
        self._watch = watch

    async def forward(self, request: Request, path: str) -> Response:
        """Answer one request with the champion of its scope."""
        began = self.metrics.begin()
        scope, status = "", 500
        try:
            body = await self._body(request)
            scope = body["model"]
            self._permit(request, scope)
            route = await self._route(scope)
            response = await self._answer(request, path, body, route)
            status = response.status_code
            return response
        except _Refused as refused:
            status = refused.status
            return error_response(status, str(refused), **refused.extra)
        finally:
            self.metrics.end(began, scope if status != httpx.codes.NOT_FOUND else "", status)

    async def _body(self, request: Request) -> dict[str, Any]:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > self._most:
                raise _Refused(413, f"the body is larger than {self._most} bytes")
        try:
            body = json.loads(bytes(data))
        except (ValueError, RecursionError) as error:
            raise _Refused(400, "the body is not JSON") from error
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            raise _Refused(400, "the body must be an object with a string 'model', the name of a scope")
        return body

    def _permit(self, request: Request, scope: str) -> None:
        if self._keys is None:
            return
        keys = self._keys if isinstance(self._keys, Mapping) else self._keys()
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        tenant = keys.get(request.headers.get(KEY_HEADER, bearer))
        if tenant is None:
            raise _Refused(401, "an API key is needed")
        if tenant not in tenants_of(scope):
            raise _Refused(403, f"this key does not open {scope}")

    async def _route(self, scope: str, *, fresh: bool = False) -> Route:
        try:
            return await run_in_threadpool(self.routes.resolve, scope, fresh=fresh)
        except UnknownScope as error:
            known = [] if self._keys is not None else list(await run_in_threadpool(self.routes.names))
            raise _Refused(404, str(error), scopes=known) from error
        except RouteUnavailable as error:
            raise _Refused(503, str(error)) from error

    async def _answer(self, request: Request, path: str, body: dict[str, Any], route: Route) -> Response:
        response = await self._send(request, path, body, route)
        if response.status_code == httpx.codes.NOT_FOUND:
            again = await self._route(route.scope, fresh=True)
            if again.served_name != route.served_name:
                await response.aclose()
                route, response = again, await self._send(request, path, body, again)
        headers = {RELEASE_HEADER: route.release_digest}
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            chunks = self._watch.stream(route.scope, body, _stream(response))
            return StreamingResponse(chunks, response.status_code, headers, media_type="text/event-stream")
        content = await _whole(response)
        if response.status_code == httpx.codes.OK:
            _require_model(content, route.served_name)
            headers |= await self._watch.whole(route.scope, body, content)
        return Response(content, response.status_code, headers, media_type=response.headers.get("content-type"))

    async def _send(self, request: Request, path: str, body: dict[str, Any], route: Route) -> httpx.Response:
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        sent = self._upstream.build_request("POST", path, json={**body, "model": route.served_name}, headers=headers)
        try:
            return await self._upstream.send(sent, stream=True)
        except httpx.TimeoutException as error:
            raise _Refused(504, "the engine did not answer in time") from error
        except httpx.HTTPError as error:
            raise _Refused(502, f"the engine cannot be reached: {type(error).__name__}") from error


async def _whole(response: httpx.Response) -> bytes:
    try:
        return await response.aread()
    except httpx.HTTPError as error:
        raise _Refused(502, f"the engine broke off: {type(error).__name__}") from error
    finally:
        await response.aclose()


async def _stream(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    finally:
        await response.aclose()


def _require_model(content: bytes, served_name: str) -> None:
    try:
        answered = json.loads(content).get("model")
    except (ValueError, AttributeError) as error:
        raise _Refused(502, "the engine's answer is not a JSON object") from error
    if answered != served_name:
        raise _Refused(502, f"asked {served_name}, and {answered} answered")


def error_response(status: int, message: str, **extra: Any) -> JSONResponse:
    """An error in OpenAI's form."""
    return JSONResponse({"error": {"message": message, "code": status, **extra}}, status)


def create_app(
    *,
    deployments: Deployments,
    releases: Releases,
    scopes: Callable[[], Sequence[str]],
    upstream_url: str,
    clock: Clock,
    tenant_keys: Mapping[str, str] | KeySource | None = None,
    max_body_bytes: int = 1_000_000,
    timeout: float = 300.0,
    surrogates: SurrogateCheck | None = None,
) -> FastAPI:
    """The gateway as an ASGI application; ``surrogates`` watches what is answered."""
    metrics = GatewayMetrics(clock)
    upstream = httpx.AsyncClient(base_url=upstream_url, timeout=timeout, trust_env=False)
    routes = Routes(deployments, releases, scopes, clock)
    gateway = Gateway(routes, upstream, tenant_keys, max_body_bytes, OutputWatch(surrogates, metrics))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await upstream.aclose()

    app = FastAPI(title="Tidemill gateway", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    _mount(app, gateway, upstream)
    return app


def _mount(app: FastAPI, gateway: Gateway, upstream: httpx.AsyncClient) -> None:
    @app.post("/v1/completions")
    async def completions(request: Request) -> Response:
        return await gateway.forward(request, "/v1/completions")

    @app.post("/v1/chat/completions")
    async def chat_completions(request: Request) -> Response:
        return await gateway.forward(request, "/v1/chat/completions")

    @app.get("/v1/models")
    async def models() -> Response:
        names = await run_in_threadpool(gateway.routes.names)
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    @app.get("/health")
    async def health() -> Response:
        try:
            alive = (await upstream.get("/health", timeout=5)).status_code == httpx.codes.OK
        except httpx.HTTPError:
            alive = False
        return JSONResponse({"status": "ok" if alive else "engine unreachable"}, 200 if alive else 503)

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(gateway.metrics.render(), media_type="text/plain; version=0.0.4")
