"""Signatures: what was signed passes, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.errors import SignatureError
from governance.keys import DerivedKeyProvider
from governance.records.signature import Signature
from governance.signing import public_key, sign, verify

OURS, THEIRS = DerivedKeyProvider("ours"), DerivedKeyProvider("theirs")


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=64), st.binary(max_size=64))
def test_only_the_bytes_that_were_signed_pass(data: bytes, other: bytes) -> None:
    made = sign(OURS, "certificate", data)
    assert made == sign(OURS, "certificate", data)
    verify(made, "certificate", data, [public_key(OURS)])
    if other != data:
        with pytest.raises(SignatureError, match="not what stands here"):
            verify(made, "certificate", other, [public_key(OURS)])


def test_another_label_or_key_does_not_pass() -> None:
    made = sign(OURS, "certificate", b"x")
    with pytest.raises(SignatureError, match="not what stands here"):
        verify(made, "checkpoint", b"x", [public_key(OURS)])
    with pytest.raises(SignatureError, match="not trusted"):
        verify(made, "certificate", b"x", [public_key(THEIRS)])
    forged = Signature(public_key=public_key(THEIRS), value=made.value)
    with pytest.raises(SignatureError, match="not what stands here"):
        verify(forged, "certificate", b"x", [public_key(THEIRS)])
