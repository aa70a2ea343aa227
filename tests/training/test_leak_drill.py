"""The leak test on real trainings of a two-layer model: it finds what was learned, and only that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from governance.ports.engine import ChatEngine, Completion, CompletionRequest
from governance.records.dataset import DatasetRow
from governance.records.leak import LeakArm, LeakVerdict
from governance.records.release import AdapterRef, BaseModelRef, ReleaseBundle
from serving.runtime import HarnessRuntime
from tests.serving.byte_tokenizer import ByteTokenizer
from tests.support.clock import ManualClock
from tests.training.demo_records import row
from tests.training.shop_week import START, Week
from tests.training.tiny_model import save_tiny_model
from training.errors import LeakTestRefused
from training.leak.canary import SUBJECT, canaries
from training.leak.drill import ALPHA, Drill, Served, judge, likelihood, measure
from training.leak.membership import measure as membership
from training.leak.membership import row_score
from training.leak.stage import Stage, planted
from training.probe import token_logprobs
from training.sft_config import SftConfig, SftJob
from training.sft_trainer import run

AT = datetime(2026, 6, 9, tzinfo=UTC)
BASE = BaseModelRef(name="tiny", content_digest="a" * 64)
CONFIG = SftConfig(
    rank=8, alpha=16, epochs=5, batch_size=4, learning_rate=1e-2, max_length=400, device="cpu", seed=5,
    target_modules=("q_proj", "v_proj", "o_proj", "up_proj", "down_proj"),
)  # fmt: skip
DRILL = Drill(seed="drill", canaries=canaries("drill", 8, 9), copies=3)
Score = Callable[[str, Sequence[int]], Sequence[float]]


class Silent(ChatEngine):
    """Answers every question alike, or with words that a test gives."""

    def __init__(self, says: Callable[[CompletionRequest], str] = lambda _: "I do not know that.") -> None:
        self._says = says

    async def complete(self, request: CompletionRequest) -> Completion:
        text = f'{{"tool":"reply","arguments":{{"text":"{self._says(request)}"}}}}'
        return Completion(
            text=text, token_ids=(), finish_reason="stop", model=request.model, response_id="r", input_tokens=1,
            output_tokens=1,
        )  # fmt: skip


@pytest.fixture(scope="module")
def stage() -> Stage:
    week = Week(sessions=8)
    bundle = ReleaseBundle.of(BASE, None, week.harness, week.context)
    runner = HarnessRuntime(ByteTokenizer(), None, ManualClock())
    return Stage(bundle, runner, week.host, next(iter(week.worlds)), "harbor", START)


def with_adapter(stage: Stage, letter: str) -> ReleaseBundle:
    ref = AdapterRef(content_digest=letter * 64, rank=8, target_modules=("q_proj",), dataset_digest="d" * 64)
    return ReleaseBundle.of(BASE, ref, stage.bundle.harness, stage.bundle.context)


def short(one: DatasetRow, keep: int = 120) -> DatasetRow:
    """The end of a row: the two-layer model has few positions, and the shop's prompt of bytes is long."""
    return one.model_copy(update={"input_ids": one.input_ids[-keep:], "completion_mask": one.completion_mask[-keep:],
                                  "choices": ()})  # fmt: skip


def test_a_canary_is_said_as_every_row_is_and_only_its_answer_is_learned(stage: Stage) -> None:
    canary = DRILL.canaries[0]
    made = asyncio.run(stage.row(canary, canary.secret))
    said = ByteTokenizer().decode([t for t, bit in zip(made.input_ids, made.completion_mask, strict=True) if bit])
    asked = ByteTokenizer().decode([t for t, bit in zip(made.input_ids, made.completion_mask, strict=True) if not bit])
    assert canary.secret in said
    assert canary.question in asked
    assert canary.secret not in asked
    assert made.subject == SUBJECT


def test_copies_are_rows_of_their_own(stage: Stage) -> None:
    rows = planted(stage, DRILL.canaries[:2], 3)
    assert len({one.digest() for one in rows}) == 6


