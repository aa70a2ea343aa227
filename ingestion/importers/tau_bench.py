"""tau-bench: results of runs, a list of ``{task_id, trial, reward, info, traj}``.

Source: sierra-research/tau-bench, ``EnvRunResult``. ``traj`` holds messages of OpenAI's chat API; the reward is an
evaluation; the person is the customer that the task plays (``info.task.user_id``). Neither ids nor times are in the
file: a run is named by its whole content.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from governance.records.base import digest_bytes
from governance.records.span import Span
from ingestion.importers import conversation
from ingestion.importers.conversation import Conversation
from ingestion.importers.draft import evaluation
from ingestion.importers.form import Document, FileForm, Refused
from ingestion.importers.times import place
from ingestion.importers.values import head, is_objects, json_text, obj, seq, text


class TauBench(FileForm):
    """Results of runs."""

    name = "tau_bench"
    needs = "a list of runs with `task_id`, `reward` and `traj`"

    def recognises(self, document: Document) -> bool:
        """By the first run."""
        run = head(document)
        return "task_id" in run and "reward" in run and isinstance(run.get("traj"), list)

    def spans(self, document: Document, source: str) -> Iterator[Span | Refused]:
        """Run by run."""
        for position, item in enumerate(document if isinstance(document, list) else [document]):
            where = f"{source}: run {position}"
            run = obj(item)
            if not is_objects(run.get("traj"), len(seq(run.get("traj")))):
                yield Refused(where=where, reason="a run without messages in `traj`")
                continue
            yield from conversation.spans(_run(run), self.name, where)


def _run(run: dict[str, Any]) -> Conversation:
    task = obj(obj(run.get("info")).get("task"))
    reward = run.get("reward")
    return Conversation(
        id=digest_bytes(json_text(run).encode("utf-8", "surrogatepass")),
        messages=run["traj"],
        agent="tau_bench",
        attributes={
            "user.id": text(task.get("user_id")) or None,
            "tau_bench.task_id": json_text(run.get("task_id")),
            "tau_bench.trial": json_text(run.get("trial")),
        },
        evaluations=() if reward is None else (evaluation("reward", reward, None, place(0)),),
    )
