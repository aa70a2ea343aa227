"""The masker of a command: a tenant's own, or one with a key of this run alone that leaves nothing behind."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from governance.ports.keys import KeyName
from governance.ports.masker import Masker, MaskingPolicies
from governance.records.masking_policy import MaskingPolicy, PolicyFile
from pipelines.settings import Settings, load_settings

NOBODY = "scan"
"""The tenant of a scan that is nobody's."""


class Opened(NamedTuple):
    """A masker, for whom it masks and under which policy."""

    masker: Masker
    tenant_id: str
    policy: MaskingPolicy


class Rules(MaskingPolicies):
    """The rules of a policy file, without any list."""

    def __init__(self, file: PolicyFile, detectors: str = "") -> None:
        """The default rules of the file are everybody's; ``detectors`` is the digest of what detects."""
        rules = file.rules(NOBODY)
        self._policy = MaskingPolicy(actions=rules.actions, thresholds=rules.thresholds, detectors=detectors)

    def policy(self, tenant_id: str) -> MaskingPolicy:  # noqa: ARG002 - the same for all
        """The rules."""
        return self._policy


@contextmanager
def opened(tenant: str | None, policy_file: Path | None) -> Iterator[Opened]:
    """The masker of a tenant (its keys, its lists) or of nobody, under the policy file given, else the settings' one.

    Raises:
        RecordError: when there is no such tenant, or the policy file is wrong.
        ReidentificationRefused: to who may not ask the tenant's key about texts of their own.
        TableError: when the policy file cannot be read.

    """
    settings = load_settings()
    if policy_file is not None:
        settings = settings.model_copy(update={"masking_policy": policy_file.resolve()})
    if tenant is None:
        yield _nobodys(settings)
        return
    from pipelines.commands.person import known_tenant
    from pipelines.wiring import Mill

    with Mill(settings) as mill:
        mill.key_desk.use(known_tenant(mill, tenant), KeyName.SURROGATE)
        yield Opened(mill.masker, tenant, mill.policies.policy(tenant))


def _nobodys(settings: Settings) -> Opened:
    from governance.keys import DerivedKeyProvider
    from governance.masking.detection import Detector
    from governance.masking.presidio_masker import PresidioMasker
    from governance.masking.rules_digest import detectors_digest
    from pipelines.tables import masking_policy

    rules = Rules(masking_policy(settings), detectors_digest(settings.pii_model))
    masker = PresidioMasker(
        DerivedKeyProvider(secrets.token_bytes(32)), detector=Detector(model=settings.pii_model), policies=rules
    )
    return Opened(masker, NOBODY, rules.policy(NOBODY))
