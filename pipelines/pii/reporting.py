"""The report on masking: what was found, under which policy, how well, and what is left. Numbers, names and dates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from governance.masking.risk import leak_rate
from governance.records.ledger import LedgerLine
from governance.records.masking_policy import DETECTED_ONLY, SPECIAL_CATEGORIES, Action, MaskingPolicy
from pipelines.errors import TableError
from pipelines.pii.reviewed import reviewed
from pipelines.report import charts
from pipelines.report.render import page
from pipelines.wiring import Mill

_DAYS: Final = 60
"""Days of the chart: the newest."""
_GROUPS: Final = ("types", "languages", "channels")
Summary = dict[str, Any]


def summary(mill: Mill, tenant: str | None, since: str, figures: Sequence[Path]) -> Summary:
    """Everything on the page but the examples.

    Raises:
        TableError: when a file of figures is none.

    """
    lines = [line for line in mill.store.ledger.lines(since) if tenant in {None, line.tenant_id}]
    known = {*mill.store.rights.tenants(), *mill.tenant_keys.by_key().values(), *(line.tenant_id for line in lines)}
    tenants = sorted(known if tenant is None else {tenant})
    policies = {one: mill.policies.policy(one) for one in tenants}
    versions = {policy.version for policy in policies.values()}
    return {
        "at": mill.clock.now().strftime("%Y-%m-%d %H:%M UTC"),
        "since": since,
        "tenants": tenants,
        "total": sum(count for line in lines for kinds in line.findings.values() for count in kinds.values()),
        "days": by_day(lines)[-_DAYS:],
        "found": by_type(lines),
        "policies": [_policy(name, policy) for name, policy in policies.items()],
        "lists": [entry for one in tenants for entry in _lists(mill, one)],
        "quarantine": _quarantine(mill, tenants),
        "evaluations": [_evaluation(path, place, versions) for place, path in enumerate(figures)],
        "reviews": [reviewed(one, mill.store.reviews.list(one), mill.store.reviews.decisions(one)) for one in tenants],
        "risk": _risk(mill, tenants),
        "made_up": [],
        "stored": [],
    }


def render(made: Summary) -> str:
    """The page as HTML."""
    pictures = {"found": charts.found(made["days"]) if made["total"] else ""}
    for one in made["evaluations"]:
        rows = [{"name": row["name"], **row["recall"]} for row in one["rows"] if row.get("recall")]
        pictures[one["chart"]] = charts.rates(rows, "recall") if rows else ""
    return page("masking.html", made, pictures)


def by_day(lines: Iterable[LedgerLine]) -> list[Summary]:
    """Values replaced on each day, by channel."""
    days: dict[str, Counter[str]] = {}
    for line in lines:
        counts = days.setdefault(line.day, Counter())
        for channel, kinds in line.findings.items():
            counts[channel] += sum(kinds.values())
    return [{"day": day, "channels": dict(sorted(counts.items()))} for day, counts in sorted(days.items())]


def by_type(lines: Iterable[LedgerLine]) -> list[Summary]:
    """Values replaced by tenant and type, the most first."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for line in lines:
        for channel, kinds in line.findings.items():
            for kind, count in kinds.items():
                found.setdefault((line.tenant_id, kind), Counter())[channel] += count
    rows = [
        {"tenant": tenant, "type": kind, "channels": dict(sorted(counts.items())), "total": counts.total()}
        for (tenant, kind), counts in found.items()
    ]
    return sorted(rows, key=lambda row: (row["tenant"], -row["total"], row["type"]))


def _policy(tenant: str, policy: MaskingPolicy) -> Summary:
    told = {*policy.actions, *DETECTED_ONLY, *SPECIAL_CATEGORIES}
    by_action = {action: sorted(kind for kind in told if policy.action(kind) is action) for action in Action}
    return {
        "tenant": tenant,
        "version": policy.version,
        **{action.value: kinds for action, kinds in by_action.items()},
        "thresholds": dict(sorted(policy.thresholds.items())),
        "allow": len(policy.allow),
        "deny": len(policy.deny),
    }


def _lists(mill: Mill, tenant: str) -> list[Summary]:
    return [
        {
            "tenant": tenant,
            "list": event.list_name.value,
            "type": event.entity_type,
            "owner": event.owner,
            "reason": event.reason,
            "until": event.until.date().isoformat(),
        }
        for event in mill.store.masking_lists.current(tenant, mill.clock.now())
    ]


def _quarantine(mill: Mill, tenants: Sequence[str]) -> list[Summary]:
    return [
        {
            "id": item.id[:12],
            "tenant": item.tenant_id,
            "reason": item.reason,
            "spans": item.spans,
            "since": item.since.strftime("%Y-%m-%d %H:%M"),
            "attempts": item.attempts,
            "expires": item.expires_at.strftime("%Y-%m-%d %H:%M"),
        }
        for item in mill.store.quarantine.list()
        if item.tenant_id in tenants
    ]


def _risk(mill: Mill, tenants: Sequence[str]) -> list[Summary]:
    """The leak rate of each dataset version in which a tenant has rows."""
    rows = []
    for root in mill.store.datasets.roots():
        sources = mill.store.datasets.sources(root)
        if any(source.tenant_id in tenants for source in sources):
            rate = leak_rate(root, [source.digest for source in sources], mill.store.row_reviews.of(root))
            rows.append({**rate.plain(), "scope": mill.store.datasets.manifest(root).scope})
    return rows


def _evaluation(path: Path, place: int, versions: set[str]) -> Summary:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        rows = [_row("all", held["whole"])]
        rows += [_row(name, one) for group in _GROUPS for name, one in held[group].items()]
        told = {name: held[name] for name in ("file", "form", "rule", "judged", "policy", "method")}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableError(f"{path}: not what `tidemill pii evaluate --json` prints ({type(error).__name__})") from error
    return {**told, "rows": rows, "stale": held["policy"] not in versions, "chart": f"recall_{place}"}


def _row(name: str, one: Mapping[str, Any]) -> Summary:
    rates = {each: one.get(each) for each in ("recall", "precision", "f2", "leaked", "damaged")}
    return {"name": name, "texts": one["texts"], **rates}
