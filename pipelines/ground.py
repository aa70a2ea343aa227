"""The ground of a mill: what a data home is before anything is learned or served. Keys, store, door, spool, agent.

A part is imported when it is made, so a command that only asks the store loads no engine, no tracker and no trainer.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from governance.keys import FileKeyProvider
from governance.ports.clock import Clock, IdFactory, RandomIds, SystemClock
from governance.ports.keys import KeyName
from pipelines.product import has_product, load_product
from pipelines.settings import Settings
from pipelines.tenant_keys import TenantKeys

if TYPE_CHECKING:
    from governance.door import Door
    from governance.ports.product import AgentProduct
    from governance.records.scope import Scope
    from governance.store import Store
    from ingestion.drain import Drain
    from ingestion.people import Subjects
    from ingestion.quarantine import Quarantine
    from ingestion.recording import Recording
    from ingestion.spool import Spool


class Ground:
    """The parts that need no model and no learning. Use as a context manager, or ``close`` it."""

    closed_at_the_end: ClassVar[tuple[str, ...]] = ("store", "spool")

    def __init__(self, settings: Settings, clock: Clock | None = None, ids: IdFactory | None = None) -> None:
        """Nothing is opened or started yet."""
        self.settings = settings
        self.clock = clock or SystemClock()
        self.ids = ids or RandomIds()

    # Governance

    @cached_property
    def keys(self) -> FileKeyProvider:
        """Key material, beside the data home."""
        return FileKeyProvider(self.settings.keys)

    @cached_property
    def store(self) -> Store:
        """The database."""
        from governance.store import Store

        self.settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Store.open(
            self.settings.database,
            clock=self.clock,
            block_key=lambda tenant: self.keys.for_tenant(KeyName.BLOCK, tenant),
            ids=self.ids,
        )

    @cached_property
    def door(self) -> Door:
        """The way in."""
        from governance.door import Door
        from governance.masking.presidio_masker import PresidioMasker

        return Door(
            self.store,
            PresidioMasker(self.keys),
            self.keys,
            self.clock,
            subject_attributes=self.subject_attributes,
            ids=self.ids,
        )

    # Ingestion

    @cached_property
    def subjects(self) -> Subjects:
        """Finds people in raw spans."""
        from ingestion.people import Subjects

        return Subjects(self.door.subject, self.subject_attributes)

    @property
    def subject_attributes(self) -> tuple[str, ...]:
        """Span attributes that name the person: the product's, else the usual ones."""
        from ingestion.people import DEFAULT_ATTRIBUTES

        return self.product.subject_attributes if has_product(self.settings) else DEFAULT_ATTRIBUTES

    @cached_property
    def spool(self) -> Spool:
        """Raw spans that wait for the drain."""
        from ingestion.spool import Spool

        return Spool(self.settings.home / "spool", self.keys, self.clock, self.ids)

    @cached_property
    def recording(self) -> Recording:
        """Accepted bodies, kept only where the settings say so."""
        from ingestion.recording import Recording

        return Recording(self.settings.home / "recording", self.keys)

    @cached_property
    def tenant_keys(self) -> TenantKeys:
        """API keys of the tenants."""
        return TenantKeys(self.settings.keys / "tenants.json", self.clock)

    def drain(self, *, patient: bool = True) -> Drain:
        """From the spool into the store; impatient where nothing may wait for a late root."""
        from datetime import timedelta

        from ingestion.drain import Drain
        from pipelines.tables import prices, process_rules

        return Drain(
            self.spool,
            self.door,
            self.store,
            self.subjects,
            self.clock,
            hold=timedelta(seconds=30 if patient else 0),
            prices=prices(self.settings),
            rules=process_rules(self.settings),
        )

    @cached_property
    def quarantine(self) -> Quarantine:
        """What masking could not read, and its way back."""
        from ingestion.quarantine import Quarantine

        return Quarantine(self.spool, self.door, self.store, self.subjects, self.clock, ids=self.ids)

    # The agent

    @cached_property
    def product(self) -> AgentProduct:
        """What the company brings."""
        return load_product(self.settings)

    def scopes(self) -> tuple[Scope, ...]:
        """The scopes of the agent under the contracts of now; none without an agent."""
        from governance.policy.sharing import scopes

        if not has_product(self.settings):
            return ()
        now = self.clock.now()
        contracts = {tenant: self.store.rights.contract_at(tenant, now) for tenant in self.store.rights.tenants()}
        return scopes(self.product.agent_name, contracts)

    # Life

    def close(self) -> None:
        """Close what was opened; services go on."""
        for name in self.closed_at_the_end:
            if name in self.__dict__:
                self.__dict__[name].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
