"""A dataset manifest: one line per row with its verdict, sources and digest, and every exclusion with its reason."""

from __future__ import annotations

from governance.records.base import Digest, Record, digest_json
from governance.records.rights import Verdict


class DatasetRow(Record):
    """One training row: the exact tokens, and where and by which right they came."""

    tenant_id: str
    subject: str
    trajectory_id: str
    step: int
    """The run's step that the row begins with: 0 for a row that holds the whole run."""
    input_ids: tuple[int, ...]
    completion_mask: tuple[int, ...]
    """1 where the loss applies."""
    choices: tuple[int, ...] = ()
    """Positions in ``input_ids`` of learned tokens that rule out a tool that was offered: where judgement lies."""
    verdict: Verdict
    origin: str
    """``takeover`` (a person's demonstration) or ``success`` (the agent's own run, confirmed)."""

    def digest(self) -> str:
        """The row's name: what is learned, from whom and by which right, but not when that right was last looked up."""
        plain = self.plain()
        plain["verdict"].pop("as_of")
        return digest_json(plain)


class Exclusion(Record):
    """A trajectory that was considered and left out."""

    tenant_id: str
    trajectory_id: str
    reason: str
    """A ``Reason`` or a quality reason such as ``held_out`` or ``incomplete``."""


class DatasetManifest(Record):
    """What an adapter is trained on."""

    scope: str
    rows: tuple[Digest, ...]
    """Digests of the rows, sorted, so that the manifest does not depend on order."""
    exclusions: dict[str, int]
    """Reason to count."""
    policy_version: str

    @property
    def root(self) -> str:
        """The content's name: the digest of the sorted row digests."""
        return digest_json(list(self.rows))
