"""The figures of an evaluation: as values that a file or a report can hold, and as lines that a person reads."""

from __future__ import annotations

from typing import Any, Final

from governance.masking.evaluation import Tally
from governance.rates import Rate, Score, f_beta
from pipelines.pii.evaluating import Measured

BETA: Final = 2.0
"""A value that is missed weighs more than one that is masked without need."""
METHOD: Final = (
    "95% intervals: Wilson's for rates, on counts over the design effect where texts come in clusters; F2 by those of "
    "precision and recall at half the error each"
)
_COLUMNS: Final = ("recall", "precision", "f2", "leaked", "damaged", "alarms")


def figures(measured: Measured) -> dict[str, Any]:
    """Everything that was counted, with intervals."""
    evaluation = measured.evaluation
    examples = measured.examples
    return {
        "form": measured.form.name,
        "method": METHOD,
        "policy": measured.policy.version,
        "whole": tally(evaluation.whole),
        "types": {name: tally(one) for name, one in sorted(evaluation.types.items())},
        "languages": {name: tally(one) for name, one in sorted(evaluation.languages.items())},
        "channels": {name: tally(one) for name, one in sorted(evaluation.channels.items())},
        "json_broken": measured.broken,
        "left_out": dict(sorted(measured.skipped.items())),
        "bad_lines": [str(fault) for fault in measured.faults],
        "examples": {"missed": examples.missed, "wrong": examples.wrong, "damaged": examples.damaged},
    }


def tally(counts: Tally) -> dict[str, Any]:
    """Rates of some texts; those without a trial are left out."""
    rates: dict[str, Rate | Score] = {
        "recall": counts.recall.rate(),
        "precision": counts.precision.rate(),
        "f2": f_beta(BETA, counts.precision, counts.recall),
        "leaked": counts.leaked.rate(),
        "damaged": counts.damaged.rate(),
        "alarms": counts.alarms.rate(),
    }
    shown = {name: told(rate) for name, rate in rates.items() if rate.value is not None}
    return {"texts": counts.texts, "kept_by_policy": counts.kept_by_policy, **shown}


def told(rate: Rate | Score) -> dict[str, Any]:
    """A rate as plain values."""
    plain: dict[str, Any] = {"value": rate.value, "low": rate.interval.low, "high": rate.interval.high}
    if isinstance(rate, Rate):
        plain |= {"k": rate.k, "n": rate.n, "clusters": rate.clusters}
    return {**plain, "enough": rate.enough}


def shown(result: dict[str, Any]) -> str:
    """The figures as lines."""
    lines = [f"{result['form']}, rule {result['rule']}, policy {result['policy'][:12]}", result["method"]]
    for title in ("types", "languages", "channels"):
        if result[title]:
            lines += ["", f"by {title[:-1]}"]
            lines += [_line(name, one) for name, one in result[title].items()]
    lines += ["", _line("all", result["whole"])]
    for name in ("json_broken", "left_out", "bad_lines"):
        if result[name]:
            lines.append(f"{name}: {result[name]}")
    for kind, places in result["examples"].items():
        lines += [f"{kind}: {place}" for place in places]
    return "\n".join(lines)


def _line(name: str, one: dict[str, Any]) -> str:
    cells = [f"{name:<24} {one['texts']:>6} texts"]
    cells += [f"{column} {cell(one[column])}" for column in _COLUMNS if column in one]
    if one["kept_by_policy"]:
        cells.append(f"kept by policy {one['kept_by_policy']}")
    return "  ".join(cells)


def cell(rate: dict[str, Any]) -> str:
    """A rate in one cell: value, interval, count, and whether that says anything."""
    count = f", n {rate['n']}" if "n" in rate else ""
    said = "" if rate["enough"] else ", too few to say"
    return f"{rate['value']:.3f} [{rate['low']:.3f}, {rate['high']:.3f}{count}{said}]"
