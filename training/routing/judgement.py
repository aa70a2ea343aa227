"""Judgement: the agent and the person did different things, and both could be done.

Theory. The agent changed the world with one tool where the person used another. No schema was broken and no fact
contradicted, so what differs is the choice. It is worth weights only when it repeats over runs and people, makes up a
real share of its topic, can be checked (the person's writes leave a state difference in a known world), and is the same
choice whenever two requests say nearly the same: choices that contradict each other cannot be learned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from governance.records.harness import Effect, Harness
from governance.records.lever import Lever, Pattern
from governance.records.trajectory import ToolInvocation
from training.evidence import succeeded
from training.routing.divergence import Divergence, pattern
from training.routing.schema_faults import short_of
from training.routing.thresholds import Thresholds
from training.routing.window import Window
from training.split import instruction_of
from training.values import fold

MOST_COMPARED: Final = 400
LEAST_PAIRS: Final = 5


def writes(calls: Sequence[ToolInvocation], harness: Harness) -> tuple[str, ...]:
    """The tools that changed the world, in order."""
    done = [call.name for call in calls if succeeded(call)]
    return tuple(name for name in done if (tool := harness.tool(name)) is not None and tool.effect is Effect.WRITE)


def choice_of(divergence: Divergence, harness: Harness) -> tuple[str, str] | None:
    """What the agent and the person wrote with, where both wrote and differ."""
    mine, theirs = writes(divergence.agent_calls, harness), writes(divergence.human_calls, harness)
    if not mine or not theirs or set(mine) == set(theirs):
        return None
    return "+".join(dict.fromkeys(mine)), "+".join(dict.fromkeys(theirs))


def judge(topic: str, group: Sequence[Divergence], window: Window) -> Pattern:
    """The pattern of a topic's runs in which the choice was wrong."""
    runs = [one.trajectory for one in group]
    choices = [choice for one in group if (choice := choice_of(one, window.harness)) is not None]
    asked = [one for one in window.trajectories if one.topic == runs[0].topic]
    people_chose = [human for _, human in choices]
    pairs, agreement = consistency([instruction_of(one) for one in runs], people_chose, window.thresholds)
    counts = Counter(f"{mine}->{theirs}" for mine, theirs in choices)
    evidence = {
        "topic": topic,
        "choices": dict(counts.most_common()),
        "topic_runs": len(asked),
        "share": round(len(runs) / max(1, len(asked)), 4),
        "checkable": sum(one.world_digest is not None for one in runs),
        "alike_pairs": pairs,
        "alike_agree": round(agreement, 4),
    }
    key = f"judgement:{topic}"
    fault = short_of(runs, window.thresholds) or _fault(evidence, window.thresholds)
    if fault is not None:
        return pattern(key, window.scope, Lever.NONE, f"Held: {fault}.", runs=runs, evidence=evidence)
    often = ", ".join(f"{name} ({count})" for name, count in counts.most_common(3))
    reason = (
        f"In {len(runs)} of {len(asked)} runs about {topic} a person chose another tool than the agent, {often}: every "
        "call was valid and no fact or schema was wrong, and the state difference checks it, so it is judgement."
    )
    return pattern(key, window.scope, Lever.WEIGHTS, reason, runs=runs, evidence=evidence)


def _fault(evidence: dict[str, Any], thresholds: Thresholds) -> str | None:
    """What forbids to teach the choice, or None."""
    share, least = evidence["share"], thresholds.share
    if share < least:
        return f"{share:.0%} of the topic's runs are fewer than the {least:.0%} that tell a habit from chance"
    if evidence["checkable"] < thresholds.trajectories:
        return "there is no way to check it: the worlds of the runs are not known"
    if evidence["alike_pairs"] >= LEAST_PAIRS and evidence["alike_agree"] < thresholds.consistency:
        return f"people chose alike in only {evidence['alike_agree']:.0%} of the pairs of requests that say the same"
    return None


def consistency(texts: Sequence[str], choices: Sequence[str], thresholds: Thresholds) -> tuple[int, float]:
    """How many pairs of requests say nearly the same, and the share of them in which the choice was the same."""
    words = [frozenset(re.findall(r"[^\W\d_]+", fold(text))) for text in texts[:MOST_COMPARED]]
    pairs = same = 0
    for left, right in combinations(range(len(words)), 2):
        union = words[left] | words[right]
        if union and len(words[left] & words[right]) / len(union) >= thresholds.same_words:
            pairs += 1
            same += choices[left] == choices[right]
    return pairs, same / pairs if pairs else 1.0
