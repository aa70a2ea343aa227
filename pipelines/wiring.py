"""Wiring: one ``Mill`` holds every part of one data home, each made when first asked for.

This is the only place where the siblings meet: serving's runtime gets training's worlds, training gets serving's
runner, both get governance's store. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from governance.door import Door
from governance.erasure import ErasureService
from governance.keys import FileKeyProvider
from governance.masking.presidio_masker import PresidioMasker
from governance.ports.clock import Clock, IdFactory, RandomIds, SystemClock
from governance.ports.erasable import Erasable
from governance.ports.keys import KeyName
from governance.ports.product import AgentProduct
from governance.records.release import BaseModelRef
from governance.records.rights import Purpose
from governance.store import Store
from ingestion.drain import Drain
from ingestion.people import DEFAULT_ATTRIBUTES, Subjects
from ingestion.recording import Recording, recording_erasable
from ingestion.spool import Spool
from ingestion.spool_erasable import spool_erasable
from pipelines.home import HomeFiles
from pipelines.product import has_product, load_product
from pipelines.services import vllm_service
from pipelines.settings import Settings
from pipelines.supervisor import Service, Supervisor
from pipelines.tenant_keys import TenantKeys
from serving.base_model import prepare
from serving.compatibility import ServingLimits
from serving.promotion import Promoter
from serving.runtime import HarnessRuntime
from serving.template import load_tokenizer
from serving.tracker import MlflowTracker
from serving.vllm_admin import VllmAdmin
from serving.vllm_engine import VllmEngine
from serving.vllm_server import VllmSettings, native_dtype
from training.adapters import AdapterShelf
from training.worlds import WorldHost

if TYPE_CHECKING:
    from governance.records.scope import Scope

Tell = Callable[[str], None]


class Mill:
    """The wired parts of one data home. Use as a context manager, or ``close`` it."""

    def __init__(self, settings: Settings, clock: Clock | None = None, ids: IdFactory | None = None) -> None:
        """Nothing is opened or started yet."""
        self.settings = settings
        self.clock = clock or SystemClock()
        self.ids = ids or RandomIds()
        self.tell: Tell = lambda _: None

    @contextmanager
    def narrate(self, tell: Tell) -> Iterator[None]:
        """Send what steps say about their progress to ``tell`` while inside, besides where it went before."""
        before = self.tell

        def both(line: str) -> None:
            before(line)
            tell(line)

        self.tell = both
        try:
            yield
        finally:
            self.tell = before

    def _say(self, line: str) -> None:
        """What cached parts hold on to, since ``tell`` changes."""
        self.tell(line)

    # Governance

    @cached_property
    def keys(self) -> FileKeyProvider:
        """Key material, beside the data home."""
        return FileKeyProvider(self.settings.keys)

    @cached_property
    def store(self) -> Store:
        """The database."""
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
        return Door(
            self.store,
            PresidioMasker(self.keys),
            self.keys,
            self.clock,
            subject_attributes=self.subject_attributes,
            ids=self.ids,
        )

    @cached_property
    def erasure(self) -> ErasureService:
        """The way out."""
        return ErasureService(self.store, self.erasables(), self.clock, self.ids)

    def erasables(self) -> tuple[Erasable, ...]:
        """Every place that holds data made from people."""
        return (
            spool_erasable(self.spool, self.subjects, lambda: self.drain(patient=False).run()),
            self.store.erasable(),
            self.shelf,
            self.tracker,
            recording_erasable(self.recording, self.subjects),
            HomeFiles(self.settings.home, keys=self.settings.keys),
        )

    # Ingestion

    @cached_property
    def subjects(self) -> Subjects:
        """Finds people in raw spans."""
        return Subjects(self.door.subject, self.subject_attributes)

    @property
    def subject_attributes(self) -> tuple[str, ...]:
        """Span attributes that name the person: the product's, else the usual ones."""
        return self.product.subject_attributes if has_product(self.settings) else DEFAULT_ATTRIBUTES

    @cached_property
    def spool(self) -> Spool:
        """Raw spans that wait for the drain."""
        return Spool(self.settings.home / "spool", self.keys, self.clock, self.ids)

    @cached_property
    def recording(self) -> Recording:
        """Accepted bodies, kept only where the settings say so."""
        return Recording(self.settings.home / "recording", self.keys)

    @cached_property
    def tenant_keys(self) -> TenantKeys:
        """API keys of the tenants."""
        return TenantKeys(self.settings.keys / "tenants.json")

    def drain(self, *, patient: bool = True) -> Drain:
        """From the spool into the store; impatient where nothing may wait for a late root."""
        from datetime import timedelta

        hold = timedelta(seconds=30 if patient else 0)
        return Drain(self.spool, self.door, self.store, self.subjects, self.clock, hold=hold)

    # Serving

    @cached_property
    def product(self) -> AgentProduct:
        """What the company brings."""
        return load_product(self.settings)

    @property
    def model_dir(self) -> Path:
        """Where the base model lies, once prepared."""
        chosen = self.settings.base_model
        return self.settings.model_cache / (f"base-{chosen.name}" if chosen else "base-model")

    @cached_property
    def base(self) -> BaseModelRef:
        """The frozen base, prepared on first use."""
        return prepare(self.settings.base_model, self.model_dir, self._say)

    @cached_property
    def tokenizer(self) -> Any:
        """The base's tokenizer."""
        self.base  # noqa: B018 - prepares the folder
        return load_tokenizer(str(self.model_dir))

    @cached_property
    def runner(self) -> HarnessRuntime:
        """The harness runtime without telemetry: evaluation and training."""
        return HarnessRuntime(self.tokenizer, None, self.clock)

    @cached_property
    def vllm_settings(self) -> VllmSettings:
        """How vLLM runs here."""
        return VllmSettings(
            model_dir=self.model_dir,
            port=self.settings.vllm_port,
            served_name=self.base.name,
            host=self.settings.host,
            max_loras=self.settings.max_loras,
            max_lora_rank=max(8, 1 << (self.settings.lora_rank - 1).bit_length()),  # vLLM takes powers of two
            dtype=self.settings.vllm_dtype or native_dtype(),
        )

    def vllm_service(self) -> Service:
        """The model server as a supervised service."""
        return vllm_service(self.settings, self.vllm_settings)

    @cached_property
    def engine(self) -> VllmEngine:
        """The served model, asked directly: evaluation."""
        return VllmEngine(self.vllm_settings.base_url)

    @cached_property
    def admin(self) -> VllmAdmin:
        """Adapters of the server."""
        return VllmAdmin(self.vllm_settings.base_url)

    @cached_property
    def tracker(self) -> MlflowTracker:
        """MLflow."""
        folder = self.settings.home / "mlflow"
        folder.mkdir(parents=True, exist_ok=True)
        local = self.settings.mlflow_tracking_uri is None
        return MlflowTracker(self.settings.tracking_uri, folder / "artifacts" if local else None)

    @cached_property
    def promoter(self) -> Promoter:
        """Promotes and rolls back."""
        from pipelines.steps.rights import why_not_now

        return Promoter(
            self.store,
            self.admin,
            self.tracker,
            self.clock,
            scopes=self.store.deployments.scopes,
            rights_check=lambda bundle: why_not_now(self, bundle),
            limits=ServingLimits(max_rank=self.vllm_settings.max_lora_rank),
        )

    @cached_property
    def supervisor(self) -> Supervisor:
        """Services of this data home."""
        return Supervisor(self.settings.home / "run")

    # Training

    @cached_property
    def shelf(self) -> AdapterShelf:
        """The folder of adapters."""
        return AdapterShelf(self.settings.home / "adapters", self._in_service)

    def host(self, purpose: Purpose) -> WorldHost:
        """Masked worlds for one purpose."""
        return WorldHost(
            self.product.app(),
            lambda digest: self.store.worlds.get(digest, purpose),
            self.product.world_schema(),
            whole=False,  # the store leaves out rows that the purpose may not use
        )

    def _in_service(self, adapter_digest: str) -> bool:
        for scope in self.store.deployments.scopes():
            current = self.store.deployments.current(scope)
            if current is None:
                continue
            adapter = self.store.releases.get(current.release_digest).release.adapter
            if adapter is not None and adapter.content_digest == adapter_digest:
                return True
        return False

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
        for name in ("store", "spool", "admin"):
            if name in self.__dict__:
                self.__dict__[name].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@lru_cache(maxsize=4)
def shared_mill(settings: Settings) -> Mill:
    """The one mill of a data home in this process: Dagster's assets share tokenizer, masker and connections."""
    return Mill(settings)
