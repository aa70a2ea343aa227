"""Tokens and cost counted once (ING-16 and its kind): whatever the tree, whoever states what at which height."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.usage import CostBasis, Usage
from ingestion import dialects
from ingestion.assembly import assemble
from ingestion.prices import Price, PriceTable
from tests.ingestion.otlp_bodies import T0, admitted, make_span
from tests.ingestion.test_importers_cases import TRACES, runs_of

TABLE = PriceTable(price=(Price(model="tiny", input=1.0, output=3.0, cache_read=0.1),))


def spent(number: int, parent: int | None, kind: str = "chat", **stated: Any) -> AdmittedSpan:
    """``stated``: ``input``, ``output``, ``cost``, ... of ``gen_ai.usage``; ``model`` and ``response`` of the call."""
    names = {"input": "gen_ai.usage.input_tokens", "output": "gen_ai.usage.output_tokens",
             "cached": "gen_ai.usage.cache_read.input_tokens", "cost": "gen_ai.usage.cost",
             "model": "gen_ai.request.model", "response": "gen_ai.response.id"}  # fmt: skip
    attributes = {names[key]: value for key, value in stated.items()} | {"gen_ai.operation.name": kind}
    return admitted(make_span(number, parent, attributes=attributes))


def usage(*spans: AdmittedSpan, prices: PriceTable | None = None) -> Usage:
    return assemble(spans, prices or PriceTable()).usage


def tokens(*spans: AdmittedSpan) -> tuple[int, int]:
    found = usage(*spans)
    return found.input_tokens, found.output_tokens


def test_ing_16_an_agent_that_states_the_sum_of_its_calls() -> None:
    calls = [spent(n, 1, input=count) for n, count in enumerate((3031, 4421, 10709, 11738), 2)]
    assert tokens(spent(1, None, "invoke_agent", input=29899), *calls) == (29899, 0)
    assert tokens(spent(1, None, "invoke_agent"), *calls) == (29899, 0)
    assert tokens(spent(1, None, "invoke_agent", input=29899)) == (29899, 0)


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        pytest.param([(1, None, "invoke_agent", 500, 50), (2, 1, "chat", 100, 10)], (500, 50), id="more than below"),
        pytest.param([(1, None, "chat", 100, 10), (2, 1, "chat", 100, 10)], (100, 10), id="a call in a call"),
        pytest.param([(1, None, "invoke_agent", 300, 0), (2, 1, "chat", 0, 20)], (300, 20), id="each states a part"),
        pytest.param([(1, 9, "chat", 100, 10), (2, 9, "chat", 50, 5)], (150, 15), id="no root yet"),
        pytest.param(
            [(1, None, "chat", 100, 10), (2, 1, "execute_tool", 0, 0), (3, 2, "chat", 80, 8)],
            (180, 18),
            id="an agent in a tool under the call that asked for it",
        ),
        pytest.param(
            [(1, None, "chat", 180, 18), (2, 1, "execute_tool", 0, 0), (3, 2, "chat", 80, 8), (4, 1, "chat", 100, 10)],
            (180, 18),
            id="a call that states the sum of all below",
        ),
    ],
)
def test_ing_16_its_kind(spans: list[tuple[int, int | None, str, int, int]], wanted: tuple[int, int]) -> None:
    made = [spent(n, parent, kind, input=in_, output=out) for n, parent, kind, in_, out in spans]
    assert tokens(*made) == wanted


LONG = {"start_unix_nano": T0, "end_unix_nano": T0 + 10**9}
LATER = {"start_unix_nano": T0 + 2 * 10**9, "end_unix_nano": T0 + 3 * 10**9}


def at(item: AdmittedSpan, times: dict[str, int]) -> AdmittedSpan:
    return item.model_copy(update={"span": item.span.model_copy(update=times)})


def test_a_response_that_two_instrumentations_tell_of_is_one() -> None:
    agent, other = spent(1, None, "invoke_agent"), spent(9, 1, "invoke_workflow")
    first = at(spent(2, 1, input=100, response="r-1"), LONG)
    again = at(spent(3, 9, input=100, output=9, response="r-1"), LONG)
    assert tokens(agent, other, first, again) == (100, 9)
    assert tokens(agent, other, first, again, at(spent(4, 1, input=70, response="r-2"), LONG)) == (170, 9)


def test_a_server_whose_responses_all_have_one_id_is_counted_call_by_call() -> None:
    agent = spent(1, None, "invoke_agent")
    calls = [at(spent(2, 1, input=100, response="r"), LONG), at(spent(3, 1, input=100, response="r"), LATER)]
    assert tokens(agent, *calls) == (200, 0)
    other = at(spent(3, 1, input=90, response="r"), LONG)
    assert tokens(agent, calls[0], other) == (190, 0)


Node = tuple[str, tuple[int, int, int], list[Any]]


def trees() -> st.SearchStrategy[Node]:
    figures = st.tuples(st.integers(0, 5000), st.integers(0, 500), st.integers(0, 10**9))
    leaf: st.SearchStrategy[Node] = st.tuples(st.just("chat"), figures, st.just([]))
    kinds = st.sampled_from(["invoke_agent", "invoke_workflow", "chat", "execute_tool"])
    stated = st.sampled_from([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 1)])
    return st.recursive(
        leaf, lambda below: st.tuples(kinds, stated, st.lists(below, min_size=1, max_size=4)), max_leaves=12
    )


def grown(node: Node, parent: int | None, made: list[AdmittedSpan]) -> tuple[int, int, int]:
    """Makes the spans of a tree; inner ones state the sums of what is below them, or a part of the sums."""
    kind, own, below = node
    number = len(made) + 1
    made.append(spent(number, parent, kind))
    sums = own
    if below:
        parts = [grown(one, number, made) for one in below]
        sums = sum(one[0] for one in parts), sum(one[1] for one in parts), sum(one[2] for one in parts)
    says = own if not below else (sums[0] * own[0], sums[1] * own[1], sums[2] * own[2])
    if below and kind == "chat" and says[:2] != sums[:2]:
        says = (0, 0, says[2])  # a call that states a part would have spent it itself, beside its tools
    stated = {"input": says[0], "output": says[1], "cost": says[2] / 10**9}
    made[number - 1] = spent(number, parent, kind, **{key: value for key, value in stated.items() if value})
    return sums


@given(trees())
@settings(max_examples=200, deadline=None)
def test_sums_that_are_stated_on_the_way_up_change_nothing(tree: Node) -> None:
    made: list[AdmittedSpan] = []
    total = grown(tree, None, made)
    found = usage(*made)
    assert (found.input_tokens, found.output_tokens) == total[:2]
    assert found.cost == (total[2] / 10**9 if total[2] else None)


def test_a_stated_cost_stands_for_its_subtree() -> None:
    calls = [spent(2, 1, input=100, cost=0.25), spent(3, 1, input=100, model="tiny")]
    whole = usage(spent(1, None, "invoke_agent", cost=0.75), *calls, prices=TABLE)
    assert (whole.cost, whole.cost_basis, whole.uncosted_tokens) == (0.75, CostBasis.STATED, 0)
    part = usage(spent(1, None, "invoke_agent"), *calls, prices=TABLE)
    assert (part.cost, part.cost_basis) == (0.2501, CostBasis.MIXED)
    bare = usage(spent(1, None, "invoke_agent"), *calls)
    assert (bare.cost, bare.cost_basis, bare.uncosted_tokens) == (0.25, CostBasis.STATED, 100)


def test_tokens_are_priced_by_the_table_where_no_cost_is_stated() -> None:
    call = spent(2, 1, input=1_000_000, cached=400_000, output=1_000_000, model="tiny")
    found = usage(spent(1, None, "invoke_agent"), call, prices=TABLE)
    assert (found.cost, found.currency, found.cost_basis) == (0.6 + 0.04 + 3.0, "USD", CostBasis.PRICED)
    zero = spent(1, None, input=1_000_000, model="tiny", cost=0.0)
    assert usage(zero, prices=TABLE).cost == 1.0
    assert usage(zero).cost is None


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference.span.kind": "LLM", "llm.model_name": "tiny", "llm.token_count.prompt": 1_000_000},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "tiny", "ai.usage.inputTokens": 1_000_000},
        {"langfuse.observation.model.name": "tiny", "langfuse.observation.usage_details": '{"input": 1000000}'},
        {"ai.observability.cost.model": "tiny", "ai.observability.cost.num_prompt_tokens": 1_000_000},
        {"span.type": "llm_request", "model": "tiny", "input_tokens": 1_000_000},
    ],
)
def test_the_model_of_each_convention_finds_its_price(attributes: dict[str, Any]) -> None:
    assert usage(admitted(make_span(1, attributes=attributes)), prices=TABLE).cost == 1.0


def test_costs_of_two_currencies_are_not_added() -> None:
    euros = PriceTable(currency="EUR", price=TABLE.price)
    found = usage(spent(1, None, "invoke_agent"), spent(2, 1, input=5, cost=1.0), spent(3, 1, input=7, model="tiny"),
                  prices=euros)  # fmt: skip
    assert (found.cost, found.currency, found.uncosted_tokens) == (None, None, 12)


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 5, "gen_ai.usage.cache_read.input_tokens": 4,
          "gen_ai.usage.reasoning.output_tokens": 2}, Usage(input_tokens=9, output_tokens=5, cache_read_tokens=4,
                                                          reasoning_tokens=2)),
        ({"gen_ai.usage.input_tokens": 9, "gen_ai.usage.cost": "0.00012"},
         Usage(input_tokens=9, cost=0.00012, currency="USD")),
        ({"gen_ai.usage.input_tokens": 9, "gen_ai.usage.input_cost": 0.1, "gen_ai.usage.output_cost": 0.2},
         Usage(input_tokens=9, cost=0.3, currency="USD")),
        ({"llm.token_count.prompt": 9, "llm.token_count.prompt_details.cache_write": 3, "llm.cost.total": 0.5,
          "llm.cost.prompt": 0.4}, Usage(input_tokens=9, cache_write_tokens=3, cost=0.5, currency="USD")),
        ({"ai.operationId": "ai.generateText.doGenerate", "ai.usage.inputTokens": 9, "ai.usage.cachedInputTokens": 4,
          "ai.usage.reasoningTokens": 0}, Usage(input_tokens=9, cache_read_tokens=4)),
        ({"span.type": "llm_request", "input_tokens": 6, "output_tokens": 2, "cache_read_tokens": 1000,
          "cache_creation_tokens": 50, "cost_usd": 0.02},
         Usage(input_tokens=1056, output_tokens=2, cache_read_tokens=1000, cache_write_tokens=50, cost=0.02,
               currency="USD")),
        ({"codex.turn.token_usage.input_tokens": 13297, "codex.turn.token_usage.output_tokens": 23,
          "codex.turn.token_usage.cached_input_tokens": 4480, "codex.turn.token_usage.reasoning_output_tokens": 10},
         Usage(input_tokens=13297, output_tokens=23, cache_read_tokens=4480, reasoning_tokens=10)),
        ({"gcp.vertex.agent.llm_response": json.dumps({"usage_metadata": {
            "prompt_token_count": 40, "candidates_token_count": 38, "thoughts_token_count": 121}})},
         Usage(input_tokens=40, output_tokens=159, reasoning_tokens=121)),
        ({"langfuse.observation.usage_details": '{"input": 9, "output": 3, "output_reasoning_tokens": 1}',
          "langfuse.observation.cost_details": '{"input": 0.1, "output": 0.2}'},
         Usage(input_tokens=9, output_tokens=3, reasoning_tokens=1, cost=0.3, currency="USD")),
        ({"mlflow.spanType": '"LLM"', "mlflow.chat.tokenUsage": '{"input_tokens": 9, "output_tokens": 3}',
          "mlflow.llm.cost": '{"total_cost": 0.25}'}, Usage(input_tokens=9, output_tokens=3, cost=0.25,
                                                           currency="USD")),
        ({"ai.observability.cost.num_prompt_tokens": 9, "ai.observability.cost.cost": 0.25,
          "ai.observability.cost.cost_currency": "EUR"}, Usage(input_tokens=9, cost=0.25, currency="EUR")),
        ({"gen_ai.usage.input_tokens": 3, "gen_ai.usage.cache_read.input_tokens": 10},
         Usage(input_tokens=13, cache_read_tokens=10)),
        ({"gen_ai.usage.input_tokens": 3, "gen_ai.usage.cost": float("nan")}, Usage(input_tokens=3)),
        ({"gen_ai.usage.input_tokens": 3, "gen_ai.usage.cost": -1}, Usage(input_tokens=3)),
        ({"gen_ai.usage.input_tokens": 3, "operation.cost": "free"}, Usage(input_tokens=3)),
    ],
)  # fmt: skip
def test_what_a_convention_states(attributes: dict[str, Any], wanted: Usage) -> None:
    assert dialects.read(make_span(1, attributes=attributes)).usage == wanted


def test_two_conventions_on_one_span_are_one_usage() -> None:
    both = {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3, "llm.token_count.prompt": 9,
            "llm.token_count.completion_details.reasoning": 2, "llm.token_count.completion": 3,
            "llm.cost.total": 0.5}  # fmt: skip
    found = dialects.read(make_span(1, attributes=both)).usage
    assert found == Usage(input_tokens=9, output_tokens=3, reasoning_tokens=2, cost=0.5, currency="USD")


def test_langfuse_costs_are_those_of_the_outer_generations(cases_dir: Path) -> None:
    seen = 0
    for path in sorted((cases_dir / TRACES).glob("*.trace.json")):
        observations = json.loads(path.read_bytes())["observations"]
        inside = {one["id"] for one in observations if one["type"] == "GENERATION"}
        outer = [one for one in observations if one["id"] in inside and one["parentObservationId"] not in inside]
        (run,) = runs_of(path)
        assert run.usage.cost == pytest.approx(sum(one["totalCost"] for one in outer), abs=1e-8), path.name
        assert (run.usage.cost_basis, run.usage.uncosted_tokens) == (CostBasis.STATED, 0)
        seen += 1
    assert seen >= 12


def test_any_agent_costs_are_the_sums_of_its_calls(cases_dir: Path) -> None:
    for path in sorted((cases_dir / "traces/any_agent").glob("*_trace.json")):
        held = [one["attributes"] for one in json.loads(path.read_bytes())["spans"]]
        calls = [one for one in held if one.get("gen_ai.operation.name") == "call_llm"]
        wanted = sum(one["gen_ai.usage.input_cost"] + one["gen_ai.usage.output_cost"] for one in calls)
        (run,) = runs_of(path)
        assert wanted > 0
        assert run.usage.cost == pytest.approx(wanted, abs=1e-12), path.name


def test_trulens_states_tokens_and_cost(cases_dir: Path) -> None:
    from tests.ingestion.case_spans import spans_of

    spans = [span for path in sorted((cases_dir / "traces/trulens_otel").glob("*.json")) for span in spans_of(path)]
    stated = [span for span in spans if "ai.observability.cost.cost" in span.attributes]
    assert stated
    for span in stated:
        held, found = span.attributes, dialects.read(span).usage
        assert found is not None
        assert found.input_tokens == held["ai.observability.cost.num_prompt_tokens"]
        assert found.output_tokens == held["ai.observability.cost.num_completion_tokens"]
        assert found.cost == pytest.approx(held["ai.observability.cost.cost"], abs=1e-12)


def test_a_trace_has_the_tokens_that_its_collector_counted(cases_dir: Path) -> None:
    path = cases_dir / "traces/strands_evals_fixtures/openai_agents_openinference_adot_spans.json"
    (run,), held = runs_of(path), json.loads(path.read_bytes())
    counted = re.findall(r"'aws.genai.token_count_total': (\d+)", str(held))
    assert len(counted) == 3
    assert run.usage.total_tokens == sum(map(int, counted))


def test_a_swe_agent_run_costs_what_its_file_says(cases_dir: Path) -> None:
    seen = 0
    for path in sorted((cases_dir / "trajectories/swe_agent").glob("*.traj")):
        stats = json.loads(path.read_bytes()).get("info", {}).get("model_stats") or {}
        (run,) = runs_of(path)
        assert (run.usage.cost or 0) == pytest.approx(stats.get("instance_cost", 0)), path.name
        seen += run.usage.cost is not None
    assert seen >= 3
