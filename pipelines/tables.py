"""Tables: what a company states in TOML files of its own, each named by a setting.

Without the setting a table is empty, or what comes with the project.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from pipelines.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from governance.records.controller import Controller
    from governance.records.erasure import ErasurePolicy
    from governance.records.masking_policy import PolicyFile
    from governance.records.process_rule import ProcessRule
    from governance.records.retention import RetentionPolicy
    from governance.records.rights_policy import RightsPolicy
    from ingestion.prices import PriceTable
    from pipelines.settings import Settings


def prices(settings: Settings) -> PriceTable:
    """What tokens cost the company.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from ingestion.prices import PriceTable, parse_prices

    path = settings.prices
    return PriceTable() if path is None else parse_prices(_text(path, "TIDEMILL_PRICES"), str(path))


def process_rules(settings: Settings) -> tuple[ProcessRule, ...]:
    """What the company's agents must and must not do.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from governance.records.process_rule import ProcessRules

    path = settings.process_rules
    return () if path is None else ProcessRules.parse(_toml(path, "TIDEMILL_PROCESS_RULES"), str(path)).rule


def rights_policy(settings: Settings) -> RightsPolicy:
    """By which rules the use of people's data is denied.

    Raises:
        TableError: when the file cannot be read.
        PolicyError: when it is no policy, or lifts what none may lift.

    """
    from governance.policy.rights import DEFAULT
    from governance.policy.rights_file import parse_policy

    path = settings.rights_policy
    return DEFAULT if path is None else parse_policy(_text(path, "TIDEMILL_RIGHTS_POLICY"), str(path))


def retention_policy(settings: Settings) -> RetentionPolicy:
    """How long each purpose keeps what it uses.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from governance.records.retention import RetentionPolicy

    path = settings.retention_policy
    if path is None:
        return RetentionPolicy()
    return RetentionPolicy.parse(_toml(path, "TIDEMILL_RETENTION_POLICY"), str(path))


def masking_policy(settings: Settings) -> PolicyFile:
    """What masking does with what it finds, for everybody and tenant by tenant.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from governance.records.masking_policy import PolicyFile, parse_policy_file
    from pipelines.pii.typed import check_types

    path = settings.masking_policy
    if path is None:
        return PolicyFile()
    file = parse_policy_file(_toml(path, "TIDEMILL_MASKING_POLICY"), str(path))
    for where, rules in (
        ("default", file.default),
        *((f"tenant.{name}", rules) for name, rules in file.tenant.items()),
    ):
        check_types({*rules.actions, *rules.thresholds}, f"{path}: {where}")
    return file


def erasure_policy(settings: Settings) -> ErasurePolicy:
    """What an erasure needs here, and what serves meanwhile."""
    from governance.records.erasure import ErasurePolicy

    return ErasurePolicy(
        term_days=settings.erasure_term_days,
        serving=settings.erasure_serving,
        keep_days=settings.erasure_keep_days,
        backup_days=settings.erasure_backup_days,
    )


def controllers(settings: Settings) -> Mapping[str, Controller]:
    """Who answers for each tenant's data, for receipts.

    Raises:
        TableError: when the file cannot be read.
        RecordError: when it is not such a table, and where.

    """
    from governance.records.controller import ControllerFile

    path = settings.controllers
    return {} if path is None else ControllerFile.parse(_toml(path, "TIDEMILL_CONTROLLERS"), str(path)).controller


def _toml(path: Path, variable: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path, variable))
    except (ValueError, RecursionError) as error:  # a number too long for Python and too deep a nesting among them
        raise TableError(f"{variable}: {path} is not TOML that can be read: {error}") from error


def _text(path: Path, variable: str) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{variable}: {path} cannot be read: {error}") from error
