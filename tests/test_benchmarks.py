"""Small siblings of benchmarks: what they compare is equal, and they still run, in seconds."""

from __future__ import annotations

from pathlib import Path

from benchmarks import pii, rights, worlds
from governance.masking.detection import Detector
from governance.masking.engine import Engine


def test_presidio_for_each_string_finds_what_tidemill_finds() -> None:
    given = pii.traces(1, 2)
    _, found = pii.of_tidemill(given, Detector())
    _, compared, differing = pii.of_presidio(given, pii.PerText(Engine()), found)
    assert (compared > 100, differing) == (True, 0)


def test_rollouts_side_by_side_end_as_they_do_alone() -> None:
    worlds.world.cache_clear()
    numbers = [1, 2, 3, 10]
    whole = worlds.rolled_out(numbers, crash=False)
    assert whole == {number: worlds.rolled_out([number], crash=False)[number] for number in numbers}
    crashed = worlds.rolled_out(numbers, crash=True)
    assert crashed == {number: digest for number, digest in whole.items() if number != 10}


def test_a_small_store_of_rights_answers_and_forgets(tmp_path: Path) -> None:
    found = rights.measure(1000, tmp_path)
    assert (found["judged"], found["remaining"]) == (1000, 0)
    assert sum(found["reasons"].values()) == 1000
    assert found["lineage_nodes"] > 1
