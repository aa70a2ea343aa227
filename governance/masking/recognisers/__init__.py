"""The recognisers, explicit: what Presidio's registry would load by default is not relied on.

Theory. A shape alone is weak evidence and scores below the threshold, with valid check digits too; a word beside it
(``evidence``, or Presidio's enhancer) or a structure that only such values have (grouping, country code, checksum
together with grouping) lifts it over. So a 10-digit page id that happens to be a valid phone number stays, and so does
a 16-digit id that passes Luhn. What is found says nothing about what happens to it: that is the tenant's
``MaskingPolicy``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from governance.masking.recognisers import (
    accounts,
    announced,
    births,
    codes,
    contacts,
    describing,
    heavier,
    korean,
    korean_people,
    labelled,
    names,
    national,
    network,
    phones,
    places,
    secrets,
    special,
    told_names,
    world,
)
from governance.masking.recognisers.kit import Listed

FAMILIES: Final = (
    names, told_names, contacts, phones, places, network, accounts, national, announced, labelled, codes, world,
    korean, korean_people, births, secrets, special, describing,
)  # fmt: skip


def build(model: Path | None = None) -> list[Listed]:
    """All recognisers, whatever a policy does with what they find; ``model`` is the folder of a heavier one.

    Raises:
        MaskingError: when the folder holds no model that can be used.

    """
    own = [listed for family in FAMILIES for listed in family.build()]
    return own if model is None else [*own, *heavier.build(model)]
