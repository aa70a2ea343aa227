"""A judge behind an OpenAI-compatible endpoint: vLLM's, or anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import httpx

from governance.ports.judge import ChatMessage, JudgeModel
from training.errors import JudgeUnavailable

MOST_TOKENS: Final = 64


class OpenAIJudge(JudgeModel):
    """Asks ``/v1/chat/completions``, greedily."""

    def __init__(self, url: str, model: str, key: str = "", timeout_s: float = 60.0) -> None:
        """``url`` is the endpoint's base, without ``/v1``."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout_s)
        self._model = model

    @property
    def name(self) -> str:
        """The served name."""
        return self._model

    def complete(self, messages: Sequence[ChatMessage]) -> str:
        """The reply.

        Raises:
            JudgeUnavailable: when the endpoint does not answer with one.

        """
        asked = {
            "model": self._model,
            "messages": [one._asdict() for one in messages],
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
        }
        try:
            reply = self._client.post("/v1/chat/completions", json=asked)
            reply.raise_for_status()
            said = reply.json()["choices"][0]["message"]["content"]
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            raise JudgeUnavailable(f"{self._model}: {type(error).__name__}: {error}") from error
        if not isinstance(said, str):
            raise JudgeUnavailable(f"{self._model}: the reply has no text")
        return said

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
