"""One real intake, one model server and one environment of customers for the session."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance.door import Door
from governance.masking.presidio_masker import PresidioMasker
from governance.ports.masker import Masker
from governance.records.rights import Basis, ConsentEvent, ConsentStatus, Contract, Purpose, PurposeTerm
from pipelines.operations import record_consents
from pipelines.services import control_service
from pipelines.settings import load_settings
from pipelines.wiring import Mill
from tests.conftest import ROOT, services_required
from tests.instrumentations.conversation import script
from tests.instrumentations.customers import PERSON, TENANT, Shop
from tests.support.environments import EnvironmentMissing, environment
from tests.support.openai_server import Script, serving

EARLY = datetime(2026, 1, 1, tzinfo=UTC)
BY_CONSENT = (Purpose.IMPROVE_CONTEXT, Purpose.IMPROVE_HARNESS, Purpose.TRAIN_WEIGHTS)


@dataclass(frozen=True)
class Intake:
    """The data home that a running intake writes to, the shop that sends to it, and what its model was asked."""

    mill: Mill
    masker: Masker
    """The door's."""
    shop: Shop
    script: Script


@pytest.fixture(scope="session")
def customers_python() -> Path:
    """The Python that has the frameworks; installed once a lock."""
    lock = ROOT / "locks" / "linux-x86_64-instrumentations.txt"
    try:
        return environment(lock, ROOT / "data" / "cache" / "instrumentations-venv")
    except EnvironmentMissing as error:
        if services_required():
            pytest.fail(f"the instrumentations are required here and cannot be installed: {error}")
        pytest.skip(f"the instrumentations cannot be installed: {error}")


@pytest.fixture(scope="session")
def intake(customers_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Intake]:
    """A running intake with both doors, and a shop that sends to it."""
    http, grpc = _free_ports(2)
    settings = load_settings(
        data_home=tmp_path_factory.mktemp("instrumentations") / "home", intake_port=http, intake_grpc_port=grpc
    )
    command = [sys.executable, "-m", "tests.instrumentations.intake_process"]
    said = script()
    with Mill(settings) as mill, serving(said) as model_url:
        masker = PresidioMasker(mill.keys)
        mill.__dict__["door"] = Door(mill.store, masker, mill.keys, mill.clock, ids=mill.ids)
        grant(mill)
        key = mill.tenant_keys.of(TENANT)
        mill.supervisor.ensure(replace(control_service(settings), command=command))
        try:
            shop = Shop(customers_python, model_url, settings.intake_url, f"http://127.0.0.1:{grpc}", key)
            yield Intake(mill, masker, shop, said)
        finally:
            mill.supervisor.stop("control")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def grant(mill: Mill) -> None:
    """A contract of the tenant, and the person's consent to what the contract leaves to them."""
    terms = tuple(
        PurposeTerm(purpose=purpose, basis=Basis.CONSENT if purpose in BY_CONSENT else Basis.CONTRACT)
        for purpose in Purpose
    )
    contract = Contract(id=f"{TENANT}-1", tenant_id=TENANT, terms=terms, valid_from=EARLY, recorded_at=EARLY)
    mill.store.rights.add_contract(contract)
    consents = (
        ConsentEvent(
            id=f"consent-{purpose}",
            tenant_id=TENANT,
            subject=PERSON,
            purpose=purpose,
            status=ConsentStatus.GIVEN,
            notice_digest="n" * 64,
            valid_from=EARLY,
            recorded_at=EARLY,
            actor="subject",
        )
        for purpose in BY_CONSENT
    )
    record_consents(mill, consents)
