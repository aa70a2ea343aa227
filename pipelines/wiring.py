"""Wiring: one ``Mill`` holds every part of one data home, each made when first asked for.

This is the only place where the siblings meet: serving's runtime gets training's worlds, training gets serving's
runner, both get governance's store. Nothing here decides anything. A part is imported when it is made, as in
``pipelines.ground``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pipelines.ground import Ground
from pipelines.settings import Settings

if TYPE_CHECKING:
    from governance.erasure import ErasureService
    from governance.erasure_means import ErasureMeans
    from governance.ports.clock import Clock, IdFactory
    from governance.ports.erasable import Erasable
    from governance.pseudonymised import DeclarationDesk
    from governance.records.release import BaseModelRef
    from governance.records.rights import Purpose
    from pipelines.supervisor import Service, Supervisor
    from serving.promotion import Promoter
    from serving.runtime import HarnessRuntime
    from serving.tracker import MlflowTracker
    from serving.vllm_admin import VllmAdmin
    from serving.vllm_engine import VllmEngine
    from serving.vllm_server import VllmSettings
    from training.adapters import AdapterShelf
    from training.worlds import WorldHost

Tell = Callable[[str], None]


class Mill(Ground):
    """The wired parts of one data home. Use as a context manager, or ``close`` it."""

    closed_at_the_end: ClassVar[tuple[str, ...]] = (*Ground.closed_at_the_end, "admin")

    def __init__(self, settings: Settings, clock: Clock | None = None, ids: IdFactory | None = None) -> None:
        """Nothing is opened or started yet."""
        super().__init__(settings, clock, ids)
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

    # People

    @cached_property
    def erasure(self) -> ErasureService:
        """The way out."""
        from governance.erasure import ErasureService
        from pipelines.tables import erasure_policy

        policy, means = erasure_policy(self.settings), self.erasure_means
        return ErasureService(self.store, self.erasables(), self.clock, self.ids, policy=policy, means=means)

    @cached_property
    def erasure_means(self) -> ErasureMeans:
        """What an erasure works with."""
        from governance.erasure_means import ErasureMeans
        from governance.erasure_work import ErasureWork

        work = ErasureWork(self.settings.home / "erasures", self.keys)
        return ErasureMeans(self.keys, self.approvals, self.surrogates, work, self.journal)

    def learn_of_erasures(self) -> None:
        """Erase again, in every place, whom the journal knows as erased and the database does not."""
        from governance.erasure_replay import replay

        replay(self.erasure_means, self.store, self.erasables(), self.clock, self.ids)

    @cached_property
    def declarations(self) -> DeclarationDesk:
        """Pseudonymised processing, declared."""
        from governance.pseudonymised import DeclarationDesk

        return DeclarationDesk(self.store, self.approvals, self.clock, self.ids)

    def erasables(self) -> tuple[Erasable, ...]:
        """Every place that holds data made from people."""
        from pipelines.places import places

        return places(self)

    # Serving

    @property
    def model_dir(self) -> Path:
        """Where the base model lies, once prepared."""
        chosen = self.settings.base_model
        return self.settings.model_cache / (f"base-{chosen.name}" if chosen else "base-model")

    @cached_property
    def base(self) -> BaseModelRef:
        """The frozen base, prepared on first use."""
        from serving.base_model import prepare

        return prepare(self.settings.base_model, self.model_dir, self._say)

    @cached_property
    def tokenizer(self) -> Any:
        """The base's tokenizer."""
        from serving.template import load_tokenizer

        self.base  # noqa: B018 - prepares the folder
        return load_tokenizer(str(self.model_dir))

    @cached_property
    def runner(self) -> HarnessRuntime:
        """The harness runtime without telemetry: evaluation and training."""
        from serving.runtime import HarnessRuntime

        return HarnessRuntime(self.tokenizer, None, self.clock)

    @cached_property
    def vllm_settings(self) -> VllmSettings:
        """How vLLM runs here."""
        from serving.vllm_server import VllmSettings, native_dtype

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
        from pipelines.services import vllm_service

        return vllm_service(self.settings, self.vllm_settings)

    @cached_property
    def engine(self) -> VllmEngine:
        """The served model, asked directly: evaluation."""
        from serving.vllm_engine import VllmEngine

        return VllmEngine(self.vllm_settings.base_url)

    @cached_property
    def admin(self) -> VllmAdmin:
        """Adapters of the server."""
        from serving.vllm_admin import VllmAdmin

        return VllmAdmin(self.vllm_settings.base_url)

    @cached_property
    def tracker(self) -> MlflowTracker:
        """MLflow."""
        from serving.tracker import MlflowTracker

        folder = self.settings.home / "mlflow"
        if self.settings.mlflow_tracking_uri is not None:
            return MlflowTracker(self.settings.tracking_uri, None)
        folder.mkdir(parents=True, exist_ok=True)
        return MlflowTracker(self.settings.tracking_uri, folder / "artifacts")

    @cached_property
    def promoter(self) -> Promoter:
        """Promotes and rolls back."""
        from pipelines.steps.rights import why_not_now
        from serving.compatibility import ServingLimits
        from serving.promotion import Promoter

        return Promoter(
            self.store,
            self.admin,
            self.tracker,
            self.clock,
            scopes=self.store.deployments.scopes,
            rights_check=lambda bundle: why_not_now(self, bundle),
            limits=ServingLimits(
                max_rank=self.vllm_settings.max_lora_rank,
                target_modules=frozenset(self.vllm_settings.adapter_modules),
            ),
        )

    @cached_property
    def supervisor(self) -> Supervisor:
        """Services of this data home."""
        from pipelines.supervisor import Supervisor

        return Supervisor(self.settings.home / "run")

    # Training

    @cached_property
    def shelf(self) -> AdapterShelf:
        """The folder of adapters."""
        from training.adapters import AdapterShelf

        return AdapterShelf(self.settings.home / "adapters", self._in_service)

    def host(self, purpose: Purpose) -> WorldHost:
        """Masked worlds for one purpose."""
        from training.worlds import WorldHost

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


@lru_cache(maxsize=4)
def shared_mill(settings: Settings) -> Mill:
    """The one mill of a data home in this process: Dagster's assets share tokenizer, masker and connections."""
    return Mill(settings)
