"""Both doors of an intake on loopback, certificates made on the spot, and a bare gRPC client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ingestion.grpc_door import GrpcDoor, TlsFiles
from ingestion.intake import Intake
from ingestion.telemetry import Telemetry


@contextmanager
def grpc_open(intake: Intake, tls: TlsFiles | None = None) -> Iterator[str]:
    """A gRPC door in an event loop of its own; gives its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait(work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, loop).result(timeout=20)

    door = GrpcDoor(intake, "127.0.0.1", 0, tls)
    try:
        wait(door.start())
        yield f"127.0.0.1:{door.port}"
        wait(door.stop(1.0))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()


def export(  # noqa: PLR0917
    address: str,
    message: bytes,
    metadata: Mapping[str, str],
    telemetry: Telemetry = Telemetry.TRACES,
    compression: grpc.Compression = grpc.Compression.NoCompression,
    certificate: Path | None = None,
) -> bytes:
    """One Export of raw bytes; gives the raw answer."""
    if certificate is None:
        channel = grpc.insecure_channel(address)
    else:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate.read_bytes()))
    with channel:
        call = channel.unary_unary(f"/{telemetry.service}/Export")
        answer: bytes = call(message, timeout=20, metadata=tuple(metadata.items()), compression=compression)
    return answer


def make_certificate(folder: Path) -> TlsFiles:
    """A self-signed certificate for loopback."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "intake.test")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    files = TlsFiles(folder / "intake.crt", folder / "intake.key")
    files.cert.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    files.key.touch(mode=0o600)
    files.key.write_bytes(pem)
    return files
