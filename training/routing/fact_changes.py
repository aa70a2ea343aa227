"""Fact changes: what the agent was told is no longer what the documents say.

Theory. A person who takes over reads a document. Where it states another value than the fact that the champion's
context held at that moment, no agent could have known: the fact is stale, and telling the new one is the cheapest lever
there is. The change happened at the earliest run in which the document read as it does now, or at the date that its
text states. Around that moment the failure rate of runs about the fact is compared by Fisher's exact test (one-sided).
The moment is chosen from the same data, so the p-value is reported as evidence and decides nothing; the decision rests
on the contradiction itself, on how many runs and people met it, and on how consistently the document reads since.
A document that the context holds no fact of, and whose value the agent did not state, is a missing fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from governance.records.base import Record
from governance.records.context import Context, Fact
from governance.records.harness import Effect, Harness
from governance.records.lever import Lever, Pattern
from governance.records.trajectory import Actor, Trajectory
from training.evidence import answer_of, succeeded, taken_over
from training.routing.divergence import Divergence, pattern, some
from training.routing.schema_faults import short_of
from training.routing.window import Window
from training.values import fold, leaves, quantities, skeleton, states, unit_of

_LEAST_WORDS: Final = 3
_EVERYONE: Final = (Actor.AGENT, Actor.HUMAN)
_ISO_DATE: Final = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_LONG_DATE: Final = re.compile(r"\b(\d{1,2}) ([A-Z][a-z]+) (\d{4})\b")


class Read(Record):
    """One text that a tool gave in a run."""

    trajectory: Trajectory
    key: str
    """The text's name: what the caller asked for."""
    text: str


class Stale(Record):
    """A fact and the text that contradicts it; ``fact`` is None where there is none."""

    key: str
    fact: Fact | None
    read: Read


def reads(trajectory: Trajectory, harness: Harness, actors: Iterable[Actor]) -> list[Read]:
    """The named texts that reading tools gave in a run."""
    wanted = set(actors)
    found = []
    for call in trajectory.calls:
        tool = harness.tool(call.name)
        writes = tool is not None and tool.effect is not Effect.READ
        names = list(leaves(call.arguments))
        if writes or call.actor not in wanted or not succeeded(call) or len(names) != 1:
            continue
        texts = [leaf for leaf in leaves(call.result) if len(leaf.split()) >= _LEAST_WORDS]
        found += [Read(trajectory=trajectory, key=names[0], text=text) for text in texts]
    return found


def about(fact: Fact, read: Read) -> bool:
    """Whether a text is about what the fact is about."""
    return fold(fact.key) == fold(read.key) or skeleton(fact.text) == skeleton(read.text)


