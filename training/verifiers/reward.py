"""Rewards: one number of a vector, by a declared reduction, and scores that reward abstaining over guessing.

Theory. A rule is no cost that success could pay for: below the reduction's floor the reward is 0. Otherwise it is the
weighted mean of what is there. A side without a grade has weight zero and is no zero; where nothing but the rules is
graded they are the reward, and where nothing is there is none.

*Abstaining.* Under right-or-wrong grading a guess is never worse than saying "I do not know", so models learn to guess.
With a stated confidence t a wrong answer costs t / (1 - t), a right one gains 1, and abstaining is 0: then answering is
worth more than abstaining exactly when one is right with probability above t.

Source: Kalai, Nachum, Vempala, Zhang 2025, arXiv 2509.04664 (explicit confidence targets).
"""

from __future__ import annotations

from governance.records.verifier import Reduction, RewardVector


def reduced(vector: RewardVector, reduction: Reduction) -> float | None:
    """The reward; None where nothing is graded."""
    if vector.policy is not None and vector.policy < reduction.floor:
        return 0.0
    sides = [(reduction.outcome, vector.outcome), (reduction.satisfaction, vector.satisfaction)]
    sides.append((reduction.cost, vector.cost))
    graded = [(weight, value) for weight, value in sides if weight > 0 and value is not None]
    if not graded:
        return vector.policy
    return sum(weight * value for weight, value in graded) / sum(weight for weight, _ in graded)


def abstaining_score(*, right: bool, abstained: bool, confidence: float) -> float:
    """The score of an answer under a stated confidence target.

    Raises:
        ValueError: unless 0 <= confidence < 1.

    """
    if not 0 <= confidence < 1:
        raise ValueError(f"a confidence target is from 0 to below 1, not {confidence}")
    if abstained:
        return 0.0
    return 1.0 if right else -confidence / (1 - confidence)
