"""The control process: ingestion's two doors and serving's gateway, each on its own port, in one event loop.

All ask the same ``LiveTenantKeys``, so a key that is revoked closes all. The gateway asks for a key even while there is
none: to revoke the last one opens nothing. Both doors are one ``Intake``: what one of them holds counts for the other.

SIGTERM and SIGINT end it in order: no new requests, bodies that are still arriving told to come back (503), requests
in progress answered, the spool sealed.
"""

from __future__ import annotations

import asyncio
import signal
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import uvicorn

from ingestion.credentials import KeyUse
from ingestion.grpc_door import GrpcDoor, TlsFiles
from ingestion.http_protocol import IntakeProtocol
from ingestion.intake import ConsentDesk, Intake
from ingestion.receiver import CONSENT, app_of
from pipelines.errors import ServiceError
from pipelines.settings import Settings
from pipelines.tenant_keys import LiveTenantKeys
from pipelines.wiring import Mill
from serving.gateway import create_app as gateway_app

GRACE_S = 10
"""How long requests in progress have to be answered when the process ends."""


class Server(uvicorn.Server):
    """A server that leaves signals to the process: uvicorn's way ends the process before the others are closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing."""
        yield


def serve(settings: Settings) -> None:
    """Serve until interrupted."""
    with Mill(settings) as mill:
        keys = LiveTenantKeys(mill.tenant_keys)
        recording = mill.recording if settings.record_intake else None
        intake = Intake(
            mill.spool,
            keys,
            clock=mill.clock,
            recording=recording,
            ledger=mill.store.ledger.lines,
            consents=ConsentDesk(
                LiveTenantKeys(mill.tenant_keys, use=KeyUse.CONSENT),
                lambda tenant, rows: list(mill.consents.take(tenant, rows, f"POST {CONSENT}")),
            ),
        )
        gateway = gateway_app(
            deployments=mill.store.deployments,
            releases=mill.store.releases,
            scopes=mill.store.deployments.scopes,
            upstream_url=mill.vllm_settings.base_url,
            clock=mill.clock,
            tenant_keys=keys,
            surrogates=mill.surrogates,
        )
        config = uvicorn.Config(gateway, settings.host, settings.gateway_port, log_level="warning")
        servers = [intake_server(intake, settings), Server(config)]
        asyncio.run(run(servers, grpc_door(intake, settings), intake.leave))


def intake_server(intake: Intake, settings: Settings) -> Server:
    """The HTTP door."""
    files = tls_files(settings)
    return Server(
        uvicorn.Config(
            app_of(intake),
            settings.host,
            settings.intake_port,
            log_level="warning",
            http=IntakeProtocol,
            ws="none",
            timeout_graceful_shutdown=GRACE_S,
            ssl_certfile=files and files.cert,
            ssl_keyfile=files and files.key,
        )
    )


def grpc_door(intake: Intake, settings: Settings) -> GrpcDoor | None:
    """The gRPC door, unless its port is 0."""
    if not settings.intake_grpc_port:
        return None
    return GrpcDoor(intake, settings.host, settings.intake_grpc_port, tls_files(settings))


def tls_files(settings: Settings) -> TlsFiles | None:
    """The certificate of both doors; None where they speak in clear.

    Raises:
        ServiceError: when the files are no certificate and its key.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    files = TlsFiles(settings.tls_cert, settings.tls_key)
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(*files)
    except OSError as error:
        why = f"intake: cannot speak TLS with certificate {files.cert} and key {files.key}: {error}"
        raise ServiceError(why) from error
    return files


async def run(servers: Sequence[Server], door: GrpcDoor | None, at_the_end: Callable[[], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT, or until one of the servers ends; ``at_the_end`` is called with the signal."""

    def leave() -> None:
        if at_the_end is not None:
            at_the_end()
        for server in servers:
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    if door is not None:
        await door.start()
    try:
        await asyncio.gather(*(server.serve() for server in servers))
    finally:
        if door is not None:
            await door.stop()
