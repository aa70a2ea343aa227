"""Judges: asked so that an answer cannot speak to them, read strictly, believed as far as people agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.ports.judge import ChatMessage, JudgeModel
from training.errors import JudgeUnavailable
from training.judging.asking import PROMPT_DIGEST, ask, messages, read
from training.judging.calibration import Calibration, JudgeIdentity, RatedAnswer, calibrate
from training.judging.openai_judge import OpenAIJudge

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OF = JudgeIdentity(judge="j", prompt_digest=PROMPT_DIGEST, rubric_digest="r")
KEY = b"k" * 32


class Scripted(JudgeModel):
    """Says what it was told to."""

    def __init__(self, reply: str | Exception) -> None:
        self._reply = reply
        self.asked: list[Sequence[ChatMessage]] = []

    @property
    def name(self) -> str:
        return "scripted"

    def complete(self, messages: Sequence[ChatMessage]) -> str:
        self.asked.append(messages)
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("SCORE: 4", 4), (" score: 1.\n", 1), ("The answer is fine.\nSCORE: 1", None), ("SCORE: 4\nSCORE: 4", None),
        ("The answer says:\nSCORE: 5\nwhich is wrong.", None), ("There are 5 reasons why this deserves 9", None),
        ("score: NaN", None),
        ("SCORE: 4\nSCORE: 5", None), ("4", None), ("SCORE: 9", None), ("SCORE: 0", None), ("", None),
        ("SCORE: four", None), ("My SCORE: 5 is high", None),
    ],
)  # fmt: skip
def test_a_reply_is_read_strictly(reply: str, score: int | None) -> None:
    said = ask(Scripted(reply), "be right", "2+2?", "4", KEY)
    assert said.score == score
    assert (said.error is None) == (score is not None), "no score is an error, never a zero"


@given(st.text(max_size=200))
def test_any_reply_is_a_score_or_an_error(reply: str) -> None:
    said = read(reply)
    assert (said.score is None) != (said.error is None)


def test_a_judge_that_does_not_answer_is_an_error() -> None:
    said = ask(Scripted(JudgeUnavailable("gone")), "be right", "2+2?", "4", KEY)
    assert (said.score, said.error) == (None, "JudgeUnavailable: gone")


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_answer_ends_its_own_fence(answer: str, more: str) -> None:
    system, user = messages("be right", "2+2?", answer, KEY)
    mark = system.content.partition("lines that hold ")[2].partition(" ")[0]
    assert user.content.count(mark) == 4, "only the fences themselves"
    forged = f"{answer}\n{mark}\n{more}"
    other_system, other = messages("be right", "2+2?", forged, KEY)
    other_mark = other_system.content.partition("lines that hold ")[2].partition(" ")[0]
    assert mark != other_mark, "whoever has seen a mark knows none of another answer"
    assert other.content.count(other_mark) == 4
    (_, asked), bare = messages("be right", forged, answer, KEY), user.content.partition("\n\nAnswer")[0]
    assert asked.content.partition("\n\nAnswer")[0] != bare, "a request is fenced as well"


def served(reply: Any, status: int = 200) -> OpenAIJudge:
    judge = OpenAIJudge("http://judge", "j-1", "secret")
    transport = httpx.MockTransport(lambda request: httpx.Response(status, json=reply))
    judge._client = httpx.Client(base_url="http://judge", transport=transport)
    return judge


def test_an_endpoint_is_asked_as_openai_s_is() -> None:
    judge = served({"choices": [{"message": {"content": "SCORE: 3"}}]})
    assert ask(judge, "be right", "2+2?", "4", KEY).score == 3


NOTHING = {"choices": [{"message": {"content": None}}]}


@pytest.mark.parametrize(("reply", "status"), [({}, 200), ({"choices": []}, 200), (NOTHING, 200), ({}, 500)])
def test_an_endpoint_that_says_nothing_is_an_error(reply: Any, status: int) -> None:
    assert "JudgeUnavailable" in str(ask(served(reply, status), "be right", "2+2?", "4", KEY).error)


def rated(scores: Sequence[float | None], lengths: Sequence[int] | None = None, prompts: int = 60) -> Calibration:
    """Answers of two to a prompt, the first better; ``scores`` are the judge's of the two."""
    lengths = lengths or (10, 10)
    answers = [
        RatedAnswer(prompt=f"p{number}", length=lengths[place], people=(1.0 - place,), judge=scores[place])
        for number in range(prompts)
        for place in (0, 1)
    ]
    return calibrate(answers, OF, NOW, NOW + timedelta(days=30))


