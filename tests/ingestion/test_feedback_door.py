"""``POST /v1/feedback``: authenticated, bounded, durable before 200, each item answered on its own."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.keys import DerivedKeyProvider
from governance.ports.clock import RandomIds, SystemClock
from ingestion.batch import read_groups
from ingestion.feedback.item import Item
from ingestion.intake import Intake
from ingestion.limits import Limits
from ingestion.people import Subjects
from ingestion.receiver import FEEDBACK, app_of
from ingestion.recording import Recording
from ingestion.spool import Spool
from ingestion.spool_erasable import spool_erasable

KEYS = {"key-of-acme": "acme", "key-of-bolt": "bolt"}
SECRET = DerivedKeyProvider("feedback door test")
JSON = "application/json"
HEADERS = {"x-tidemill-key": "key-of-acme", "content-type": JSON}
GOOD: dict[str, Any] = {"id": "s1", "kind": "thumbs", "value": 1, "trace_id": "a" * 32}


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", SECRET, SystemClock(), RandomIds(), max_bytes=500_000)
    yield spool
    spool.close()


@pytest.fixture
def intake(spool: Spool) -> Intake:
    return Intake(spool, KEYS, Limits(max_body_bytes=100_000, max_unpacked_bytes=200_000))


def post(intake: Intake, body: Any, path: str = FEEDBACK, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app_of(intake), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://intake") as client:
            return await client.post(path, content=content, headers={**HEADERS, **headers})

    return asyncio.run(send())


def spooled(spool: Spool) -> list[tuple[str, Item]]:
    spool.seal()
    groups = [group for one in spool.sealed() for group in read_groups(spool.read(one))]
    return [(group.tenant_id, item) for group in groups for item in group.feedback]


def test_one_item_is_durable_and_answered(intake: Intake, spool: Spool) -> None:
    reply = post(intake, GOOD)
    expected = {"accepted": 1, "rejected": 0, "results": [{"position": 0, "status": "accepted", "id": "s1"}]}
    assert (reply.status_code, reply.json()) == (200, expected)
    ((tenant, item),) = spooled(spool)
    assert (tenant, item.id, item.value) == ("acme", "s1", 1.0)


def test_a_malformed_item_costs_no_neighbour_and_is_counted(intake: Intake, spool: Spool) -> None:
    reply = post(intake, [GOOD, {**GOOD, "value": 7}, {**GOOD, "id": "s3"}, "nonsense"])
    assert reply.status_code == 200
    told = reply.json()
    assert (told["accepted"], told["rejected"]) == (2, 2)
    assert told["results"][1] == {"position": 1, "status": "rejected", "field": "value", "reason": "must be 1 or -1"}
    assert told["results"][3]["field"] == "(item)"
    assert [item.id for _, item in spooled(spool)] == ["s1", "s3"]
    (group,) = [group for one in spool.sealed() for group in read_groups(spool.read(one))]
    assert group.received == 4
    assert [reason for _, reason in group.fates] == ["feedback_value", "feedback_item"]
    metrics = intake.meters.text().decode()
    assert 'tidemill_intake_feedback_total{answer="accepted",reason="",tenant="acme"} 2.0' in metrics
    assert 'tidemill_intake_feedback_total{answer="rejected",reason="feedback_value",tenant="acme"} 1.0' in metrics


@pytest.mark.parametrize(
    ("body", "headers", "told"),
    [
        ({**GOOD, "value": 7}, {}, (400, "value: must be 1 or -1")),
        ([{}, {}], {}, (400, "kind: must be one of")),
        (b"{", {}, (400, "not one JSON value")),
        (b"[]", {}, (400, "1 to 1000")),
        (GOOD, {"content-type": "application/x-protobuf"}, (415, "application/json")),
        (GOOD, {"content-encoding": "br"}, (415, "gzip")),
        (GOOD, {"x-tidemill-key": ""}, (401, "API key")),
        (GOOD, {"x-tidemill-key": "guess"}, (403, "not known")),
        (b" " * 100_001, {}, (413, "100000 bytes")),
        (gzip.compress(b" " * 200_001), {"content-encoding": "gzip"}, (413, "200000")),
    ],
)
def test_what_is_refused_says_why_and_leaves_nothing(
    intake: Intake, spool: Spool, body: Any, headers: dict[str, str], told: tuple[int, str]
) -> None:
    reply = post(intake, body, **headers)
    assert (reply.status_code, told[1] in reply.text) == (told[0], True), reply.text
    assert reply.headers["content-type"].startswith(JSON)
    assert spooled(spool) == []


def test_packed_bodies_and_bearer_keys_are_taken(intake: Intake, spool: Spool) -> None:
    packed = gzip.compress(json.dumps([GOOD]).encode())
    reply = post(
        intake, packed, **{"content-encoding": "gzip", "x-tidemill-key": "", "authorization": "Bearer key-of-bolt"}
    )
    assert reply.status_code == 200
    assert [tenant for tenant, _ in spooled(spool)] == ["bolt"]


def test_the_tenant_comes_from_the_key_alone(intake: Intake, spool: Spool) -> None:
    for named in ({"tenant": "bolt"}, {"tenant_id": "bolt"}, {"tidemill.tenant": "bolt"}):
        assert post(intake, {**GOOD, **named}).status_code == 400
    assert spooled(spool) == []


def test_a_full_spool_tells_when_to_come_back(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "full", SECRET, SystemClock(), RandomIds(), max_bytes=10)
    reply = post(Intake(spool, KEYS), GOOD)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    spool.close()


def test_other_methods_and_spellings_are_not_served(intake: Intake) -> None:
    reply = post(intake, GOOD, f"{FEEDBACK}/")
    assert (reply.status_code, "feedback at POST /v1/feedback" in reply.text) == (404, True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_word_of_a_sender_reaches_a_log_or_a_metric(
    intake: Intake, caplog: pytest.LogCaptureFixture, name: str, value: str
) -> None:
    with caplog.at_level(logging.DEBUG, logger="ingestion"):
        reply = post(intake, [{**GOOD, f"zz{name}": f"yy{value}"}, {**GOOD, "id": f"yy{value}\n", "kind": f"zz{name}"}])
    assert reply.status_code == 400
    assert "\n" not in reply.text
    assert "zz" not in caplog.text + intake.meters.text().decode()
    assert "yy" not in caplog.text + intake.meters.text().decode()


def test_feedback_is_not_recorded(spool: Spool, tmp_path: Path) -> None:
    recording = Recording(tmp_path / "recording", SECRET)
    assert post(Intake(spool, KEYS, recording=recording), GOOD).status_code == 200
    assert len(recording) == 0


def test_the_spool_answers_for_whom_raw_feedback_names(intake: Intake, spool: Spool) -> None:
    post(intake, [{**GOOD, "user_id": "C-1"}, {**GOOD, "user_id": "C-2"}])
    place = spool_erasable(spool, Subjects(lambda tenant, raw: f"{tenant}:{raw}"), lambda: None)
    assert (place.count("acme", "acme:C-1"), place.count("bolt", "bolt:C-1")) == (1, 0)