def contradicted(fact: Fact, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values that only the fact states, and those of their units that only the text states."""
    old = tuple(value for value in quantities(fact.text) if not states(text, value))
    units = {unit_of(value) for value in old}
    new = [value for value in quantities(text) if not states(fact.text, value) and unit_of(value) in units]
    return old, tuple(new)


def stale_of(divergence: Divergence, harness: Harness, context: Context) -> Stale | None:
    """The fact that misled this run, or that it lacked."""
    facts = context.facts_at(divergence.trajectory.started_at)
    told = divergence.agent_answer
    for read in reads(divergence.trajectory, harness, (Actor.HUMAN,)):
        matching = [fact for fact in facts if about(fact, read)]
        for fact in matching:
            old, new = contradicted(fact, read.text)
            if old and new and not all(states(told, value) for value in new):
                return Stale(key=fact.key, fact=fact, read=read)
            if not quantities(fact.text) and not quantities(read.text) and fold(fact.text) != fold(read.text):
                return Stale(key=fact.key, fact=fact, read=read)
        shared = [value for value in quantities(read.text) if states(divergence.human_answer, value)]
        if not matching and shared and not all(states(told, value) for value in shared):
            return Stale(key=fold(read.key), fact=None, read=read)
    return None


def judge(key: str, group: Sequence[Stale], window: Window) -> Pattern:
    """The pattern of the runs that one stale or missing fact misled."""
    fact, names = group[0].fact, {stale.read.key for stale in group}
    history = [
        read for one in window.trajectories for read in reads(one, window.harness, _EVERYONE) if read.key in names
    ]
    now = history[-1].text
    since = min(read.trajectory.started_at for read in history if fold(read.text) == fold(now))
    later = [read for read in history if read.trajectory.started_at >= since]
    agreeing = sum(fold(read.text) == fold(now) for read in later) / len(later)
    runs = [stale.read.trajectory for stale in group]
    evidence = _evidence(key, group, now, since, window) | {"document_agrees": round(agreeing, 4)}
    fault = short_of(runs, window.thresholds)
    if agreeing < window.thresholds.consistency:
        fault = f"the document reads differently in {1 - agreeing:.0%} of the runs since it changed"
    name = f"fact_{'changed' if fact else 'missing'}:{key}"
    if fault is not None:
        return pattern(name, window.scope, Lever.NONE, f"Held: {fault}.", runs=runs, evidence=evidence)
    states_now = ", ".join(evidence["new_values"]) or now
    before = f"states {', '.join(evidence['old_values']) or fact.text}" if fact else "has no fact of it"
    reason = (
        f"The document {evidence['document']} states {states_now} since {since:%Y-%m-%d %H:%M}, while the context "
        f"{before}: {len(runs)} runs could not know it, and telling the agent is the cheapest lever."
    )
    return pattern(name, window.scope, Lever.CONTEXT, reason, runs=runs, evidence=evidence)


def _evidence(key: str, group: Sequence[Stale], now: str, since: datetime, window: Window) -> dict[str, Any]:
    fact, names = group[0].fact, {stale.read.key for stale in group}
    old, new = contradicted(fact, now) if fact else ((), quantities(now))
    told = [answer_of(stale.read.trajectory, Actor.AGENT, window.harness.answer_tool) or "" for stale in group]
    return {
        "fact_key": key,
        "document": min(names),
        "document_text": now,
        "old_values": list(old),
        "new_values": list(new),
        "agent_stated_old": sum(any(states(text, value) for value in old) for text in told),
        "agent_answers": some(told, 3),
        "valid_from": (stated_date(now) or since).isoformat(),
        "change_point": _change_point((*old, *new), since, window, names),
    }


def stated_date(text: str) -> datetime | None:
    """The one date that a text states, at midnight UTC, or None where it states none or several."""
    found = [_date(f"{year}-{month}-{day}", "%Y-%m-%d") for year, month, day in _ISO_DATE.findall(text)]
    found += [_date(f"{day} {month} {year}", "%d %B %Y") for day, month, year in _LONG_DATE.findall(text)]
    dates = {date for date in found if date is not None}
    return dates.pop() if len(dates) == 1 else None


def _date(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        return None


def _change_point(values: Sequence[str], since: datetime, window: Window, names: set[str]) -> dict[str, Any]:
    """Failures of runs about the fact before and after the change, with the exact test's p-value."""
    counts = {(late, failed): 0 for late in (False, True) for failed in (False, True)}
    for one in window.trajectories:
        said = [answer_of(one, actor, window.harness.answer_tool) or "" for actor in _EVERYONE]
        consulted = any(read.key in names for read in reads(one, window.harness, _EVERYONE))
        if consulted or any(states(text, value) for text in said for value in values):
            counts[one.started_at >= since, taken_over(one)] += 1
    table = [[counts[True, True], counts[True, False]], [counts[False, True], counts[False, False]]]
    return {
        "at": since.isoformat(),
        "failed_before": counts[False, True],
        "runs_before": sum(table[1]),
        "failed_after": counts[True, True],
        "runs_after": sum(table[0]),
        "fisher_p": fisher(table),
    }


def fisher(table: list[list[int]]) -> float:
    """One-sided p-value of Fisher's exact test: failures are more frequent in the first row."""
    from scipy.stats import fisher_exact

    return round(float(fisher_exact(table, alternative="greater").pvalue), 6)
