"""The control process: ingestion's receiver and serving's gateway, each on its own port, in one event loop.

Both ask the same ``LiveTenantKeys``, so a key that is revoked closes both. The gateway asks for a key even while there
is none: to revoke the last one opens nothing.
"""

from __future__ import annotations

import asyncio

import uvicorn

from ingestion.receiver import create_app as intake_app
from pipelines.settings import Settings
from pipelines.tenant_keys import LiveTenantKeys
from pipelines.wiring import Mill
from serving.gateway import create_app as gateway_app


def serve(settings: Settings) -> None:
    """Serve until interrupted."""
    with Mill(settings) as mill:
        keys = LiveTenantKeys(mill.tenant_keys)
        intake = intake_app(
            mill.spool, keys, clock=mill.clock, recording=mill.recording if settings.record_intake else None
        )
        gateway = gateway_app(
            deployments=mill.store.deployments,
            releases=mill.store.releases,
            scopes=mill.store.deployments.scopes,
            upstream_url=mill.vllm_settings.base_url,
            clock=mill.clock,
            tenant_keys=keys,
        )
        servers = [
            uvicorn.Server(uvicorn.Config(intake, settings.host, settings.intake_port, log_level="warning")),
            uvicorn.Server(uvicorn.Config(gateway, settings.host, settings.gateway_port, log_level="warning")),
        ]
        asyncio.run(_both(servers))


async def _both(servers: list[uvicorn.Server]) -> None:
    await asyncio.gather(*(server.serve() for server in servers))
