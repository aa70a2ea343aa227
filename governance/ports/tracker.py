"""The experiment tracker and model registry, as far as Tidemill needs one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path


class Tracker(ABC):
    """Records runs and registers releases."""

    @abstractmethod
    def record_run(
        self,
        *,
        experiment: str,
        key: str,
        params: Mapping[str, str],
        metrics: Mapping[str, float],
        artifacts: Mapping[str, Path],
    ) -> str:
        """Record one run and return its id. The same ``key`` records once: a retry returns the first run's id."""

    @abstractmethod
    def register_release(self, *, scope: str, release_digest: str, run_id: str, tags: Mapping[str, str]) -> str:
        """Register a release as a version of the scope's model and return the version. Idempotent by digest."""

    @abstractmethod
    def project_alias(self, *, scope: str, alias: str, release_digest: str | None) -> None:
        """Make the alias say what the deployment table says; None removes it."""

    @abstractmethod
    def delete_run_artifacts(self, run_id: str) -> None:
        """Remove a run's files and mark it erased, for an erasure that reaches it."""
