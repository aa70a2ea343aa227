"""Rows as the trainer takes them, or the reason why one cannot be learned from.

A row must have a token to learn, must fit whole (a prompt cut on the left is not the served prompt, and one cut on the
right loses its target), and must end with the end-of-turn token inside the mask, or the tuned model never stops. A row
that does not is rejected by name; when none is left the run fails instead of ending with a loss of nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from governance.records.base import Record
from governance.records.dataset import DatasetRow
from training.errors import NoTarget
from training.sft_loss import IGNORED, loss_weights


class Rejected(Record):
    """A row that cannot be learned from."""

    trajectory_id: str
    step: int
    reason: str


def fault(row: DatasetRow, max_length: int, ends: Collection[int]) -> str | None:
    """What keeps a row from being learned from, or None; ``ends`` are the ids that end a turn."""
    if len(row.input_ids) != len(row.completion_mask):
        return f"mask_of_{len(row.completion_mask)}_for_{len(row.input_ids)}_tokens"
    learned = [index for index, bit in enumerate(row.completion_mask) if bit]
    places = set(learned)
    if not learned:
        return "no_target"
    if any(place not in places for place in row.choices):
        return "a_choice_outside_of_what_is_learned"
    if learned[0] == 0:
        return "no_prompt"
    if len(row.input_ids) > max_length:
        left = sum(1 for index in learned if index < max_length)
        return f"too_long:{len(row.input_ids)}>{max_length}:{left}_of_{len(learned)}_target_tokens_would_be_left"
    if row.input_ids[learned[-1]] not in ends:
        return f"no_end_of_turn:the_last_trained_token_is_{row.input_ids[learned[-1]]}"
    return None


def prepare(
    rows: Iterable[DatasetRow], max_length: int, ends: Collection[int], choice_share: float
) -> tuple[list[dict[str, Any]], list[Rejected]]:
    """Examples of ``input_ids``, ``labels`` and ``weights``, in the order of the rows' digests, and the rejected rows.

    Raises:
        NoTarget: when no row is left, naming the first reasons.

    """
    examples, rejected = [], []
    for row in sorted(rows, key=lambda one: one.digest()):
        reason = fault(row, max_length, ends)
        if reason is not None:
            rejected.append(Rejected(trajectory_id=row.trajectory_id, step=row.step, reason=reason))
            continue
        pairs = zip(row.input_ids, row.completion_mask, strict=True)
        labels = [token if bit else IGNORED for token, bit in pairs]
        weights = loss_weights(row.completion_mask, row.choices, choice_share)
        examples.append({"input_ids": list(row.input_ids), "labels": labels, "weights": weights})
    if not examples:
        named = "; ".join(f"{one.trajectory_id} step {one.step}: {one.reason}" for one in rejected[:3])
        raise NoTarget(f"no row has a token to learn ({len(rejected)} rejected: {named or 'there were none'})")
    return examples, rejected
