"""The ground of a mill: what a data home is before anything is learned or served. Keys, store, door, spool, agent.

A part is imported when it is made, so a command that only asks the store loads no engine, no tracker and no trainer.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, Self

from governance.keys import FileKeyProvider
from governance.ports.clock import Clock, IdFactory, RandomIds, SystemClock
from governance.ports.keys import KeyName
from governance.ports.surrogate_check import SurrogateCheck
from pipelines.product import has_product, load_product
from pipelines.settings import Settings
from pipelines.tenant_keys import TenantKeys

if TYPE_CHECKING:
    from governance.approvals import Approvals
    from governance.assessments import AssessmentDesk
    from governance.auditing import Auditing
    from governance.door import Door
    from governance.erasure_journal import ErasureJournal
    from governance.masking.detection import TextDetector
    from governance.masking.presidio_masker import PresidioMasker
    from governance.masking_policies import StoredPolicies
    from governance.ports.product import AgentProduct
    from governance.records.scope import Scope
    from governance.reidentification import KeyDesk
    from governance.rights_at_use import RightsAtUse
    from governance.store import Store
    from ingestion.consent.taking import ConsentTaking
    from ingestion.drain import Drain
    from ingestion.people import Subjects
    from ingestion.quarantine import Quarantine
    from ingestion.recording import Recording
    from ingestion.rescan import Rescan
    from ingestion.reviewing import Reviewing
    from ingestion.spool import Spool


class Ground:
    """The parts that need no model and no learning. Use as a context manager, or ``close`` it."""

    closed_at_the_end: ClassVar[tuple[str, ...]] = ("detector", "store", "spool")

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
        """The database; one that was restored from a backup learns of the erasures since."""
        from governance.store import Store
        from pipelines.tables import retention_policy, rights_policy

        self.settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = Store.open(
            self.settings.database,
            clock=self.clock,
            block_key=lambda tenant: self.keys.for_tenant(KeyName.BLOCK, tenant),
            ids=self.ids,
            policy=rights_policy(self.settings),
            retention=retention_policy(self.settings),
        )
        if self.settings.journal.exists():
            self.__dict__["store"] = store  # what the places are made of is made of it
            self.learn_of_erasures()
        return store

    def learn_of_erasures(self) -> None:
        """Suppress whom the journal knows as erased and the database does not; a mill erases them again."""
        from governance.erasure_replay import learn

        learn(self.journal, self.store, self.clock)

    @cached_property
    def journal(self) -> ErasureJournal:
        """What a database that is opened is checked against."""
        from governance.erasure_journal import ErasureJournal

        return ErasureJournal(self.settings.journal, self.keys)

    @cached_property
    def auditing(self) -> Auditing:
        """Checkpoints of the audit, and their verification."""
        from governance.anchors import anchor_at
        from governance.auditing import Auditing

        return Auditing(self.store, anchor_at(self.settings.anchor), self.keys, self.clock)

    @cached_property
    def policies(self) -> StoredPolicies:
        """What each tenant's masking does with what it finds."""
        from governance.masking.rules_digest import detectors_digest
        from governance.masking_policies import StoredPolicies
        from pipelines.tables import masking_policy

        detectors = detectors_digest(self.settings.pii_model)
        return StoredPolicies(masking_policy(self.settings), self.store, self.clock, detectors=detectors)

    @cached_property
    def detector(self) -> TextDetector:
        """What finds personal values: in this process, or in some of its own."""
        from governance.masking.detection import Detector
        from governance.masking.process_detector import ProcessDetector

        made = partial(Detector, model=self.settings.pii_model)
        workers = self.settings.masking_workers
        return (
            ProcessDetector(workers, time_limit=self.settings.masking_time_limit, detector=made) if workers else made()
        )

    @cached_property
    def masker(self) -> PresidioMasker:
        """Personal values out, surrogates in."""
        from governance.masking.presidio_masker import PresidioMasker

        return PresidioMasker(self.keys, detector=self.detector, policies=self.policies)

    @cached_property
    def surrogates(self) -> SurrogateCheck:
        """Tells surrogates in what goes out."""
        from governance.masking.output_check import KeyedSurrogateCheck

        return KeyedSurrogateCheck(self.keys)

    @cached_property
    def door(self) -> Door:
        """The way in."""
        from governance.door import Door

        return Door(
            self.store,
            self.masker,
            self.keys,
            self.clock,
            subject_attributes=self.subject_attributes,
            ids=self.ids,
            review_share=self.settings.review_share,
        )

    @cached_property
    def approvals(self) -> Approvals:
        """The four-eyes rule: what needs an approval, and who gave it."""
        from governance.approvals import Approvals
        from governance.records.approval import FourEyes

        return Approvals(self.store, self.clock, self.ids, FourEyes(required=self.settings.to_approve))

    @cached_property
    def assessments(self) -> AssessmentDesk:
        """What must be written and approved before training."""
        from governance.assessments import AssessmentDesk

        return AssessmentDesk(self.store, self.approvals, self.clock, self.ids)

    @cached_property
    def key_desk(self) -> KeyDesk:
        """Where commands ask for what only a key can tell."""
        from governance.reidentification import KeyDesk

        return KeyDesk(self.store, self.door.subject, self.clock, self.ids)

    @cached_property
    def rights_at_use(self) -> RightsAtUse:
        """Rights asked again before training, at the gate, at promotion, and of what serves."""
        from governance.rights_at_use import RightsAtUse

        return RightsAtUse(self.store, self.clock, self.ids)

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
    def consents(self) -> ConsentTaking:
        """What people say of the use of their data, from elsewhere."""
        from ingestion.consent.taking import ConsentTaking

        return ConsentTaking(self.store, self.door.subject, self.clock, self.ids)

    def rescan(self) -> Rescan:
        """What was masked under another version of its policy, masked again."""
        from ingestion.rescan import Rescan

        return Rescan(self.store, self.masker, self.drain().assemble, self.clock, self.ids)

    @cached_property
    def quarantine(self) -> Quarantine:
        """What masking could not read, and its way back."""
        from ingestion.quarantine import Quarantine

        return Quarantine(self.spool, self.door, self.store, self.subjects, self.clock, ids=self.ids)

    @cached_property
    def reviewing(self) -> Reviewing:
        """What people look at and decide about masking."""
        from governance.masking.surrogate import Surrogates
        from ingestion.reviewing import Reviewing

        tenant = partial(Surrogates, self.keys)
        return Reviewing(self.spool, self.store, self.quarantine, tenant, self.clock, self.ids, self.approvals)

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