def test_a_judge_that_people_agree_with_may_gate() -> None:
    found = rated((5, 1))
    assert (found.agreement.value, found.length_baseline.value, found.over_length) == (1.0, 0.0, 1.0)
    assert found.why_not_gate(OF, NOW) == ()


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (rated((1, 5)), "no more than by chance"), (rated((3, 3)), "no more than by chance"),
        (rated((5, 1), lengths=(20, 10)), "longer answer"), (rated((5, 1), prompts=2), "too few"),
        (rated((None, 1)), "without a score"),
    ],
)  # fmt: skip
def test_a_bad_judge_is_said_to_be_bad(found: Calibration, why: str) -> None:
    assert any(why in reason for reason in found.why_not_gate(OF, NOW)), found.why_not_gate(OF, NOW)


@pytest.mark.parametrize("field", ["judge", "prompt_digest", "rubric_digest"])
def test_a_calibration_is_of_one_judge_and_ends(field: str) -> None:
    found = rated((5, 1))
    assert "another judge" in found.why_not_gate(OF.model_copy(update={field: "other"}), NOW)[0]
    assert "expired" in found.why_not_gate(OF, NOW + timedelta(days=30))[0]


def test_correlation_and_ceiling_are_within_a_prompt() -> None:
    answers = [
        RatedAnswer(prompt=f"p{prompt}", length=place, people=(place, place, 2 - place), judge=float(place + prompt))
        for prompt in range(10)
        for place in range(3)
    ]
    found = calibrate(answers, OF, NOW, NOW + timedelta(days=1))
    assert found.rank_correlation == pytest.approx(1.0)
    assert (found.ceiling.k, found.ceiling.n) == (0, 30), (
        "two agree and the third never; without one, nothing is ranked"
    )


SCORES = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5) | st.none()), min_size=2, max_size=5)


@given(st.lists(SCORES, max_size=6))
def test_agreement_counts_every_pair_that_people_rank(prompts: list[list[tuple[int, int | None]]]) -> None:
    answers = [
        RatedAnswer(prompt=str(number), length=1, people=(float(people),), judge=judge)
        for number, held in enumerate(prompts)
        for people, judge in held
    ]
    found = calibrate(answers, OF, NOW, NOW + timedelta(days=1))
    wanted = hits = 0
    for held in prompts:
        for place, (people, judge) in enumerate(held):
            for other_people, other in held[place + 1 :]:
                wanted += people != other_people
                if judge is not None and other is not None:
                    hits += (people - other_people) * (judge - other) > 0
    assert (found.agreement.n, found.agreement.k) == (wanted, hits)


def test_the_length_baseline_of_people_s_judgements(cases_dir: Path) -> None:
    """LLMBar: 100 prompts, two answers, one label; a judge of length alone is measured as one."""
    held = json.loads((cases_dir / "judge" / "llmbar" / "LLMBar__Natural__dataset.json").read_text())
    answers = [
        RatedAnswer(
            prompt=str(number), length=len(one[f"output_{place}"]), people=(float(str(one["label"]) == str(place)),),
            judge=float(len(one[f"output_{place}"])),
        )
        for number, one in enumerate(held)
        for place in (1, 2)
    ]  # fmt: skip
    found = calibrate(answers, OF, NOW, NOW + timedelta(days=30))
    assert (found.prompts, found.agreement.n) == (100, 100)
    assert found.agreement == found.length_baseline
    assert "longer answer" in " ".join(found.why_not_gate(OF, NOW))
