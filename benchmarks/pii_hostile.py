"""How the time of detection grows with texts that are one short piece again and again: the texts that slow patterns.

Each piece of one to three signs (letters, digits, punctuation, white space, beginnings of what recognisers look for) is
repeated to ``--size`` characters and to four times as many. A piece is superlinear where four times the characters
take more than ``--ratio`` times the processor time. Times under ``FLOOR`` are of the clock, and count as it.

    python -m benchmarks.pii_hostile --json
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from governance.keys import DerivedKeyProvider
from governance.masking.presidio_masker import PresidioMasker

FLOOR: Final = 0.05
REPEATS: Final = 2
SINGLE: Final = ("a", "A", "1", "-", ".", "@", "/", ":", "_", "가", "'", '"', "(", "+", "=", "%", "&", "é", ",", "#",
                 "~", "$", "<", "\\", "{", "[", " ", "\n", "\t", "\u0301", "\u200b")  # fmt: skip
PAIRED: Final = ("a", "A", "1", "가", " ", "-", ".", "@", "/", ":", "_", "=", '"', "\n", ",", "(", "+", "{")
LONGER: Final = (
    "a.b", "a-b", "1-a", "a@b", "a@.", "a b", "1 2", "(1)", "+1 ", "a:1", "A a", "Aa ", "a/b", "a=b", '"a"', "k: ",
    "1, ", "::1", "0x1", "Mr ", "1st", "No ", "pw=", "=a&", "?a=", "a://", "eyJ", "A1 ", "가 1", "010", "0-1", " -1",
    '{"a":', '"a":', "'a':", '{"a":"\n', "\\u00", '"\\"', "&amp;", "%25", "[{",
)  # fmt: skip


def pieces() -> list[str]:
    """All of them."""
    return [*SINGLE, *map("".join, permutations(PAIRED, 2)), *LONGER]


def growth(work: Callable[[str], Any], piece: str, size: int) -> tuple[float, float]:
    """Processor time of a text of so many characters, and how many times as long one of four times as many takes."""
    once, four_times = (max(least(work, piece * (length // len(piece))), FLOOR) for length in (size, 4 * size))
    return once, four_times / once


def least(work: Callable[[str], Any], text: str) -> float:
    """The least processor time of ``REPEATS``, without the collector of garbage, which looks at everything there is."""
    times = []
    for _ in range(REPEATS):
        gc.collect()
        gc.disable()
        try:
            begin = time.process_time()
            work(text)
            times.append(time.process_time() - begin)
        finally:
            gc.enable()
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--size", type=int, default=4000, help="characters of the shorter text")
    parser.add_argument("--ratio", type=float, default=8.0, help="growth from which a piece is superlinear")
    chosen = parser.parse_args()
    masker = PresidioMasker(DerivedKeyProvider("benchmark"), cache_size=0)
    masker.mask("benchmark", ["warm: a text that loads what there is to load"])
    found = {piece: growth(lambda text: masker.mask("benchmark", [text]), piece, chosen.size) for piece in pieces()}
    slowest = sorted(found.items(), key=lambda one: -one[1][0] * one[1][1])[:10]
    report = {
        "pieces": len(found),
        "superlinear": {piece: round(ratio, 1) for piece, (_, ratio) in found.items() if ratio > chosen.ratio},
        "slowest_s_of_four_sizes": {piece: round(one * ratio, 2) for piece, (one, ratio) in slowest},
    }
    print(json.dumps(report) if chosen.json else "\n".join(f"{key}: {value}" for key, value in report.items()))


if __name__ == "__main__":
    main()
