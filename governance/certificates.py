"""Certificates: erasure reports under the signing key.

Anybody who has the certificate can check its signature with the public key that stands in it; whoever has the keys of
this installation also learns that it is one of theirs. A certificate that was signed under a key since rotated away is
checked with the public keys that are named as trusted.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from governance import signing
from governance.errors import SignatureError
from governance.ports.keys import KeyProvider
from governance.records.erasure import ErasureReport

LABEL: Final = "tidemill erasure certificate"


def certify(report: ErasureReport, keys: KeyProvider) -> ErasureReport:
    """The report under a signature."""
    return report.model_copy(update={"signature": signing.sign(keys, LABEL, report.signed_bytes)})


def check(report: ErasureReport, trusted: Collection[str]) -> None:
    """Let a certificate pass whose signature is by a trusted key over exactly what stands in it.

    Raises:
        SignatureError: when it is not, or nothing is signed.

    """
    where = f"certificate of erasure {report.request_id}"
    if report.signature is None:
        raise SignatureError(f"{where}: is not signed")
    try:
        signing.verify(report.signature, LABEL, report.signed_bytes, trusted)
    except SignatureError as error:
        raise SignatureError(f"{where}: {error}") from error
