"""The whole way of a span in one process: HTTP door, spool, drain, trajectory in canonical form."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from governance.door import Door
from governance.keys import DerivedKeyProvider
from governance.ports.masker import Masker
from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.ledger import LedgerLine
from governance.records.rights import Basis, Contract, Purpose, PurposeTerm
from governance.store import Store
from ingestion.drain import Drain, DrainReport
from ingestion.intake import Intake
from ingestion.limits import Limits
from ingestion.otlp_decode import JSON, PROTOBUF
from ingestion.receiver import app_of
from ingestion.spool import Spool
from pipelines.canonical import show
from tests.ingestion.log_bodies import as_protobuf
from tests.ingestion.otlp_bodies import T0, TRACE, MailMasker
from tests.support.clock import START, ManualClock
from tests.support.ids import SeededIds

KEYS = {"key-of-acme": "acme", "key-of-bolt": "bolt"}
SECRET = DerivedKeyProvider("pipe")


@cache
def empty_database() -> Path:
    """A SQLite file that is at head: copied, since to make one takes longer than most tests."""
    path = Path(tempfile.mkdtemp(prefix="tidemill-empty-")) / "empty.db"
    Store.open(f"sqlite:///{path}", clock=ManualClock()).close()
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    return path


class Pipe:
    """An intake, its spool and its store, at an hour after ``T0``."""

    def __init__(
        self, folder: Path, url: str | None = None, limits: Limits | None = None, masker: Masker | None = None
    ) -> None:
        self.clock = ManualClock(from_unix_nano(T0) + timedelta(hours=1))
        if url is None:
            shutil.copy(empty_database(), folder / "pipe.db")
        self.store = Store.open(
            url or f"sqlite:///{folder / 'pipe.db'}", clock=self.clock, block_key=lambda tenant: tenant.encode()
        )
        self.spool = Spool(folder / "spool", SECRET, self.clock, SeededIds())
        self.intake = Intake(self.spool, KEYS, limits, clock=self.clock)
        self.http = TestClient(app_of(self.intake))
        door = Door(self.store, masker or MailMasker(), SECRET, self.clock)
        self.drains = Drain(self.spool, door, self.store, clock=self.clock, hold=timedelta(0))
        terms = tuple(PurposeTerm(purpose=purpose, basis=Basis.CONTRACT) for purpose in Purpose)
        for tenant in KEYS.values():
            contract = Contract(id=tenant, tenant_id=tenant, terms=terms, valid_from=START, recorded_at=START)
            self.store.rights.add_contract(contract)

    def close(self) -> None:
        self.spool.close()
        self.store.close()

    def post(
        self, content: bytes, kind: str = JSON, path: str = "/v1/traces", key: str = "key-of-acme", **headers: str
    ) -> Any:
        held = {"content-type": kind, "x-tidemill-key": key, **headers}
        return self.http.post(path, content=content, headers=held)

    def send(self, content: bytes, way: str = "json", **held: str) -> Any:
        """Post an OTLP/JSON body that must be taken, as it is or as protobuf."""
        reply = self.post(as_protobuf(content), PROTOBUF, **held) if way == "protobuf" else self.post(content, **held)
        assert reply.status_code == 200, reply.text
        return reply

    def drain(self) -> DrainReport:
        """Drain, and look at the books."""
        report = self.drains.run()
        assert report.balances
        assert (report.corrupt, report.waiting) == (0, 0)
        assert all(line.balances for line in self.store.ledger.lines())
        return report

    def line(self, tenant: str = "acme") -> LedgerLine:
        """What the ledger says of the tenant's one day."""
        (line,) = [one for one in self.store.ledger.lines() if one.tenant_id == tenant]
        return line

    def spans(self, trace: str = TRACE, tenant: str = "acme") -> list[AdmittedSpan]:
        return self.store.spans.trace(tenant, trace, Purpose.COMPLY)

    def shown(self, trace: str = TRACE, tenant: str = "acme") -> dict[str, Any]:
        """The trajectory in canonical form."""
        return show(self.store, f"{tenant}/{trace}", Purpose.COMPLY, self.clock.now())

    def traces(self, tenant: str = "acme") -> list[str]:
        """Every trajectory of a tenant."""
        long = timedelta(days=4000)
        found = self.store.trajectories.list(Purpose.COMPLY, [tenant], self.clock.now() - long, self.clock.now() + long)
        return sorted(run.trace_id for run in found.rows)
