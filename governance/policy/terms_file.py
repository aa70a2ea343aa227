"""The tables ``rebuild`` and ``assessment`` of a rights policy file, held against their floor.

The floor: some reasons stop weights whatever a policy says, and a deadline lies inside the month that GDPR Art. 12(3)
gives for an erasure. A key that is left out has the stricter value.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from governance.errors import PolicyError
from governance.records.rights import Reason
from governance.records.rights_policy import AssessmentTerms, InService, RebuildTerms, WhenOver

STOPS: Final = frozenset(
    {
        Reason.SUPPRESSED,
        Reason.RESTRICTED,
        Reason.UNLAWFUL_SOURCE,
        Reason.SPECIAL_CATEGORY,
        Reason.UNKNOWN_SUBJECT,
    }
)
"""Reasons that no policy may let weights go on with, nor a champion serve with."""
MOST_DAYS: Final = 30
"""The longest time from a loss to its deadline."""
_REASONS: Final = frozenset(Reason) - {Reason.ALLOWED, Reason.COMPLY, *STOPS}
Word = TypeVar("Word", bound=StrEnum)


def rebuild_terms(raw: Any, where: str) -> RebuildTerms:
    """What becomes of weights.

    Raises:
        PolicyError: naming the key and what is wrong with it.

    """
    where = f"{where}: [rebuild]"
    table = _table(raw, {"goes_on", "days", "in_service", "when_over"}, where)
    reasons, days = table.get("goes_on", []), table.get("days", MOST_DAYS)
    if not isinstance(reasons, list) or not all(isinstance(one, str) and one in _REASONS for one in reasons):
        raise PolicyError(f"{where}: goes_on is a list of {', '.join(sorted(_REASONS))}")
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise PolicyError(f"{where}: days is a whole number from 1 to {MOST_DAYS}")
    return RebuildTerms(
        goes_on=tuple(sorted(map(Reason, reasons))),
        days=days,
        in_service=_word(table, "in_service", InService.UNTIL_DEADLINE, where),
        when_over=_word(table, "when_over", WhenOver.ROLL_BACK, where),
    )


def assessment_terms(raw: Any, where: str) -> AssessmentTerms:
    """Whether training needs an approved assessment.

    Raises:
        PolicyError: naming the key and what is wrong with it.

    """
    where = f"{where}: [assessment]"
    table = _table(raw, {"required", "tenants"}, where)
    required, tenants = table.get("required", True), table.get("tenants", {})
    if not isinstance(required, bool):
        raise PolicyError(f"{where}: required is true or false")
    if not isinstance(tenants, Mapping) or not all(isinstance(value, bool) for value in tenants.values()):
        raise PolicyError(f"{where}: tenants names tenants, each with true or false")
    return AssessmentTerms(required=required, tenants=dict(sorted(tenants.items())))


def _table(raw: Any, keys: set[str], where: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise PolicyError(f"{where}: must be a table")
    unknown = sorted(raw.keys() - keys)
    if unknown:
        raise PolicyError(f"{where}: unknown key {unknown[0]!r}; there are: {', '.join(sorted(keys))}")
    return raw


def _word(table: Mapping[str, Any], name: str, default: Word, where: str) -> Word:
    kind, value = type(default), table.get(name, default)
    if not isinstance(value, str) or value not in set(kind):
        raise PolicyError(f"{where}: {name} is one of {', '.join(kind)}")
    return kind(value)
