"""Adapters of a vLLM server: load, unload, list, and score.

An adapter's name holds its digest, so a name always means the same weights: loading a loaded name is a no-op where the
folder is the same and an error where it is not, and nothing is ever replaced in place (cached prefixes of the old
weights would go on answering).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import httpx

from serving.errors import EngineBroken, EngineRejected, EngineUnavailable
from serving.vllm_engine import payload


class VllmAdmin:
    """The administrative side of one vLLM server."""

    def __init__(self, base_url: str, *, timeout: float = 120.0) -> None:
        """``base_url`` without a path."""
        self._base_url = base_url
        self._client = httpx.Client(base_url=base_url, timeout=timeout, trust_env=False)

    def load(self, name: str, path: Path) -> None:
        """Load the adapter in ``path`` under ``name``; a no-op when it is loaded already.

        Raises:
            EngineRejected: when the server refuses it, or holds another folder under that name.

        """
        where = self.adapters().get(name)
        if where is not None:
            if Path(where) != path.resolve():
                raise EngineRejected(f"{name} is loaded from {where}, not from {path.resolve()}")
            return
        self._send("POST", "/v1/load_lora_adapter", {"lora_name": name, "lora_path": str(path.resolve())})

    def unload(self, name: str) -> None:
        """Remove the adapter; a no-op when it is not loaded."""
        if name in self.adapters():
            self._send("POST", "/v1/unload_lora_adapter", {"lora_name": name})

    def adapters(self) -> dict[str, str]:
        """Name to folder of each loaded adapter."""
        return {str(model["id"]): str(model["root"]) for model in self._models() if model.get("parent")}

    def names(self) -> tuple[str, ...]:
        """Every name that the server answers for, bases included."""
        return tuple(str(model["id"]) for model in self._models())

    def logprobs(self, model: str, token_ids: Sequence[int]) -> tuple[float, ...]:
        """The log-probability of each token after the first, given the tokens before it.

        Raises:
            EngineBroken: when the server does not score every position.

        """
        body = {
            "model": model,
            "prompt": list(token_ids),
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,
        }
        value = payload(self._send("POST", "/v1/completions", body))
        try:
            rows = value["choices"][0]["prompt_logprobs"][1:]
            scores = tuple(float(row[str(token)]["logprob"]) for row, token in zip(rows, token_ids[1:], strict=True))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise EngineBroken(f"{model}: no score for each prompt token: {type(error).__name__}: {error}") from error
        if value.get("model") != model:
            raise EngineBroken(f"asked {model}, and {value.get('model')} scored")
        return scores

    def _models(self) -> list[dict[str, Any]]:
        models = payload(self._send("GET", "/v1/models", None)).get("data")
        if not isinstance(models, list):
            raise EngineBroken(f"{self._base_url}/v1/models: no list of models")
        return models

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> httpx.Response:
        try:
            response = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise EngineUnavailable(f"{self._base_url}{path}: {type(error).__name__}: {error}") from error
        if response.status_code >= httpx.codes.BAD_REQUEST:
            payload(response)
        return response

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
