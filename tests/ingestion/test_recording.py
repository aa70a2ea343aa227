from __future__ import annotations

import hashlib
from pathlib import Path

from governance.keys import DerivedKeyProvider
from governance.records.span import Span
from ingestion.otlp_decode import JSON, decode
from ingestion.people import Subjects
from ingestion.recording import Recorded, Recording, recording_erasable, replay
from tests.ingestion.otlp_bodies import body, span_json

KEYS = DerivedKeyProvider("recording test")


def hashed(tenant_id: str, raw_id: str | None) -> str:
    return hashlib.sha256(f"{tenant_id}/{raw_id}".encode()).hexdigest()


def test_bodies_come_back_in_order_and_rest_sealed(tmp_path: Path) -> None:
    recording = Recording(tmp_path, KEYS)
    items = [Recorded("acme", JSON, b"body %d" % number) for number in range(12)]
    for item in items:
        recording.append(*item)
    seen: list[Recorded] = []
    assert replay(Recording(tmp_path, KEYS), seen.append) == 12
    assert seen == items
    assert not any(b"body" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_person_leaves_with_their_traces_and_the_others_stay(tmp_path: Path) -> None:
    recording = Recording(tmp_path, KEYS)
    ann, bob = "a" * 32, "b" * 32
    mixed = body(
        span_json(1, trace=ann, attributes={"user.id": "ann"}),
        span_json(2, 1, trace=ann),
        span_json(3, trace=bob, attributes={"user.id": "bob"}),
    )
    recording.append("acme", JSON, mixed)
    recording.append("acme", JSON, body(span_json(4, trace="c" * 32, attributes={"enduser.id": "ann"})))
    recording.append("bolt", JSON, mixed)
    erasable = recording_erasable(recording, Subjects(hashed))
    assert erasable.claims == {"recording"}
    subject = hashed("acme", "ann")
    assert erasable.count("acme", subject) == 3
    (artifact,) = erasable.erase("acme", subject)
    assert artifact.state.value == "deleted"
    assert erasable.count("acme", subject) == 0
    assert erasable.erase("acme", subject) == ()
    kept = [item for item in recording if item.tenant_id == "acme"]
    assert len(kept) == 1
    spans = decode(kept[0].body, kept[0].content_type, received_unix_nano=2**62)
    assert [span.trace_id for span in spans if isinstance(span, Span)] == [bob]
    assert erasable.count("bolt", hashed("bolt", "ann")) == 2
