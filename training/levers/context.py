"""The context lever: the fact that a document now states, in the words of the fact that it replaces.

Theory. A model that was prompted with one wording is disturbed least by the same wording with the new value. So the
champion's own text is kept and the value replaced, where exactly one value is replaced by exactly one; else the
document's sentence is quoted that shares most words with the old fact, with typed placeholders where it names a person,
since a document of a masked world holds surrogates. The fact is valid from the moment of the change.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from governance.records.context import Context, Fact
from governance.records.lever import ContextChange, Lever, Pattern, Proposal
from training.errors import LeverRefused
from training.levers.personal import Detector, refuse_personal
from training.values import fold, states

Template = Callable[[str], str]
"""A masked text to the same text with typed placeholders (``governance.masking.placeholders``)."""


def propose(
    pattern: Pattern, context: Context, created_at: datetime, detect: Detector | None = None, template: Template = str
) -> Proposal:
    """The fact that the pattern asks for; ``template`` puts typed placeholders in the place of surrogates.

    Raises:
        LeverRefused: when the pattern is not of this lever, or the text would hold a personal value.

    """
    if pattern.lever is not Lever.CONTEXT:
        raise LeverRefused(f"{pattern.key}: its lever is {pattern.lever.value}, not context")
    seen = pattern.evidence
    key = str(seen["fact_key"])
    valid_from = datetime.fromisoformat(seen["valid_from"])
    held = [fact for fact in context.facts_at(valid_from) if fact.key == key]
    document = template(str(seen["document_text"]))
    text = (_reworded(held[0].text, seen["old_values"], seen["new_values"]) if held else None) or _sentence(
        document, held[0].text if held else "", seen["new_values"]
    )
    refuse_personal(text, f"fact {key}", detect)
    fact = Fact(key=key, text=text, valid_from=valid_from)
    return Proposal(
        pattern_key=pattern.key,
        scope=pattern.scope,
        change=ContextChange(fact=fact),
        reason=pattern.reason,
        created_at=created_at,
    )


def _reworded(text: str, old: list[str], new: list[str]) -> str | None:
    """The old text with its one number replaced, or None where that would not state the new value."""
    if len(old) != 1 or len(new) != 1:
        return None
    number, value = old[0].split()[0], new[0].split()[0]
    spot = rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)"
    if len(re.findall(spot, text)) != 1:
        return None
    changed = re.sub(spot, value, text)
    return changed if states(changed, new[0]) and not states(changed, old[0]) else None


def _sentence(document: str, like: str, values: list[str]) -> str:
    """The document's sentence that states most of the values and shares most words with ``like``."""
    sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", document) if part.strip()]
    wanted = set(fold(like).split())
    return max(
        sentences or [document],
        key=lambda part: (sum(states(part, value) for value in values), len(wanted & set(fold(part).split()))),
    )
