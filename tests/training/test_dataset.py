"""The dataset: exact rows, a reason for everything else, and nothing lost between the two."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance.records.context import Context, Fact
from governance.records.dataset import Exclusion
from governance.records.lever import Lever
from governance.records.rights import Reason
from governance.records.rollout import Rollout, RolloutStep, StopReason
from governance.records.task import Split
from tests.serving.byte_tokenizer import ByteTokenizer
from tests.training.demo_records import CUTOFF, built, candidate, contract, problems, sources, verdict
from tests.training.shop_week import START, Week
from training.dataset import Dataset, Sources, merged
from training.errors import DemonstrationRefused
from training.evidence import taken_over


@pytest.fixture(scope="module")
def shop() -> Week:
    return Week({"judgement"}, sessions=140, seed=11)


@pytest.fixture(scope="module")
def dataset(shop: Week) -> Dataset:
    return built(shop, sources(shop))


def conserved(given_: Sources, made: Dataset) -> None:
    considered = [one.id for one in given_.trajectories] + [one.trajectory_id for one in given_.excluded]
    used = {row.trajectory_id for row in made.rows}
    out = [one.trajectory_id for one in made.exclusions]
    assert len(out) == len(set(out))
    assert not used & set(out)
    assert used | set(out) == set(considered)
    assert sum(made.manifest.exclusions.values()) == len(out)


def reasons(made: Dataset) -> dict[str, str]:
    return {one.trajectory_id: one.reason for one in made.exclusions}


def test_every_run_is_in_rows_or_has_one_reason(shop: Week, dataset: Dataset) -> None:
    conserved(sources(shop), dataset)
    assert {row.origin for row in dataset.rows} == {"takeover", "success"}
    assert dataset.manifest.exclusions["held_out"] > 0


def test_a_row_is_the_served_prompt_and_the_persons_action_with_its_end(shop: Week, dataset: Dataset) -> None:
    by_id = {one.id: one for one in shop.trajectories}
    tokens = ByteTokenizer()
    assert dataset.rows
    for row in dataset.rows:
        shown = by_id[row.trajectory_id]
        said = shown.turns[-1].message.text
        made = [(call.name, call.arguments) for call in shown.calls] + [("reply", {"text": said})]
        parts = segments(row.input_ids, row.completion_mask)
        assert parts
        for prompt, learned in parts:
            assert learned[-1] == tokens.eos_token_id  # SFT-04, at the end of each turn
            assert tokens.decode(prompt).endswith("<|im_start|>assistant\n")
            action = json.loads(tokens.decode(learned[:-1]))
            assert set(action) == {"tool", "arguments"}
            assert isinstance(action["arguments"], dict)  # SFT-05: once, as an object
            assert (action["tool"], action["arguments"]) in made


def segments(ids: tuple[int, ...], mask: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """What was read before each learned part, and the part."""
    parts = []
    for bit, group in groupby(range(len(ids)), key=lambda place: mask[place]):
        places = list(group)
        if bit:
            parts.append((list(ids[: places[0]]), [ids[place] for place in places]))
    return parts


def test_a_choice_is_the_token_that_rules_out_a_tool(shop: Week, dataset: Dataset) -> None:
    """A row with alternatives names the letter at which their names part, and one without names none."""
    tokens, seen = ByteTokenizer(), set()
    for row in dataset.rows:
        offered = [
            name
            for name in ("replace_item", "give_credit", "escalate_case")
            if name + "(" in tokens.decode(row.input_ids)
        ]
        assert len(row.choices) == (len(offered) > 1)
        for place in row.choices:
            assert row.completion_mask[place]
            opening = tokens.decode(row.input_ids[: place + 1])
            assert opening.endswith(tuple('{"tool":"' + name[0] for name in offered))
            seen.add(opening[-1])
    assert len(seen) > 1


def test_a_run_is_read_once(shop: Week, dataset: Dataset) -> None:
    """One row a run, with a learned part for each step (promise 11)."""
    assert len({row.trajectory_id for row in dataset.rows}) == len(dataset.rows)
    assert any(len(segments(row.input_ids, row.completion_mask)) > 1 for row in dataset.rows)


def step(prompt: tuple[int, ...], output: tuple[int, ...]) -> RolloutStep:
    return RolloutStep(messages=(), prompt_token_ids=prompt, output_token_ids=output, text="", finish_reason="stop")


def rollout(*steps: RolloutStep) -> Rollout:
    return Rollout(release_digest="0" * 64, model="base", steps=steps, calls=(), answer="", stop=StopReason.ANSWERED)


def test_steps_merge_only_as_exact_continuations() -> None:
    first, second = step((1, 2), (3,)), step((1, 2, 3, 4), (5, 6)).model_copy(update={"choices": (1,)})
    assert merged(rollout(first, second)) == ((1, 2, 3, 4, 5, 6), (0, 0, 1, 0, 1, 1), (5,))
    with pytest.raises(DemonstrationRefused):
        merged(rollout(step((1, 2), (3,)), step((1, 9, 3, 4), (5,))))


def test_nobody_who_is_measured_is_learned_from(shop: Week, dataset: Dataset) -> None:
    wall = sources(shop).wall
    by_id = {one.id: one for one in shop.trajectories}
    measured = {(one.tenant_id, one.subject) for one in shop.trajectories if wall.side(one) is Split.EVAL}
    for row in dataset.rows:
        assert (row.tenant_id, row.subject) not in measured
        assert by_id[row.trajectory_id].started_at < CUTOFF


def test_a_tenant_that_forbids_a_shared_adapter_is_in_no_shared_one(shop: Week) -> None:
    contracts = {"harbor": contract("harbor", True), "juniper": contract("juniper", False)}
    given_ = sources(shop, contracts=contracts)
    shared = built(shop, given_)
    conserved(given_, shared)
    assert {row.tenant_id for row in shared.rows} == {"harbor"}
    assert {r for i, r in reasons(shared).items() if i.startswith("juniper/")} == {"contract_forbids_shared_adapter"}
    alone = built(shop, given_, tenants=("juniper",))
    assert {row.tenant_id for row in alone.rows} == {"juniper"}
    missing = built(shop, sources(shop, contracts={"harbor": contract("harbor", True)}))
    assert {row.tenant_id for row in missing.rows} == {"harbor"}


def test_a_denied_verdict_is_the_reason_and_no_verdict_denies(shop: Week) -> None:
    given_ = sources(shop)
    first, second = given_.trajectories[0].id, given_.trajectories[1].id
    verdicts = dict(given_.verdicts) | {first: verdict(False, Reason.CONSENT_WITHDRAWN)}
    del verdicts[second]
    made = built(shop, sources(shop, verdicts=verdicts))
    assert reasons(made)[first] == "consent_withdrawn"
    assert reasons(made)[second] == "no_grant"


def test_what_the_store_left_out_keeps_its_reason(shop: Week) -> None:
    gone = Exclusion(tenant_id="harbor", trajectory_id="harbor/" + "1" * 32, reason="consent_refused")
    given_ = sources(shop, excluded=[gone])
    made = built(shop, given_)
    conserved(given_, made)
    assert gone in made.exclusions


def test_takeovers_of_another_lever_do_not_teach_weights(shop: Week) -> None:
    moved = problems(shop).model_copy(update={"lever": Lever.CONTEXT})
    made = built(shop, sources(shop, patterns=[moved]))
    assert made.rows == ()
    assert {reasons(made)[one.id] for one in sources(shop).trajectories if taken_over(one)} <= {
        "other_lever", "held_out", "after_cutoff",
    }  # fmt: skip


def test_rehearsal_and_each_person_are_capped(shop: Week) -> None:
    whole = built(shop, sources(shop), rehearsal_ratio=0.5, runs_per_subject=1)
    conserved(sources(shop), whole)
    runs = {(row.trajectory_id, row.origin, row.tenant_id, row.subject) for row in whole.rows}
    kinds = Counter(origin for _, origin, _, _ in runs)
    assert 0 < kinds["success"] <= 0.5 * kinds["takeover"]
    assert max(Counter(run[2:] for run in runs).values()) == 1
    assert {"rehearsal_cap", "subject_cap"} <= set(whole.manifest.exclusions)


def test_a_long_run_is_left_out_whole(shop: Week) -> None:
    made = built(shop, sources(shop), max_tokens=300)
    conserved(sources(shop), made)
    assert "too_long" in made.manifest.exclusions
    assert all(len(row.input_ids) <= 300 for row in made.rows)


def test_what_the_candidates_harness_does_not_permit_is_left_out(shop: Week) -> None:
    import asyncio

    from governance.records.scope import Scope
    from tests.training.shop_week import TENANTS
    from training.dataset import DatasetPolicy, build

    rules = tuple(
        rule.model_copy(update={"tools": ("get_order",)}) if rule.topic == "problem" else rule
        for rule in shop.harness.permissions
    )
    other = candidate(shop, harness=shop.harness.model_copy(update={"permissions": rules}))
    scope = Scope(agent_name="shop-support", tenants=TENANTS)
    made = asyncio.run(build(scope, sources(shop), other, DatasetPolicy(max_tokens=4000), "1"))
    conserved(sources(shop), made)
    assert made.manifest.exclusions["not_permitted"] > 0
    assert made.rows == ()


def test_a_replay_that_differs_is_left_out(shop: Week) -> None:
    given_ = sources(shop)
    used = {row.trajectory_id for row in built(shop, given_).rows if row.origin == "takeover"}
    target = next(one for one in given_.trajectories if one.id in used)
    calls = tuple(call.model_copy(update={"result": {"other": "result"}}) for call in target.calls)
    changed = [one.model_copy(update={"calls": calls}) if one is target else one for one in given_.trajectories]
    made = built(shop, sources(shop, trajectories=changed))
    assert reasons(made)[target.id] == "replay_differs"
    elsewhere = [
        one.model_copy(update={"world_digest": "0" * 64}) if one is target else one for one in given_.trajectories
    ]
    assert reasons(built(shop, sources(shop, trajectories=elsewhere)))[target.id] == "world_not_held"


def test_the_facts_of_the_rows_own_time_stand_in_its_prompt(shop: Week) -> None:
    import asyncio

    from governance.records.scope import Scope
    from training.dataset import DatasetPolicy, build

    old = Fact(key="hours", text="OPEN TILL FIVE", valid_from=START.replace(year=2025))
    context = Context(facts=(old,)).with_fact(Fact(key="hours", text="OPEN TILL NINE", valid_from=START.replace(day=3)))
    scope = Scope(agent_name="shop-support", tenants=("harbor", "juniper"))
    policy = DatasetPolicy(max_tokens=4000)
    told = tuple(rule.model_copy(update={"facts": None}) for rule in shop.harness.permissions)
    harness = shop.harness.model_copy(update={"permissions": told})
    made = asyncio.run(build(scope, sources(shop), candidate(shop, context=context, harness=harness), policy, "1"))
    at = {one.id: one.started_at for one in shop.trajectories}
    seen = set()
    for row in made.rows:
        late = at[row.trajectory_id] >= START.replace(day=3)
        text = ByteTokenizer().decode(list(row.input_ids))
        assert ("OPEN TILL NINE" in text, "OPEN TILL FIVE" in text) == (late, not late)
        seen.add(late)
    assert seen == {True, False}


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**16), drop=st.floats(0, 0.5))
def test_order_changes_nothing_and_nothing_is_lost(shop: Week, seed: int, drop: float) -> None:
    rng = random.Random(seed)
    kept = [one for one in sources(shop).trajectories if rng.random() >= drop][:60]
    first = sources(shop, trajectories=kept)
    shuffled = list(kept)
    rng.shuffle(shuffled)
    second = sources(shop, trajectories=shuffled)
    one, two = built(shop, first), built(shop, second)
    conserved(first, one)
    assert one.rows == two.rows
    assert one.manifest.root == two.manifest.root
    assert one.exclusions == two.exclusions


def test_an_engine_that_is_asked_too_often_says_so(shop: Week) -> None:
    import asyncio

    from governance.ports.engine import CompletionRequest
    from governance.records.harness import Sampling
    from training.demonstration import DemonstrationEngine

    engine = DemonstrationEngine([])
    request = CompletionRequest(
        model="m", messages=(), prompt_token_ids=(), tools=("reply",), action_schema={}, sampling=Sampling()
    )
    with pytest.raises(DemonstrationRefused, match="goes on"):
        asyncio.run(engine.complete(request))
    assert engine.refusal is not None
