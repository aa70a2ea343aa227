"""Exact tests on the ranks of secrets among alternatives.

Theory. A secret and its alternatives are drawn alike. A model that never saw the secret cannot prefer it: the secret's
rank by likelihood is uniform on 1..places, whatever the model is, and independent from canary to canary. So the sum of
the ranks has a known distribution (a convolution of uniforms), and the chance of a sum as low as the observed one is an
exact p-value that no modelling enters. A tie counts against the secret, which keeps the p-value valid. *Exposure* is
Carlini et al.'s measure, log2(places) - log2(rank), estimated on the sample of alternatives. Two arms on the same
canaries are compared by the one-sided exact sign-flip test on the differences of ranks: were they equal, each
difference would be as likely with the other sign.

Source: Carlini, Liu, Erlingsson, Kos, Song: The Secret Sharer (USENIX Security 2019), sections 4.2 and 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from training.statistics import sign_flip_p


def rank(secret: float, alternatives: Sequence[float]) -> int:
    """The place of a secret's score among those of its alternatives, 1 the highest; a tie counts against it."""
    return 1 + sum(1 for one in alternatives if not one < secret)


def exposure(ranks: Sequence[int], places: int) -> float:
    """The mean exposure in bits, 0 to log2(places)."""
    return sum(math.log2(places) - math.log2(one) for one in ranks) / len(ranks)


def learned_p(ranks: Sequence[int], places: int) -> float:
    """The chance of a sum of ranks as low as this where no secret was learned."""
    import numpy as np

    chances = np.ones(1)
    for _ in ranks:
        chances = np.convolve(chances, np.full(places, 1 / places))
    return float(min(1.0, chances[: sum(ranks) - len(ranks) + 1].sum()))


def apart_p(control: Sequence[int], candidate: Sequence[int]) -> float:
    """The chance of ranks this much lower in the control where both arms know the same; 1 where they are not lower."""
    nets = [mine - theirs for mine, theirs in zip(candidate, control, strict=True)]
    return 1.0 if sum(nets) <= 0 else sign_flip_p(nets) / 2  # the other side is as likely, by symmetry
