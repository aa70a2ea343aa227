"""``POST /v1/consent``: authenticated, bounded, recorded before the answer, each row answered on its own."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.errors import StoreError
from governance.policy.facts import consent_state
from governance.ports.clock import RandomIds
from governance.records.rights import ConsentStatus, Purpose
from governance.store import Store
from ingestion.consent.taking import ConsentTaking
from ingestion.intake import ConsentDesk, Intake
from ingestion.limits import Limits
from ingestion.receiver import CONSENT, app_of
from ingestion.spool import Spool
from tests.ingestion.pipe import empty_database
from tests.ingestion.test_consent_taking import SECRET, subject
from tests.support.clock import ManualClock

KEYS = {"key-of-acme": "acme", "key-of-bolt": "bolt"}
DESKS = {"desk-of-acme": "acme", "desk-of-bolt": "bolt"}
JSON = "application/json"
GOOD: dict[str, Any] = {"event_id": "e-1", "subject": "C-1", "purpose": "train_weights", "status": "given",
                        "at": "2026-01-01T00:00:00Z", "notice": "Exact words."}  # fmt: skip
SMALL = Limits(max_body_bytes=20_000, max_unpacked_bytes=40_000)


class Desk:
    """An intake that records consent in a store."""

    def __init__(self, folder: Path) -> None:
        self.clock = ManualClock()
        path = folder / "desk.db"
        path.write_bytes(empty_database().read_bytes())
        self.store = Store.open(f"sqlite:///{path}", clock=self.clock, block_key=str.encode)
        self.spool = Spool(folder / "spool", SECRET, self.clock, RandomIds())
        taking = ConsentTaking(self.store, subject, self.clock, RandomIds())
        self.take = lambda tenant, found: list(taking.take(tenant, found, "POST /v1/consent"))
        self.intake = Intake(self.spool, KEYS, SMALL, clock=self.clock, consents=ConsentDesk(DESKS, self.take))

    def status(self, tenant: str, raw: str = "C-1") -> ConsentStatus | None:
        events = self.store.rights.consent_events(tenant, subject(tenant, raw), Purpose.COMPLY)
        return consent_state(events, self.clock.now()).status


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.spool.close()
    made.store.close()


def post(intake: Intake, body: Any, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app_of(intake), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://intake") as client:
            given = {"x-tidemill-key": "desk-of-acme", "content-type": JSON} | headers
            return await client.post(CONSENT, content=content, headers=given)

    return asyncio.run(send())


def test_a_word_counts_from_the_answer_on_and_the_service_wrote_it(desk: Desk) -> None:
    reply = post(desk.intake, GOOD)
    assert (reply.status_code, reply.json()["recorded"]) == (200, 1)
    assert desk.status("acme") is ConsentStatus.GIVEN
    reply = post(
        desk.intake, {**GOOD, "event_id": "e-2", "status": "objected", "notice": None, "at": "2026-01-02T00:00:00Z"}
    )
    assert reply.json()["results"] == [{"position": 0, "status": "recorded"}]
    assert desk.status("acme") is ConsentStatus.OBJECTED
    events = [one for one in desk.store.audit.list("acme") if one.action == "take_consents"]
    assert {(one.actor, one.role, one.target) for one in events} == {("tidemill", "service", "source:POST /v1/consent")}


def test_a_wrong_row_costs_no_neighbour(desk: Desk) -> None:
    reply = post(
        desk.intake, [GOOD, {**GOOD, "status": "maybe"}, "x", GOOD, {**GOOD, "event_id": "e-9", "subject": "C-9"}]
    )
    told = reply.json()
    assert (reply.status_code, told["recorded"], told["duplicate"], told["rejected"]) == (200, 2, 1, 2)
    assert [one["position"] for one in told["results"]] == [0, 1, 2, 3, 4]
    assert told["results"][1]["field"] == "status"
    assert desk.status("acme", "C-9") is ConsentStatus.GIVEN


def test_the_tenant_comes_from_the_key_alone(desk: Desk) -> None:
    assert post(desk.intake, {**GOOD, "tenant": "bolt"}).status_code == 400
    assert post(desk.intake, {**GOOD, "tenant_id": "bolt"}).status_code == 400
    assert post(desk.intake, GOOD, **{"x-tidemill-key": "", "authorization": "Bearer desk-of-bolt"}).status_code == 200
    assert (desk.status("acme"), desk.status("bolt")) == (None, ConsentStatus.GIVEN)


@pytest.mark.parametrize(
    ("body", "headers", "told"),
    [
        ({**GOOD, "at": "yesterday"}, {}, (400, "at: must be an ISO 8601 time")),
        (b"{", {}, (400, "not one JSON value")),
        (b"[]", {}, (400, "1 to 1000")),
        (json.dumps([{}] * 1001).encode(), {}, (400, "1 to 1000")),
        (b"[" * 500, {}, (400, "not one JSON value")),
        (GOOD, {"content-type": "text/csv"}, (415, JSON)),
        (GOOD, {"content-encoding": "br"}, (415, "gzip")),
        (GOOD, {"x-tidemill-key": ""}, (401, "API key")),
        (GOOD, {"x-tidemill-key": "guess"}, (403, "not known")),
        (GOOD, {"x-tidemill-key": "key-of-acme"}, (403, "not one for consent")),
        (b" " * 20_001, {}, (413, "20000 bytes")),
        (gzip.compress(b" " * 40_001), {"content-encoding": "gzip"}, (413, "40000")),
    ],
)
def test_what_is_refused_says_why_and_leaves_nothing(
    desk: Desk, body: Any, headers: dict[str, str], told: tuple[int, str]
) -> None:
    reply = post(desk.intake, body, **headers)
    assert (reply.status_code, told[1] in reply.text) == (told[0], True), reply.text
    assert desk.status("acme") is None


@pytest.mark.parametrize(
    "text", ["'; drop table consent_events; --", "${jndi:ldap://x}", "=cmd()", "<script>", "\u202e"]
)
def test_what_looks_like_code_is_a_text_like_another(desk: Desk, text: str) -> None:
    reply = post(desk.intake, {**GOOD, "subject": text, "notice": text, "event_id": text})
    assert text not in reply.text
    if reply.status_code == 200:
        assert desk.status("acme", text) is ConsentStatus.GIVEN
    assert post(desk.intake, GOOD).status_code == 200


def test_where_nothing_is_recorded_or_the_store_fails_nothing_is_acknowledged(desk: Desk) -> None:
    assert post(Intake(desk.spool, KEYS, SMALL, clock=desk.clock), GOOD).status_code == 501

    def fails(tenant: str, found: Any) -> Any:
        raise StoreError("the disk is full")

    reply = post(Intake(desk.spool, KEYS, SMALL, clock=desk.clock, consents=ConsentDesk(DESKS, fails)), GOOD)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    assert "disk" not in reply.text


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=8) | st.integers(), nested))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_answered(desk: Desk, body: Any) -> None:
    assert post(desk.intake, body).status_code in {200, 400}


def test_a_time_stands_as_it_was_said(desk: Desk) -> None:
    post(desk.intake, {**GOOD, "at": "2025-12-31T23:00:00-02:00"})
    (event,) = desk.store.rights.consent_events("acme", subject("acme", "C-1"), Purpose.COMPLY)
    assert event.valid_from == datetime(2026, 1, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs", "/v1/feedback"])
def test_a_key_for_consent_opens_nothing_else(desk: Desk, path: str) -> None:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app_of(desk.intake), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://intake") as client:
            headers = {"x-tidemill-key": "desk-of-acme", "content-type": JSON}
            return await client.post(path, content=b"{}", headers=headers)

    reply = asyncio.run(send())
    assert (reply.status_code, "not one for telemetry" in reply.text) == (403, True)
    assert desk.spool.segments_held() == 0
