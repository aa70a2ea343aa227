"""The demo's assessments: one for each tenant of the made-up shop, written by the installation itself.

Whoever owns the data home approves them: nobody approves their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta

from governance.acting import Acting, acts_as
from governance.records.assessment import DataCategory
from governance.records.principal import THE_SERVICE, Role, local_owner
from governance.records.rights import Purpose
from pipelines.wiring import Mill

DOCUMENT = "demo-assessment-1"


def assess(mill: Mill, tenants: Iterable[str]) -> None:
    """Record and approve what training needs; what is there already stays."""
    until = mill.clock.now() + timedelta(days=365)
    held = (DataCategory.COMMUNICATION, DataCategory.STAFF)
    for tenant in tenants:
        known = {one["document"]: one for one in mill.assessments.listed(tenant)}
        if DOCUMENT not in known:
            with acts_as(Acting(THE_SERVICE, Role.SERVICE)):
                made = mill.assessments.add(tenant, Purpose.TRAIN_WEIGHTS, held, document=DOCUMENT, until=until)
            known[DOCUMENT] = made.plain() | {"state": "waits for approval"}
        if known[DOCUMENT]["state"] == "waits for approval":
            with acts_as(Acting(local_owner(os.getuid()), Role.REVIEWER)):
                mill.assessments.approve(tenant, known[DOCUMENT]["id"], reason=DOCUMENT)