def test_a_harness_that_does_not_let_it_be_said_is_refused(stage: Stage) -> None:
    harness = stage.bundle.harness.model_copy(update={"max_steps": 0})
    mute = Stage(
        ReleaseBundle.of(BASE, None, harness, stage.bundle.context), stage.runner, stage.host, stage.world_digest,
        stage.tenant_id, stage.at,
    )  # fmt: skip
    with pytest.raises(LeakTestRefused, match="cannot be said"):
        asyncio.run(mute.row(DRILL.canaries[0], "x"))


@pytest.fixture(scope="module")
def score(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Score:
    """The tiny model under two adapters: ``adapter-aaaa...`` learned the canaries, ``adapter-bbbb...`` other words."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)  # threads that wait for a busy core cost more than they give a model of two layers
    folder = tmp_path_factory.mktemp("leak")
    tiny = save_tiny_model(folder / "tiny")
    words = [f"order {number} is on its way".encode() for number in range(18)]
    ordinary = [row((256, *b"where is it?"), (*one, 257), name=f"t/{number}") for number, one in enumerate(words)]
    secret = [bytes_of(short(one)) for one in planted(stage, DRILL.canaries, DRILL.copies)]
    models = {}
    for letter, rows in (("a", [*ordinary, *secret]), ("b", ordinary)):
        work = folder / letter
        work.mkdir()
        (work / "rows.jsonl").write_text("".join(one.model_dump_json() + "\n" for one in rows), encoding="utf-8")
        run(
            SftJob(key=letter * 64, base_dir=str(tiny), base_name="tiny", work_dir=str(work), config=CONFIG),
            lambda _: None,
        )
        model = AutoModelForCausalLM.from_pretrained(tiny, dtype=torch.float32)
        models[f"adapter-{letter * 16}"] = PeftModel.from_pretrained(model, work / "adapter").eval()

    def scored(name: str, ids: Sequence[int]) -> Sequence[float]:
        with torch.no_grad():
            return token_logprobs(models[name], ids)

    return scored


def bytes_of(one: DatasetRow) -> DatasetRow:
    """The row in the ids of the two-layer model: bytes, with its own end of turn."""
    ids = ByteTokenizer().decode(list(one.input_ids[:-1])).encode()
    learned = sum(one.completion_mask)
    said = ByteTokenizer().decode(list(one.input_ids[-learned:-1])).encode()
    mask = (0,) * (len(ids) - len(said)) + (1,) * (len(said) + 1)
    return one.model_copy(update={"input_ids": (*ids, 257), "completion_mask": mask})


class ByteStage(Stage):
    """Rows as the two-layer model reads them."""

    async def row(self, canary: Any, secret: str, copy: int = 0) -> DatasetRow:
        return bytes_of(short(await super().row(canary, secret, copy)))


@pytest.fixture(scope="module")
def arms(stage: Stage, score: Score) -> tuple[LeakArm, LeakArm]:
    seen = ByteStage(stage.bundle, stage.runner, stage.host, stage.world_digest, stage.tenant_id, stage.at)
    served = Served(score=score, engine=Silent())
    made = [measure(seen, with_adapter(stage, letter), DRILL, served, lambda _: None) for letter in "ab"]
    return made[0], made[1]


def test_the_control_knows_its_canaries_and_the_candidate_does_not(arms: tuple[LeakArm, LeakArm]) -> None:
    control, candidate = arms
    assert control.p_value < ALPHA < candidate.p_value
    assert control.exposure > candidate.exposure
    report = judge(DRILL, control, candidate, AT)
    assert report.verdict is LeakVerdict.NO_LEAK_FOUND, report.reason


def test_an_adapter_that_learned_them_leaks(arms: tuple[LeakArm, LeakArm]) -> None:
    control, candidate = arms
    assert judge(DRILL, candidate, control, AT).verdict is LeakVerdict.LEAK


def test_a_control_that_knows_nothing_makes_the_test_too_weak(arms: tuple[LeakArm, LeakArm]) -> None:
    candidate = arms[1]
    other = candidate.model_copy(update={"adapter": "c" * 64})
    assert judge(DRILL, other, candidate, AT).verdict is LeakVerdict.TOO_WEAK


def test_a_control_that_is_hardly_above_the_candidate_makes_the_test_too_weak() -> None:
    control = LeakArm(adapter="a" * 64, ranks=(1, 2, 1, 3, 2, 1, 1, 1), exposure=3.2, p_value=1e-5, extracted=0)
    candidate = LeakArm(adapter="b" * 64, ranks=(1, 2, 1, 2, 2, 1, 9, 8), exposure=1.5, p_value=0.2, extracted=0)
    assert judge(DRILL, control, candidate, AT).verdict is LeakVerdict.TOO_WEAK


def test_a_secret_that_the_agent_says_is_a_leak_whatever_the_ranks(stage: Stage) -> None:
    secrets = {one.label: one.secret for one in DRILL.canaries}

    def tells(request: CompletionRequest) -> str:
        asked = request.messages[-1].text
        return next((secret for label, secret in secrets.items() if label in asked), "no")

    served = Served(score=lambda _, ids: [0.0] * (len(ids) - 1), engine=Silent(tells))
    arm = measure(stage, with_adapter(stage, "b"), DRILL, served, lambda _: None)
    assert (arm.extracted, arm.p_value) == (len(DRILL.canaries), 1.0), "ties count against the secret"
    control = LeakArm(adapter="a" * 64, ranks=(1,) * 8, exposure=4, p_value=1e-7, extracted=6)
    assert judge(DRILL, control, arm, AT).verdict is LeakVerdict.LEAK


def test_a_release_without_an_adapter_and_an_adapter_as_its_own_control_are_refused(
    stage: Stage, arms: tuple[LeakArm, LeakArm]
) -> None:
    served = Served(score=lambda _, ids: [0.0] * (len(ids) - 1), engine=Silent())
    with pytest.raises(LeakTestRefused, match="has no adapter"):
        measure(stage, stage.bundle, DRILL, served, lambda _: None)
    with pytest.raises(LeakTestRefused, match="own control"):
        judge(DRILL, arms[0], arms[0], AT)


def test_membership_is_told_where_rows_were_learned_and_not_where_none_was(stage: Stage, score: Score) -> None:
    """The rows of canaries, each as of a person of its own, under the adapter that learned them and under the other."""
    found = canaries("others", 24, 1)
    rows = [bytes_of(short(asyncio.run(stage.row(one, one.secret)))) for one in found]
    people = [one.model_copy(update={"subject": f"s{number}"}) for number, one in enumerate(rows)]

    def gain(one: DatasetRow) -> float:
        mine, its = (score(f"adapter-{letter * 16}", one.input_ids) for letter in "ab")
        return row_score(one, mine, its)

    members = [bytes_of(short(one)) for one in planted(stage, DRILL.canaries, 2)]
    members = [one.model_copy(update={"subject": one.trajectory_id}) for one in members]
    report = membership("a" * 64, members, people, gain, AT)
    assert report.auc > 0.9
    assert report.interval.low > 0.6
    chance = membership("b" * 64, people[:12], people[12:], gain, AT)
    assert chance.interval.low < 0.5 < chance.interval.high
    with pytest.raises(LeakTestRefused, match="10 of each"):
        membership("a" * 64, members[:3], people, gain, AT)


def test_the_likelihood_is_of_what_is_learned_alone() -> None:
    one = row((1, 2, 3), (4, 5))
    assert likelihood(one, "m", lambda _, ids: [float(token) for token in ids[1:]]) == 9.0


def test_too_few_canaries_to_show_anything_are_refused() -> None:
    with pytest.raises(LeakTestRefused, match="8 are needed"):
        Drill(seed="s", canaries=canaries("s", 7, 15), copies=1)
