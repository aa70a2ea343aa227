"""Stages of the demo: each is done once, timed, and skipped when it is found done.

A stage's result rests in the store like the steps of a cycle, under the id ``demo``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from governance.records.base import digest_json
from governance.records.cycle import StepResult
from pipelines.wiring import Mill

DEMO = "demo"


class Stages:
    """Runs stages in order and says how long each took."""

    def __init__(self, mill: Mill, tell: Callable[[str], None]) -> None:
        """Results rest in the mill's store."""
        self._mill, self._tell = mill, tell

    def run(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The stage's result, from before or from now."""
        held = self.result(name)
        if held is not None:
            self._tell(f"== {name}: done before")
            return held
        self._tell(f"== {name}")
        started = time.monotonic()
        output = work()
        seconds = round(time.monotonic() - started, 1)
        self._mill.store.steps.put(
            StepResult(
                cycle_id=DEMO,
                step=name,
                input_digest=digest_json(name),
                output=output,
                seconds=seconds,
                at=self._mill.clock.now(),
            )
        )
        self._tell(f"== {name}: {seconds} s")
        return output

    def result(self, name: str) -> dict[str, Any] | None:
        """What the stage gave, or None when it has not run."""
        found = self._mill.store.steps.get(DEMO, name, digest_json(name))
        return found.output if found is not None else None
