"""The parity probe: whether what the engine serves is the adapter that was trained.

Training leaves, beside the adapter, prompts as token ids and the log-probability of each token under the trained
adapter and under the base (fp32). The engine scores the same ids under the served name. With ``d(x, y)`` the mean
absolute difference over all tokens:

    noise   = what bf16 alone may cost                       ``NOISE``
    close   : d(served, trained) <= NOISE + CLOSE * d(trained, base)
    nearer  : d(served, trained) <= NEARER * d(served, base)

*Close* bounds how far serving is from training; *nearer* is what tells a served adapter from a base that answers in its
place, and a wrong scale from a right one: at a quarter of the scale (rank-stabilised LoRA served as plain) the served
point lies near the base. An adapter whose whole effect is below what bf16 costs cannot be told from the base: such a
probe does not pass, because nothing would be known. The numbers are kept with the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field

from governance.errors import RecordError
from governance.records.base import Record
from serving.errors import ProbeFailed

NOISE = 0.05
CLOSE = 0.25
NEARER = 0.5

Score = Callable[[str, Sequence[int]], Sequence[float]]


class ProbePrompt(Record):
    """One text, with the log-probability of each token after the first, under the adapter and under the base."""

    token_ids: tuple[int, ...] = Field(min_length=2)
    adapter: tuple[float, ...]
    base: tuple[float, ...]


class ProbeSheet(Record):
    """What training recorded (``probe.json``)."""

    version: Literal[1]
    prompts: tuple[ProbePrompt, ...] = Field(min_length=1)

    @classmethod
    def read(cls, value: Any) -> ProbeSheet:
        """Read and check a sheet.

        Raises:
            ProbeFailed: when it does not hold one score for each token after the first.

        """
        try:
            sheet = cls.parse(value, "probe.json")
        except RecordError as error:
            raise ProbeFailed(str(error)) from error
        if any({len(one.adapter), len(one.base)} != {len(one.token_ids) - 1} for one in sheet.prompts):
            raise ProbeFailed("probe.json: the scores do not fit the tokens")
        return sheet


class ProbeResult(Record):
    """How near the served model is to what was trained, and to the base."""

    served_name: str
    tokens: int
    served_to_trained: float
    served_to_base: float
    trained_to_base: float
    passed: bool
    reason: str


def run(sheet: ProbeSheet, served_name: str, score: Score) -> ProbeResult:
    """Score the sheet's prompts under ``served_name`` and judge."""
    served = [score(served_name, prompt.token_ids) for prompt in sheet.prompts]
    return judge(sheet, served_name, served)


def judge(sheet: ProbeSheet, served_name: str, served: Sequence[Sequence[float]]) -> ProbeResult:
    """The verdict on scores that were already taken."""
    trained = [prompt.adapter for prompt in sheet.prompts]
    base = [prompt.base for prompt in sheet.prompts]
    to_trained, to_base = _distance(served, trained), _distance(served, base)
    apart = _distance(trained, base)
    reason = _reason(to_trained, to_base, apart)
    return ProbeResult(
        served_name=served_name,
        tokens=sum(map(len, trained)),
        served_to_trained=to_trained,
        served_to_base=to_base,
        trained_to_base=apart,
        passed=not reason,
        reason=reason or "served is what was trained",
    )


def _reason(to_trained: float, to_base: float, apart: float) -> str:
    if not to_trained <= NOISE + CLOSE * apart:
        return f"served is {to_trained:.3f} from trained; {NOISE + CLOSE * apart:.3f} is allowed"
    if not to_trained <= NEARER * to_base:
        return f"served is {to_trained:.3f} from trained and {to_base:.3f} from the base: not clearly the adapter"
    return ""


def _distance(left: Sequence[Sequence[float]], right: Sequence[Sequence[float]]) -> float:
    """Mean absolute difference over all tokens; infinite where a score is not a number."""
    gaps = [abs(a - b) for rows in zip(left, right, strict=True) for a, b in zip(rows[0], rows[1], strict=True)]
    mean = sum(gaps) / len(gaps)
    return mean if mean == mean else float("inf")  # noqa: PLR0124 - NaN is the one value unequal to itself
