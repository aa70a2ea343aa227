"""The watch on answers: surrogates that a model learned by heart and lets out.

An answer is checked against what was asked: a surrogate that the request held is no fault of the model's. The finding
is told by a header (``x-tidemill-surrogates``, whole answers only: a stream's headers are gone) and by a metric, for
both. Nothing is held back or changed; what an app does with a flagged answer is the app's part. A stream is passed on
as it comes and checked when it has ended, up to ``LONGEST`` bytes of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from governance.ports.surrogate_check import SurrogateCheck
from serving.gateway_metrics import GatewayMetrics
from serving.route import tenants_of

SURROGATES_HEADER: Final = "x-tidemill-surrogates"
LONGEST: Final = 1_000_000


class OutputWatch:
    """Watches the answers of one gateway."""

    def __init__(self, check: SurrogateCheck | None, metrics: GatewayMetrics) -> None:
        """Without a check nothing is watched."""
        self._check, self.metrics = check, metrics

    async def whole(self, scope: str, asked: dict[str, Any], content: bytes) -> dict[str, str]:
        """The headers that flag an answer; none where it holds no surrogate of its own."""
        found = await self._found(scope, asked, content)
        return {SURROGATES_HEADER: ",".join(sorted(set(found)))} if found else {}

    async def stream(self, scope: str, asked: dict[str, Any], chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks as they come; what they said together is checked at the end."""
        held = bytearray()
        async for chunk in chunks:
            if self._check is not None and len(held) < LONGEST:
                held += chunk
            yield chunk
        await self._found(scope, asked, bytes(held))

    async def _found(self, scope: str, asked: dict[str, Any], content: bytes) -> tuple[str, ...]:
        if self._check is None or not content:
            return ()
        found = await run_in_threadpool(self._unprompted, self._check, scope, asked, content)
        for kind in found:
            self.metrics.surrogate(scope, kind)
        return found

    @staticmethod
    def _unprompted(check: SurrogateCheck, scope: str, asked: dict[str, Any], content: bytes) -> tuple[str, ...]:
        said, given = said_in(content), [json.dumps(asked, ensure_ascii=False)]
        return tuple(kind for tenant in tenants_of(scope) for kind in check.unprompted(tenant, said, given))


def said_in(content: bytes) -> str:
    """What an answer says, whole or streamed: each choice's pieces together, in order."""
    said: dict[Any, list[str]] = {}
    for document in _documents(content.decode("utf-8", "replace")):
        for choice in document.get("choices") or ():
            part = choice.get("message") or choice.get("delta") or choice
            said.setdefault(choice.get("index"), []).extend(_texts(part))
    return "\n".join("".join(pieces) for pieces in said.values())


def _documents(text: str) -> Iterator[dict[str, Any]]:
    """The answer's JSON, or that of each event of a stream; what is none says nothing."""
    events = [line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:")]
    for one in events or [text]:
        try:
            document = json.loads(one)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document


def _texts(part: dict[str, Any]) -> Iterator[str]:
    for name in ("reasoning_content", "content", "text"):
        if isinstance(part.get(name), str):
            yield part[name]
    for call in part.get("tool_calls") or ():
        arguments = (call.get("function") or {}).get("arguments")
        if isinstance(arguments, str):
            yield arguments
