"""Plays a week of production: real requests through the real runtime, telemetry as OTLP/HTTP to the real intake.

1. Every session runs through the harness runtime that serving uses, in a restored copy of the day's snapshot.
2. Sessions marked real are answered by the champion through the gateway and vLLM; the others by the product's scripted
   incumbent, whose name stands on each of their spans.
3. Ids and times follow from the seed, so a session that is played again after an interruption is the same session.
   What the intake acknowledged is noted line by line in ``played/sessions.jsonl`` and is not played again.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from governance.ports.clock import IdFactory
from governance.ports.engine import ChatEngine
from governance.ports.product import DemoProduct, PlayedRequest
from governance.records.base import digest_json
from governance.records.release import ReleaseBundle
from governance.records.scope import Scope
from pipelines.operations import champion
from pipelines.wiring import Mill
from serving.conversation import Conversation
from serving.gateway_engine import GatewayEngine
from serving.runtime import HarnessRuntime
from serving.telemetry import SessionTracing, SteppingClock, TelemetryExport
from training.worlds import WorldHost

STEP = timedelta(milliseconds=350)
EVERY = 40


class SeededIds(IdFactory):
    """Ids that follow from a key: the same session has the same trace and span ids whenever it is played."""

    def __init__(self, key: str) -> None:
        """``key`` names what the ids are for."""
        self._draw = random.Random(digest_json(key))  # noqa: S311 - ids of a synthetic week must repeat

    def hex(self, bytes_: int) -> str:
        """``bytes_`` bytes as hex, never all zero."""
        return f"{self._draw.randrange(1, 256**bytes_):0{2 * bytes_}x}"


class Played:
    """The note of acknowledged sessions."""

    def __init__(self, path: Path) -> None:
        """The file is made on the first note."""
        self._path = path

    def sessions(self) -> dict[str, dict[str, Any]]:
        """Session id to what was noted; a torn last line is not a note."""
        found = {}
        for line in self._path.read_text().splitlines() if self._path.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and "session" in entry:
                found[entry["session"]] = entry
        return found

    def note(self, entry: dict[str, Any]) -> None:
        """Note one acknowledged session."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write("\n" + json.dumps(entry, sort_keys=True) + "\n")  # a torn line before it stays alone
            file.flush()


class Week:
    """One week of one product."""

    def __init__(self, mill: Mill, product: DemoProduct) -> None:
        """Wires worlds, people, engines and exporters of the week."""
        self._mill, self._product = mill, product
        schema = product.world_schema()
        self._host = WorldHost(product.app(), product.source_world, schema)
        self._customer, self._operator = product.customer(), product.operator()
        self._incumbent = product.incumbent()
        self._scopes = {tenant: scope for scope in mill.scopes() for tenant in scope.tenants}
        self._bundles = {scope.name: champion(mill, scope)[0] for scope in set(self._scopes.values())}
        intake, certificate = f"{mill.settings.intake_url}/v1/traces", mill.settings.tls_cert
        self._exports = {
            tenant: TelemetryExport(intake, mill.tenant_keys.of(tenant), certificate=certificate)
            for tenant in product.tenants
        }
        self._gateways = {tenant: self._gateway(tenant) for tenant in product.tenants}
        self._played = Played(mill.settings.home / "played" / "sessions.jsonl")

    def play(self) -> dict[str, Any]:
        """Play what is not yet acknowledged and count the week."""
        requests = self._product.week()
        done = self._played.sessions()
        waiting = [one for one in requests if one.request.session_id not in done]
        asyncio.run(self._all(waiting))
        entries = self._played.sessions()
        return {
            "sessions": len(entries),
            "real": sum(entry["real"] for entry in entries.values()),
            "simulated": sum(not entry["real"] for entry in entries.values()),
            "helped_by_agent": sum(entry["helped"] for entry in entries.values()),
            "real_helped": sum(entry["helped"] and entry["real"] for entry in entries.values()),
            "takeovers": sum(entry["takeover"] for entry in entries.values()),
            "feedback": sum(entry["score"] is not None for entry in entries.values()),
        }

    async def _all(self, waiting: Sequence[PlayedRequest]) -> None:
        gate = asyncio.Semaphore(self._mill.settings.concurrency)
        count = 0

        async def one(played: PlayedRequest) -> None:
            nonlocal count
            async with gate:
                await self._session(played)
            count += 1
            if count % EVERY == 0 or count == len(waiting):
                self._mill.tell(f"{count}/{len(waiting)} sessions played")

        await asyncio.gather(*(one(played) for played in waiting))
        await self._close(self._gateways.values())

    async def _session(self, played: PlayedRequest) -> None:
        request = played.request
        tenant = request.tenant_id
        clock = SteppingClock(request.at, STEP)
        tracing = SessionTracing(SeededIds(request.session_id), self._product.agent_name)
        runtime = HarnessRuntime(self._mill.tokenizer, tracing.tracer, clock)
        conversation = Conversation(runtime, tracing, clock, self._exports[tenant].export)
        engine: ChatEngine = self._gateways[tenant] if played.real else self._incumbent
        record = await conversation.hold(
            self._bundle(tenant),
            request,
            self._host.open(request.world_digest),
            engine,
            customer=self._customer,
            operator=self._operator,
        )
        self._played.note(
            {
                "session": request.session_id,
                "trace": record.trace_id,
                "real": played.real,
                "helped": record.helped_by_agent,
                "takeover": record.demonstration is not None,
                "score": record.feedback.score,
                "stop": record.rollout.stop.value,
            }
        )

    def _scope(self, tenant: str) -> Scope:
        return self._scopes[tenant]

    def _bundle(self, tenant: str) -> ReleaseBundle:
        return self._bundles[self._scope(tenant).name]

    def _gateway(self, tenant: str) -> GatewayEngine:
        base = f"http://{self._mill.settings.host}:{self._mill.settings.gateway_port}"
        key = self._mill.tenant_keys.of(tenant)
        digest = self._bundle(tenant).release.digest()
        return GatewayEngine(base, self._scope(tenant).name, api_key=key, release=digest)

    async def _close(self, engines: Iterable[GatewayEngine]) -> None:
        for engine in engines:
            await engine.aclose()
        for export in self._exports.values():
            export.close()
