"""A release: base model + adapter + harness + context, named by the digest of the four.

Gated, promoted and rolled back as one. The adapter's served name holds its digest, so weights never change under
a name.
"""

from __future__ import annotations

from enum import StrEnum

from governance.records.base import Digest, Record, UtcTime, digest_json
from governance.records.context import Context
from governance.records.harness import Harness


class BaseModelRef(Record):
    """The frozen base: a name and the digest of its files."""

    name: str
    content_digest: Digest


class AdapterRef(Record):
    """A LoRA adapter: digest of its files, and what serving must know to load it."""

    content_digest: Digest
    rank: int
    target_modules: tuple[str, ...]
    dataset_digest: Digest

    @property
    def served_name(self) -> str:
        """The name under which an engine loads it."""
        return f"adapter-{self.content_digest[:16]}"


class Release(Record):
    """The unit of promotion."""

    base: BaseModelRef
    adapter: AdapterRef | None = None
    harness_digest: Digest
    context_digest: Digest

    def digest(self) -> str:
        """Digest of the four parts; nothing else names a release."""
        return digest_json(
            {
                "base": self.base.content_digest,
                "adapter": self.adapter.content_digest if self.adapter else None,
                "harness": self.harness_digest,
                "context": self.context_digest,
            }
        )

    @property
    def name(self) -> str:
        """A short name for people: ``release-`` and the digest's first 12 digits."""
        return f"release-{self.digest()[:12]}"


class ReleaseBundle(Record):
    """A release with the records it names, ready to run."""

    release: Release
    harness: Harness
    context: Context

    @classmethod
    def of(cls, base: BaseModelRef, adapter: AdapterRef | None, harness: Harness, context: Context) -> ReleaseBundle:
        """Bundle the four parts under the release that they make."""
        release = Release(base=base, adapter=adapter, harness_digest=harness.digest(), context_digest=context.digest())
        return cls(release=release, harness=harness, context=context)


class Alias(StrEnum):
    """The role of a release in a scope."""

    CHAMPION = "champion"
    CHALLENGER = "challenger"


class Deployment(Record):
    """One entry of the append-only deployment history: which release is champion of a scope, since when, why."""

    scope: str
    version: int
    """Grows by one with each change; the compare-and-swap compares it."""
    release_digest: Digest
    previous_digest: Digest | None = None
    reason: str
    actor: str
    at: UtcTime
