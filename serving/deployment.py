"""What promotion needs of the store, and what a deployment history means.

``standing`` reads the append-only history as a stack: a promotion lays a release on top, a rollback takes releases off
until the one it went back to is on top (or lays a new one down in their place). So a second rollback goes further back,
never forward to the release that was just withdrawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from governance.records.release import AdapterRef, Deployment, ReleaseBundle

ROLLBACK = "rollback"
INITIAL = "initial"


class DeploymentTable(Protocol):
    """Champions, one append-only history per scope."""

    def current(self, scope: str) -> Deployment | None:
        """The newest entry."""

    def switch(self, scope: str, expected_version: int, release_digest: str, reason: str, actor: str) -> Deployment:
        """Compare-and-swap; raises Conflict when the version is another."""

    def history(self, scope: str) -> tuple[Deployment, ...]:
        """Every entry."""


class ReleaseTable(Protocol):
    """Releases and their taint."""

    def put(self, bundle: ReleaseBundle, parent: str | None, reason: str) -> Any:
        """Keep a release."""

    def get(self, digest: str) -> ReleaseBundle:
        """The release of that digest."""

    def tainted(self) -> set[str]:
        """Digests that may not serve any longer."""


class AdapterTable(Protocol):
    """Adapters: where they lie, and whether they may be used."""

    def get(self, content_digest: str) -> tuple[AdapterRef, str, dict[str, Any]]:
        """Reference, folder and probe sheet."""

    def state(self, content_digest: str) -> str:
        """``active`` or ``retired``."""


class PromotionStore(Protocol):
    """The three together."""

    @property
    def deployments(self) -> DeploymentTable:
        """Champions."""

    @property
    def releases(self) -> ReleaseTable:
        """Releases."""

    @property
    def adapters(self) -> AdapterTable:
        """Adapters."""


def is_rollback(entry: Deployment) -> bool:
    """Whether the entry took a release back."""
    return entry.reason == ROLLBACK or entry.reason.startswith(f"{ROLLBACK}:")


def standing(history: Sequence[Deployment]) -> list[str]:
    """Digests from the oldest to the champion, without what rollbacks took off."""
    stack: list[str] = []
    for entry in sorted(history, key=lambda one: one.version):
        if is_rollback(entry):
            if entry.release_digest in stack:
                del stack[stack.index(entry.release_digest) + 1 :]
                continue
            stack = stack[:-1]
        if stack[-1:] != [entry.release_digest]:
            stack.append(entry.release_digest)
    return stack
