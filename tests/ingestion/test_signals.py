"""Each detector on small traces, and on real ones where the right answer is known."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.records.content import AdmittedSpan
from governance.records.outline import RunOutline
from governance.records.process_rule import NeverCalled, NeverSaid
from governance.records.signal import Signal, SignalKind
from governance.records.span import Span, SpanEvent
from governance.records.usage import Usage
from ingestion import signals
from ingestion.assembly import assemble
from ingestion.signals.baseline import Baseline, Figures, far
from tests.ingestion.otlp_bodies import T0, admitted, make_span
from tests.ingestion.test_assembly import END, chat, root, said, session, takeover, tool
from tests.ingestion.test_importers_cases import spans_of

TAU = "trajectories/tau_bench/historical_trajectories/gpt-4o-airline.json"


def found(spans: list[AdmittedSpan], kind: SignalKind, **judged_by: Any) -> list[Signal]:
    return [one for one in signals.detect(assemble(spans), spans, **judged_by) if one.kind is kind]


def spans_at(*numbers: int) -> tuple[str, ...]:
    return tuple(f"{number:016x}" for number in numbers)


def with_result(item: AdmittedSpan, result: Any) -> AdmittedSpan:
    assert item.content is not None
    return item.model_copy(update={"content": item.content.model_copy(update={"tool_result": result})})


def evaluated(name: str, **fields: Any) -> SpanEvent:
    attributes = {"gen_ai.evaluation.name": name} | {f"gen_ai.evaluation.{key}": item for key, item in fields.items()}
    return SpanEvent(name="gen_ai.evaluation.result", time_unix_nano=END, attributes=attributes)


# Tool errors


def test_a_tool_error_has_its_kind_as_label_and_keeps_its_type() -> None:
    (one,) = found([root(), tool(2, {"order": 1}, error="openai.RateLimitError")], SignalKind.TOOL_ERROR)
    assert (one.label, one.detail["type"], one.span_ids) == ("rate_limit", "openai.RateLimitError", spans_at(2))


def test_a_result_that_is_an_error_in_fact_is_one() -> None:
    item = with_result(tool(2, {"order": 1}), "Error: order not found")
    (one,) = found([root(), item], SignalKind.TOOL_ERROR)
    assert (one.label, one.detail["error"]) == ("not_found", "Error: order not found")
    assert "type" not in one.detail


# Loops


def again(*calls: tuple[Any, Any], name: str = "find_order") -> list[AdmittedSpan]:
    """The root and these calls, each with its arguments and its result."""
    made = [with_result(tool(n, arguments, name=name), result) for n, (arguments, result) in enumerate(calls, 2)]
    return [root(), *made]


ERROR = {"error": "order not found"}


@pytest.mark.parametrize(
    ("calls", "loop"),
    [
        pytest.param([({"q": 1}, ERROR)] * 3, (2, 3, 4), id="the same error three times"),
        pytest.param([({"q": 1}, {"n": 5})] * 4, (2, 3, 4, 5), id="the same answer four times"),
        pytest.param([({"q": 1}, ERROR)] * 2, None, id="one retry is no loop"),
        pytest.param([({"page": n}, {"page": n}) for n in range(5)], None, id="pages are no loop"),
        pytest.param([({"q": 1}, {"n": n}) for n in range(5)], None, id="a status that changes"),
        pytest.param([({"order": f"A-10000000000{n}"}, ERROR) for n in range(3)], (2, 3, 4), id="nearly the same"),
        pytest.param([({"order": name}, ERROR) for name in ("bread", "milk", "tea")], None, id="three other things"),
        pytest.param([({"q": 1}, ERROR), ({"q": 1}, {"n": 1})] * 3, None, id="errors between answers"),
        pytest.param([({"q": 1}, ERROR)] * 3 + [({"q": 1}, {"n": 1})], (2, 3, 4), id="a loop that ended well"),
        pytest.param([({"q": 1}, None)] * 5, None, id="answers that nobody recorded"),
    ],
)
def test_a_loop_is_a_row_of_calls_that_get_no_further(calls: list[Any], loop: tuple[int, ...] | None) -> None:
    one = found(again(*calls), SignalKind.RETRY_LOOP)
    assert [item.span_ids for item in one] == ([] if loop is None else [spans_at(*loop)])


def test_a_loop_that_goes_on_is_the_same_loop() -> None:
    short, long = (found(again(*[({"q": 1}, ERROR)] * times), SignalKind.RETRY_LOOP) for times in (3, 6))
    assert short[0].id == long[0].id
    assert (short[0].value, long[0].value) == (3.0, 6.0)


def test_another_tool_between_does_not_end_a_loop() -> None:
    other = tool(20, {"order": 1}, name="other")
    one, two, three = again(*[({"q": 1}, ERROR)] * 3)[1:]
    late = [
        two.model_copy(update={"span": moved(two.span, 21)}),
        three.model_copy(update={"span": moved(three.span, 22)}),
    ]
    assert len(found([root(), one, other, *late], SignalKind.RETRY_LOOP)) == 1


def moved(span: Span, number: int) -> Span:
    return span.model_copy(update={"start_unix_nano": T0 + number * 1_000_000})


# Searches


@pytest.mark.parametrize(
    "result",
    [[], {}, "", "  ", {"results": []}, {"hits": [], "took": 3}, {"total": 0}, "No results found.",
     "No matching documents were found for this query", "0 results", 'No matches found for "x" in /src',
     "검색 결과가 없습니다.", {"data": [], "count": 0}, "Nothing found"],
)  # fmt: skip
def test_a_search_that_found_nothing(result: Any) -> None:
    one = found(again(({"words": "x"}, result), name="search_orders"), SignalKind.RETRIEVAL_MISS)
    assert [(item.label, item.detail) for item in one] == [("search_orders", {"by": "search"})]


@pytest.mark.parametrize(
    "result",
    [[{"id": 1}], {"results": [1]}, {"results": [], "documents": [1]}, None, 0, False,
     "No, the shop is closed on Sundays.",
     "No results are better than ours: read more", {"total": 3}, "Found 1 match", {"status": "ok"}, {"total": False}],
)  # fmt: skip
def test_a_search_that_found_something_or_says_nothing(result: Any) -> None:
    assert not found(again(({"words": "x"}, result), name="search_orders"), SignalKind.RETRIEVAL_MISS)


@pytest.mark.parametrize(
    ("name", "arguments", "searches"),
    [("searchOrders", {}, True), ("find_file", {}, True), ("kb", {"query": "x"}, True), ("refund", {"order": 1}, False),
     ("list_orders", {}, False), ("researcher", {}, False)],
)  # fmt: skip
def test_which_tools_search(name: str, arguments: Any, searches: bool) -> None:
    assert bool(found(again((arguments, []), name=name), SignalKind.RETRIEVAL_MISS)) is searches


def test_a_search_that_failed_is_an_error_and_no_miss() -> None:
    spans = [root(), tool(2, {"query": "x"}, error="timeout", name="search")]
    assert not found(spans, SignalKind.RETRIEVAL_MISS)


def test_a_retrieval_by_its_convention() -> None:
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": "[]"}
    (one,) = found([root(), admitted(make_span(2, 1, attributes=attributes))], SignalKind.RETRIEVAL_MISS)
    assert one.detail == {"by": "retrieval"}


# Refusals


@pytest.mark.parametrize(
    ("attributes", "label"),
    [
        ({"gen_ai.response.finish_reasons": ["content_filter"]}, "content_filter"),
        ({"gen_ai.response.finish_reasons": ["FinishReason.SAFETY"]}, "content_filter"),
        ({"gen_ai.response.finish_reasons": ["refusal"]}, "refusal"),
        ({"ai.response.finishReason": "content-filter"}, "content_filter"),
        ({"gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "refusal", "refusal": "No."}], "finish_reason": "stop"}])},
         "part"),
        ({"gen_ai.output.messages": json.dumps([{"role": "assistant", "content": None, "refusal": "No."}])}, "part"),
        ({"gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "I"}], "finish_reason": "content_filter"}])},
         "content_filter"),
        ({"gen_ai.response.finish_reasons": ["stop"]}, None),
        ({"gen_ai.response.finish_reasons": ["length"]}, None),
    ],
)  # fmt: skip
def test_a_refusal_that_the_provider_states(attributes: dict[str, Any], label: str | None) -> None:
    call = admitted(make_span(2, 1, attributes={"gen_ai.operation.name": "chat", **attributes}))
    one = found([root(), call], SignalKind.REFUSAL)
    assert [(item.label, item.span_ids) for item in one] == ([] if label is None else [(label, spans_at(2))])


def test_a_refusal_that_later_calls_repeat_is_one() -> None:
    refused = [{"role": "assistant", "content": None, "refusal": "No."}]
    first = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(refused)}
    later = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(refused)}
    spans = [root(), *(admitted(make_span(n, 1, attributes=held)) for n, held in ((2, first), (3, later), (4, later)))]
    assert [one.span_ids for one in found(spans, SignalKind.REFUSAL)] == [spans_at(2)]


@pytest.mark.parametrize(
    "answer",
    ["I'm sorry, but I can't help with that.", "I cannot assist with this request.",
     "I\N{RIGHT SINGLE QUOTATION MARK}m not able to help you with that.",
     "Sorry, I won't discuss that.", "I am unable to comply with this.", "I'm sorry, I cannot do that.",
     "죄송하지만 그 요청은 도와드릴 수 없습니다.", "죄송합니다. 죄송하지만 해당 질문에는 답변을 드릴 수 없습니다."],
)  # fmt: skip
def test_a_formula_of_declining_is_a_refusal(answer: str) -> None:
    assert [one.label for one in found([root(answer=answer)], SignalKind.REFUSAL)] == ["text"]


@pytest.mark.parametrize(
    "answer",
    ["I'm sorry, but I cannot find your order.", "I can help with that.", "I can't help but notice that it is late.",
     "Your card cannot be charged.", "The refund is not possible after 30 days.", "We can assist with that tomorrow.",
     "I'm sorry for the delay. Your refund is on its way.", "죄송하지만 주문을 찾을 수 없습니다.", "도와드리겠습니다.",
     "x" * 300 + " I can't help with that.", "I can't help with that. " + "But here is what you can do. " * 30],
)  # fmt: skip
def test_an_answer_that_is_no_refusal(answer: str) -> None:
    assert not found([root(answer=answer)], SignalKind.REFUSAL)


def test_what_a_person_declines_is_no_refusal_of_the_agent() -> None:
    attributes = {"gen_ai.operation.name": "invoke_agent", "tidemill.actor": "human",
                  "gen_ai.output.messages": said("assistant", "I can't help with that.")}  # fmt: skip
    assert not found([root(), admitted(make_span(20, 1, attributes=attributes))], SignalKind.REFUSAL)


# Contradictions


def test_a_person_who_answers_otherwise_contradicts_the_agent() -> None:
    one = found([root(answer="It takes 14 days."), *takeover()], SignalKind.CONTRADICTION)
    assert [(item.label, item.span_ids) for item in one] == [("answer", spans_at(1, 20))]
    assert not found([root(answer=" i refunded  IT. "), *takeover()], SignalKind.CONTRADICTION)
    assert not found([root(answer=None), *takeover()], SignalKind.CONTRADICTION)


def test_a_person_who_redoes_a_call_contradicts_the_agent() -> None:
    done, redone = tool(2, {"order": "A-9"}), takeover()
    (one,) = found([root(answer=None), done, *redone], SignalKind.CONTRADICTION)
    assert (one.label, one.span_ids) == ("call", spans_at(2, 21))
    assert (one.detail["agent"], one.detail["human"]) == ({"order": "A-9"}, {"order": "A-1"})
    same = tool(2, {"order": "A-1"})
    assert not found([root(answer=None), same, *redone], SignalKind.CONTRADICTION)
    assert not found([root(answer=None), tool(2, {"order": 1}, error="schema"), *redone], SignalKind.CONTRADICTION)


def test_feedback_that_says_what_was_right_contradicts_the_answer() -> None:
    event = evaluated("correction", explanation="It takes 30 days.")
    (one,) = found([root(answer="14 days.", events=(event,))], SignalKind.CONTRADICTION)
    assert (one.label, one.detail["corrected"]) == ("feedback", "It takes 30 days.")
    for other in (evaluated("correction"), evaluated("helpfulness", explanation="So-so.")):
        assert not found([root(answer="14 days.", events=(other,))], SignalKind.CONTRADICTION)


# Abandonment


def unread() -> AdmittedSpan:
    """An agent whose instrumentation wrote the repr of an object for its answer."""
    attributes = {"openinference.span.kind": "AGENT", "input.value": "What time is it?",
                  "output.value": "<generator object run at 0x7f10>"}  # fmt: skip
    return admitted(make_span(1, attributes=attributes))


def test_a_customer_who_has_the_last_word() -> None:
    talk = [("user", "Refund me."), ("assistant", "Done."), ("user", "And the other one?")]
    asked = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in talk]
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(asked)}
    (one,) = found([admitted(make_span(1, attributes=attributes))], SignalKind.ABANDONMENT)
    assert one.label == "ends_on_customer"
    asked[-1]["parts"] = [{"type": "text", "content": "Thanks, that is all!"}]
    goodbye = attributes | {"gen_ai.input.messages": json.dumps(asked)}
    assert not found([admitted(make_span(1, attributes=goodbye))], SignalKind.ABANDONMENT)


def test_an_agent_that_ends_asking_for_a_tool() -> None:
    asks = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "refund", "arguments": {}}]}]
    call = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said("user", "Refund me."),
            "gen_ai.output.messages": json.dumps(asks)}  # fmt: skip
    root_ = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": said("user", "Refund me.")}
    spans = [admitted(make_span(1, attributes=root_)), admitted(make_span(2, 1, attributes=call))]
    (one,) = found(spans, SignalKind.ABANDONMENT)
    assert (one.label, one.span_ids) == ("ends_on_tool_call", spans_at(1, 2))


@pytest.mark.parametrize(
    ("spans", "label"),
    [
        pytest.param([root(answer=None), chat(2)], "max_steps", id="no answer, with its reason"),
        pytest.param([root(), chat(2)], None, id="answered"),
        pytest.param([root(answer=None), tool(2, {"a": 1}, name="submit")], None, id="handed in by a tool"),
        pytest.param([root(answer=None), tool(2, {"a": 1}, name="submit", error="timeout")], "max_steps", id="or not"),
        pytest.param(session(), None, id="taken over"),
        pytest.param([unread()], None, id="an answer that nobody could read"),
        pytest.param([root(answer=None, end_unix_nano=0)], None, id="still open"),
        pytest.param([chat(2)], None, id="the root is not there"),
    ],
)
def test_who_was_left_without_an_answer(spans: list[AdmittedSpan], label: str | None) -> None:
    assert [one.label for one in found(spans, SignalKind.ABANDONMENT)] == ([] if label is None else [label])


def test_an_embedding_speaks_to_nobody() -> None:
    attributes = {"ai.operationId": "ai.embed", "ai.value": json.dumps("the fox")}
    assert not found([admitted(make_span(1, attributes=attributes))], SignalKind.ABANDONMENT)


# Rules


def test_a_breach_is_labelled_by_its_rule_and_shows_its_spans() -> None:
    rules = (
        NeverCalled(name="no_refunds", tool="refund", reason="Only people refund."),
        NeverSaid(name="x", pattern="Done"),
    )
    one = found([root(), tool(2, {"order": 1})], SignalKind.POLICY_BREACH, rules=rules)
    assert {(item.label, item.span_ids) for item in one} == {("no_refunds", spans_at(2)), ("x", spans_at(1))}
    assert one[-1].detail.get("reason", "Only people refund.") == "Only people refund."
    assert not found([root(), tool(2, {"order": 1})], SignalKind.POLICY_BREACH)


# Outliers


def runs(*seconds: float, cost: float | None = None, tokens: int | None = None) -> Baseline:
    figures = Figures(cost=cost, currency="USD" if cost else None, tokens=tokens)
    return Baseline(runs=tuple(figures.model_copy(update={"seconds": one}) for one in seconds))


def lasting(seconds: float) -> list[AdmittedSpan]:
    end = T0 + int(seconds * 1e9)
    slow = tool(2, {"order": 1})
    return [
        root(end_unix_nano=end),
        slow.model_copy(update={"span": slow.span.model_copy(update={"end_unix_nano": end})}),
    ]


STEADY = tuple(1 + n % 5 / 10 for n in range(20))


def test_a_run_that_took_far_longer_than_the_others() -> None:
    (one,) = found(lasting(9), SignalKind.LATENCY_OUTLIER, baseline=runs(*STEADY))
    assert (one.label, one.span_ids) == ("seconds", spans_at(1, 2))
    assert one.value == pytest.approx(9, abs=0.01)
    assert (one.detail["median"], one.detail["sample"]) == (1.2, 20)


@pytest.mark.parametrize(
    ("spans", "baseline"),
    [
        pytest.param(lasting(9), runs(*STEADY[1:]), id="one run short of the sample"),
        pytest.param(lasting(9), Baseline(), id="no others"),
        pytest.param(lasting(1.9), runs(*[1.0] * 40), id="all alike, and not twice as long"),
        pytest.param(lasting(9), runs(*[float(n) for n in range(1, 41)]), id="they vary as much"),
        pytest.param(lasting(0.01), runs(*STEADY), id="far shorter"),
        pytest.param([*lasting(9), *takeover()], runs(*STEADY), id="a person took the time"),
        pytest.param(lasting(9)[1:], runs(*STEADY), id="the root is not there"),
    ],
)
def test_a_time_that_is_no_outlier(spans: list[AdmittedSpan], baseline: Baseline) -> None:
    assert not found(spans, SignalKind.LATENCY_OUTLIER, baseline=baseline)


def test_times_that_an_import_made_up_are_not_compared() -> None:
    first, *others = lasting(9)
    span = first.span.model_copy(
        update={"attributes": first.span.attributes | {"tidemill.import.derived": ["start", "end"]}}
    )
    spans = [first.model_copy(update={"span": span}), *others]
    assert not found(spans, SignalKind.LATENCY_OUTLIER, baseline=runs(*STEADY))


def test_a_run_that_used_far_more_than_the_others() -> None:
    spans = [root(), chat(2, tokens=(50_000, 10)), chat(3, tokens=(10, 2))]
    (one,) = found(spans, SignalKind.COST_OUTLIER, baseline=runs(*STEADY, tokens=900))
    assert (one.label, one.value, one.span_ids) == ("tokens", 50_022, spans_at(1, 2))
    trajectory = assemble(spans)
    priced = trajectory.model_copy(update={"usage": Usage(input_tokens=900, cost=5.0, currency="USD")})
    judged = signals.detect(priced, spans, baseline=runs(*STEADY, cost=0.5, tokens=900))
    assert [(one.label, one.value) for one in judged if one.kind is SignalKind.COST_OUTLIER] == [("cost", 5.0)]
    part = priced.model_copy(update={"usage": Usage(input_tokens=900, cost=5.0, currency="USD", uncosted_tokens=3)})
    judged = signals.detect(part, spans, baseline=runs(*STEADY, cost=0.5, tokens=900))
    assert not [one for one in judged if one.kind is SignalKind.COST_OUTLIER]


@given(st.lists(st.floats(0.001, 1000), min_size=0, max_size=60), st.floats(0.001, 100_000))
def test_no_outlier_is_claimed_without_a_sample_or_below_the_ratio(others: list[float], value: float) -> None:
    how_far = far(value, others, sample=20, distance=6.0, ratio=2.0)
    if how_far is not None:
        assert len(others) >= 20
        assert value >= 2 * how_far.median
        assert value > sorted(others)[len(others) // 2]


def test_the_figures_of_a_run() -> None:
    spans = lasting(3)
    figures = Figures.of(RunOutline.of(assemble(spans)))
    assert figures.seconds == pytest.approx(3, abs=0.01)
    short = assemble(spans).model_copy(update={"ended_at": assemble(spans).started_at + timedelta(microseconds=9)})
    assert Figures.of(RunOutline.of(short)).seconds is None


# All


def test_every_signal_names_spans_of_its_trace(cases_dir: Path) -> None:
    traces: dict[str, list[AdmittedSpan]] = {}
    for span in spans_of(cases_dir / TAU):
        traces.setdefault(span.trace_id, []).append(admitted(span))
    every = [(one, spans) for spans in traces.values() for one in signals.detect(assemble(spans), spans)]
    for one, spans in every:
        assert one.span_ids
        assert set(one.span_ids) <= {item.span.span_id for item in spans}, one
    assert len({one.id for one, _ in every}) == len(every)


def test_searches_and_loops_of_tau_bench(cases_dir: Path) -> None:
    """Searches answer ``[]`` where there is no flight. The loops were read one by one: each is one."""
    traces: dict[str, list[AdmittedSpan]] = {}
    for span in spans_of(cases_dir / TAU):
        traces.setdefault(span.trace_id, []).append(admitted(span))
    missed, empty, loops = [], [], []
    for spans in traces.values():
        run = assemble(spans)
        every = signals.detect(run, spans)
        missed += [one.span_ids[0] for one in every if one.kind is SignalKind.RETRIEVAL_MISS]
        loops += [one for one in every if one.kind is SignalKind.RETRY_LOOP]
        empty += [call.span_id for call in run.calls if call.name.startswith("search_") and call.result == []]
    assert sorted(missed) == sorted(empty)
    assert len(missed) > 10
    assert len(loops) == 10
    assert all(one.value is not None and one.value >= 3 for one in loops)
