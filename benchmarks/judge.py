"""A judge compared with people: the shipped small model, or any OpenAI-compatible one, on files of rated answers.

    python benchmarks/judge.py --json FILE...
    python benchmarks/judge.py --json --url http://127.0.0.1:8000 --model NAME FILE...

FILE is LLMBar's (``input``, ``output_1``, ``output_2``, ``label``) or JUDGE-BENCH's of graded metrics (``instances``
with ``individual_human_scores``; the first graded metric counts). An instance of the latter is a prompt of its own, so
such a file has no pairs, and says how many answers the judge scores at all. Without ``--url`` the packaged model
answers, through transformers on this machine's CPU, with prompts cut at 1,900 tokens. ``--answers`` bounds how many
are asked about.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a file or as a module

from governance.ports.judge import ChatMessage, JudgeModel
from governance.records.base import digest_json
from training.judging.asking import PROMPT_DIGEST, ask
from training.judging.calibration import JudgeIdentity, RatedAnswer, calibrate
from training.judging.openai_judge import OpenAIJudge

KEY: Final = b"benchmark of judges, 32 bytes ..."
RUBRIC: Final = "Does the answer do what the request asks, correctly and completely?"
MOST_TOKENS: Final = 32


class Case(NamedTuple):
    """An answer with its request and its ratings."""

    prompt: str
    request: str
    answer: str
    people: tuple[float, ...]


class PackagedJudge(JudgeModel):
    """The small model that comes with the project, on this machine's CPU."""

    def __init__(self) -> None:
        """Loads it."""
        from pipelines.settings import load_settings
        from pipelines.wiring import Mill

        with Mill(load_settings()) as mill:
            self._base = mill.base.digest()
            folder = str(mill.model_dir)
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForCausalLM.from_pretrained(folder)

    @property
    def name(self) -> str:
        """The base's digest."""
        return self._base

    def complete(self, messages: Sequence[ChatMessage]) -> str:
        """Greedy."""
        held = [one._asdict() for one in messages]
        made = self._tokenizer.apply_chat_template(
            held, add_generation_prompt=True, return_tensors="pt", return_dict=True, truncation=True, max_length=1900
        )
        out = self._model.generate(**made, max_new_tokens=MOST_TOKENS, do_sample=False)
        return str(self._tokenizer.decode(out[0][made["input_ids"].shape[1] :], skip_special_tokens=True))


def cases(path: Path) -> Iterator[Case]:
    """The rated answers of a file."""
    held = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(held, list):
        for number, one in enumerate(held):
            for place in ("1", "2"):
                yield Case(
                    f"{path.name} {number}", one["input"], one[f"output_{place}"], (float(str(one["label"]) == place),)
                )
        return
    graded = next(one["metric"] for one in held["annotations"] if one["category"] == "graded")
    for one in held["instances"]:
        said = one["annotations"].get(graded, {}).get("individual_human_scores", ())
        if said:
            yield Case(f"{path.name} {one['id']}", "", str(one["instance"]), tuple(map(float, said)))


def measure(path: Path, judge: JudgeModel, most: int) -> dict[str, Any]:
    """The calibration on one file."""
    rated, begin = [], time.perf_counter()
    for number, one in enumerate(cases(path)):
        if number == most:
            break
        said = ask(judge, RUBRIC, one.request, one.answer, KEY)
        rated.append(RatedAnswer(prompt=one.prompt, length=len(one.answer), people=one.people, judge=said.score))
        if number % 20 == 0:
            print(f"{path.name}: {number} answers", file=sys.stderr, flush=True)
    of = JudgeIdentity(judge=judge.name, prompt_digest=PROMPT_DIGEST, rubric_digest=digest_json(RUBRIC))
    now = datetime.now(UTC)
    found = calibrate(rated, of, now, now + timedelta(days=90))
    return {
        "file": path.name,
        "answers": found.answers,
        "pairs": found.agreement.n,
        "ungraded": found.ungraded,
        "agreement": found.agreement.value,
        "agreement_interval": [found.agreement.interval.low, found.agreement.interval.high],
        "length_baseline": found.length_baseline.value,
        "over_length_interval": [found.over_length_interval.low, found.over_length_interval.high],
        "rank_correlation": found.rank_correlation,
        "ceiling": found.ceiling.value,
        "may_gate": not found.why_not_gate(of, now),
        "why_not": found.why_not_gate(of, now),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def main() -> None:
    """Measure and print; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="print the JSON line only")
    parser.add_argument("--url", help="an OpenAI-compatible endpoint")
    parser.add_argument("--model", default="", help="its model")
    parser.add_argument("--answers", type=int, default=200, help="of each file")
    chosen = parser.parse_args()
    judge: JudgeModel = OpenAIJudge(chosen.url, chosen.model) if chosen.url else PackagedJudge()
    print(json.dumps({"judge": judge.name, "files": [measure(path, judge, chosen.answers) for path in chosen.files]}))


if __name__ == "__main__":
    main()
