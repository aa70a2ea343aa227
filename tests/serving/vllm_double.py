"""A small HTTP server that stands in for vLLM; test_vllm_contract.py holds it to what the real one does.

It answers the first action that the schema allows. Its words and scores depend on the weights of the name that was
asked, and on nothing else. ``hold`` makes completions wait, so that a test can switch in their midst.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from tests.serving.byte_tokenizer import SPECIALS, ByteTokenizer


def instance(schema: dict[str, Any], word: str) -> Any:
    """A value that satisfies a schema of the kind that tools declare."""
    if "oneOf" in schema:
        return instance(schema["oneOf"][0], word)
    if "const" in schema:
        return schema["const"]
    if schema.get("type") == "object":
        return {name: instance(rule, word) for name, rule in schema.get("properties", {}).items()}
    if schema.get("pattern") == "^SO-[0-9]{4}$":
        return "SO-1234"
    return schema.get("enum", [word])[0]


class VllmDouble:
    """Names, adapters and answers of the double."""

    def __init__(self, base: str = "base") -> None:
        self.base = base
        self.adapters: dict[str, str] = {}
        self.weights: dict[str, str] = {base: "base"}
        self.requests: list[dict[str, Any]] = []
        self.hold = threading.Event()
        self.hold.set()
        self.lie_about_model = False
        self.fail_with: int | None = None
        self.drop = 0
        self.url = ""

    def load(self, name: str, path: str) -> Response:
        config = Path(path) / "adapter_config.json"
        if not config.is_file():
            return failure(404, f"no adapter at {path}")
        if name in self.weights:
            return failure(400, f"{name} is already loaded")
        self.adapters[name] = path
        self.weights[name] = hashlib.sha256((Path(path) / "adapter_model.safetensors").read_bytes()).hexdigest()
        return Response("loaded")

    def unload(self, name: str) -> Response:
        if self.adapters.pop(name, None) is None:
            return failure(404, f"{name} is not loaded")
        del self.weights[name]
        return Response("unloaded")

    def models(self) -> list[dict[str, Any]]:
        bases = [{"id": self.base, "root": "/models/base", "parent": None}]
        return bases + [{"id": name, "root": path, "parent": self.base} for name, path in self.adapters.items()]

    def score(self, name: str, ids: list[int]) -> list[float]:
        """A made-up log-probability of each token after the first."""
        scores = []
        for place in range(1, len(ids)):
            seed = hashlib.sha256(f"{self.weights[name]}{ids[: place + 1]}".encode()).digest()
            scores.append(-4 * seed[0] / 255)
        return scores

    async def complete(self, body: dict[str, Any]) -> Response:
        self.requests.append(body)
        if self.fail_with is not None:
            return failure(self.fail_with, "told to fail")
        if body["model"] not in self.weights:
            return failure(404, f"The model `{body['model']}` does not exist.")
        weights = self.weights[body["model"]]
        while not self.hold.is_set():
            await asyncio.sleep(0.01)
        schema = body.get("structured_outputs", {}).get("json")
        text = weights[:8] if schema is None else json.dumps(instance(schema, f"says {weights[:8]}"))
        ids = [*ByteTokenizer()(text)["input_ids"], SPECIALS["<|im_end|>"]]
        prompt = body["prompt"] if isinstance(body["prompt"], list) else list(body["prompt"].encode())
        choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": "stop", "token_ids": None}
        if body.get("return_token_ids"):
            choice["token_ids"] = ids
        if body.get("logprobs") is not None:
            choice["logprobs"] = {"token_logprobs": self.score(body["model"], [*prompt, *ids])[len(prompt) - 1 :]}
        if body.get("prompt_logprobs") is not None:
            scores = self.score(body["model"], prompt)
            rows = [{str(token): {"logprob": score}} for token, score in zip(prompt[1:], scores, strict=True)]
            choice["prompt_logprobs"] = [None, *rows]
        model = "another" if self.lie_about_model else body["model"]
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids)}
        return JSONResponse({"id": "cmpl-1", "model": model, "choices": [choice], "usage": usage})

    async def chat(self, body: dict[str, Any]) -> Response:
        if body["model"] not in self.weights:
            return failure(404, f"The model `{body['model']}` does not exist.")
        if not body.get("stream"):
            message = {"role": "assistant", "content": self.weights[body["model"]][:8]}
            return JSONResponse({"id": "chat-1", "model": body["model"], "choices": [{"message": message}]})

        async def events() -> AsyncIterator[str]:
            for number in range(3):
                yield f"data: {json.dumps({'model': body['model'], 'n': number})}\n\n"
                await asyncio.sleep(0.01)
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")


def failure(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "code": status}}, status)


def app_of(double: VllmDouble) -> FastAPI:
    app = FastAPI()

    @app.get("/health")
    def health() -> Response:
        return Response()

    @app.get("/v1/models")
    def models() -> Response:
        return JSONResponse({"object": "list", "data": double.models()})

    @app.post("/v1/load_lora_adapter")
    async def load(request: Request) -> Response:
        body = await request.json()
        return double.load(body["lora_name"], body["lora_path"])

    @app.post("/v1/unload_lora_adapter")
    async def unload(request: Request) -> Response:
        return double.unload((await request.json())["lora_name"])

    @app.post("/v1/completions")
    async def completions(request: Request) -> Response:
        return await double.complete(await request.json())

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        return await double.chat(await request.json())

    return app


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port of this machine; gives its base URL."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
