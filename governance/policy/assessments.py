"""Whether training may start: each tenant whose rows it reads has an approved assessment of the purpose and categories.

Pure. An assessment counts at a moment when it was recorded by then and not superseded, its time has come and is not
over, and an approval of it stands. It need not cover everything alone: categories add up over those that count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from governance.records.assessment import Assessment, DataCategory
from governance.records.rights import Purpose


def standing(recorded: Iterable[Assessment], as_of: datetime) -> list[Assessment]:
    """The assessments that stand at ``as_of`` as far as was known then, approved or not."""
    known = [one for one in recorded if one.recorded_at <= as_of]
    replaced = {one.supersedes for one in known}
    return [one for one in known if one.id not in replaced and one.valid_from <= as_of < one.valid_to]


def uncovered(
    purpose: Purpose,
    categories: Collection[DataCategory],
    recorded: Iterable[Assessment],
    approved: Collection[str],
    as_of: datetime,
) -> str | None:
    """Why training may not start for a tenant; None when it may. ``approved``: ids whose approval stands."""
    stand = [one for one in standing(recorded, as_of) if one.purpose is purpose]
    counting = [one for one in stand if one.id in approved]
    covered = {category for one in counting for category in one.categories}
    missing = sorted(set(categories) - covered)
    if not missing:
        return None
    waiting = [one.id for one in stand if one.id not in approved and set(one.categories) & set(missing)]
    said = f"no approved, unexpired assessment of {purpose.value} covers {', '.join(missing)}"
    return f"{said}; {', '.join(waiting)} waits for approval" if waiting else said
