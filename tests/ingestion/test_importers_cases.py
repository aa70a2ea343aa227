"""Importers on real exports: each file is imported or refused with a reason, and says what is expected of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from governance.records.content import SpanContent
from governance.records.message import Message, Role, TextPart, ToolCallPart, ToolResultPart
from governance.records.span import Span
from governance.records.trajectory import Trajectory
from ingestion import dialects
from ingestion.assembly import assemble
from ingestion.errors import ImportRefused
from ingestion.importers import Refused, recognise_file
from ingestion.importers.ids import span_id
from ingestion.log_events import fold
from ingestion.otlp_decode import JSON, decode
from ingestion.otlp_encode import encode
from tests.ingestion.otlp_bodies import admitted

CHUNK = 200


def spans_of(path: Path) -> list[Span]:
    """The spans of a file as the intake reads them."""
    items = [item for item in recognise_file(path).spans() if isinstance(item, Span)]
    found: list[Span] = []
    for start in range(0, len(items), CHUNK):
        decoded = decode(encode(items[start : start + CHUNK]), JSON, received_unix_nano=2**62)
        found += [item for item in decoded if isinstance(item, Span)]
    return found


def runs_of(path: Path) -> list[Trajectory]:
    traces: dict[str, list[Span]] = {}
    for span in spans_of(path):
        traces.setdefault(span.trace_id, []).append(span)
    return [assemble(fold([admitted(span) for span in spans])) for spans in traces.values()]


FORMS = {
    "traces/otlp_reference/trace.json": "otlp",
    "traces/otlp_reference/jaeger_otel_traces_01.json": "otlp",
    "traces/langsmith_sdk/js_langsmith_js_wrap_openai_default.json": "langsmith",
    "traces/langsmith_sdk/py_langsmith_py_wrap_openai_stream.json": "langsmith",
    "traces/openinference_fixtures/vercel_all-spans.json": "phoenix",
    "traces/openinference_fixtures/genai_otel_genai_tool_execution_span.json": "phoenix",
    "traces/any_agent/AGNO_trace.json": "phoenix",
    "traces/strands_evals_fixtures/openinference_live_spans.json": "phoenix",
    "trajectories/inspect_ai_logs/log__test_eval_log__log_read_sample.eval": "inspect",
    "trajectories/inspect_ai_logs/log__test_eval_log__log_read_sample.json": "inspect",
    "trajectories/tau_bench/historical_trajectories/gpt-4o-airline.json": "tau_bench",
    "trajectories/swe_agent/trajectories__demonstrations__function_calling_simple.traj": "swe_agent",
}


def outcome_of(path: Path, told: Counter[str]) -> str:
    """What becomes of a file; ``told`` counts what is in it."""
    try:
        runs = runs_of(path)
    except ImportRefused as error:
        return "refused" if path.name in str(error) and len(str(error)) > len(path.name) + 20 else "no reason"
    refused = [item for item in recognise_file(path).spans() if isinstance(item, Refused)]
    assert all(item.reason and item.where for item in refused), path.name
    told.update(runs=len(runs), refused_entries=len(refused))
    told.update(turns=sum(len(run.turns) for run in runs), calls=sum(len(run.calls) for run in runs))
    return "imported" if runs else "of a known form, holds nothing that is taken"


@pytest.mark.parametrize("folder", ["traces", "trajectories"])
def test_every_file_is_imported_or_refused_with_a_reason(cases_dir: Path, folder: str, record_property: Any) -> None:
    outcome: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for path in sorted((cases_dir / folder).rglob("*")):
        if path.is_file():
            outcome[outcome_of(path, told)] += 1
    record_property("files", dict(outcome))
    record_property("told", dict(told))
    print(folder, dict(outcome), dict(told))  # noqa: T201 - shown where the test fails
    assert outcome["imported"] >= 40, outcome
    assert outcome["no reason"] == 0
    assert told["turns"] > 2 * told["runs"]


@pytest.mark.parametrize(("name", "form"), FORMS.items(), ids=list(FORMS))
def test_the_form_is_told(cases_dir: Path, name: str, form: str) -> None:
    assert recognise_file(cases_dir / name).form.name == form
    assert runs_of(cases_dir / name)


@pytest.mark.parametrize("folder", ["trajectories/swe_agent", "trajectories/inspect_ai_logs"])
def test_whole_folders_of_one_form(cases_dir: Path, folder: str) -> None:
    names = {".traj": "swe_agent", ".eval": "inspect"}
    paths = [path for path in sorted((cases_dir / folder).iterdir()) if path.suffix in names]
    assert paths
    for path in paths:
        assert recognise_file(path).form.name == names[path.suffix], path.name
        assert runs_of(path), path.name


def test_an_inspect_log_is_one_run_a_sample_in_both_of_its_forms(cases_dir: Path) -> None:
    folder = cases_dir / "trajectories" / "inspect_ai_logs"
    (packed,) = runs_of(folder / "log__test_eval_log__log_read_sample.eval")
    (plain,) = runs_of(folder / "log__test_eval_log__log_read_sample.json")
    assert packed.turns[-1].message.text == plain.turns[-1].message.text == "Yes\n"


def test_tau_bench_runs_have_their_calls_and_customers(cases_dir: Path) -> None:
    path = cases_dir / "trajectories" / "tau_bench" / "historical_trajectories" / "gpt-4o-airline.json"
    held = json.loads(path.read_bytes())[:5]
    spans = spans_of(path)
    by_trace: dict[str, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    for one in held:
        wanted = [call["function"]["name"] for said in one["traj"] for call in said.get("tool_calls") or ()]
        user = one["info"]["task"]["user_id"]
        roots = [span for span in spans if span.attributes.get("user.id") == user and span.parent_span_id is None]
        sequences = [
            [
                run.attributes["gen_ai.tool.name"]
                for run in spans
                if run.trace_id == root.trace_id and "gen_ai.tool.name" in run.attributes
            ]
            for root in roots
        ]
        assert wanted in sequences


# Langfuse: the messages that are expected of each observation

TRACES = "traces/langfuse_framework_traces"
Field = tuple[str, Any]


def fields_of(message: Message) -> Iterator[Field]:
    """What a message says, field by field."""
    yield "role", message.role.value
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    results = [part for part in message.parts if isinstance(part, ToolResultPart)]
    if texts:
        yield "content", "\n".join(texts)
    for result in results:
        yield from (("content", result.response), ("tool_call_id", result.id))
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            yield from (("call id", part.id), ("call name", part.name), ("call arguments", part.arguments))


def expected_fields(message: dict[str, Any]) -> Iterator[Field]:
    if message.get("role"):
        yield "role", {"model": "assistant", "developer": "system"}.get(message["role"], message["role"])
    if message.get("content") not in (None, "", []):
        yield "content", message["content"]
    if message.get("tool_call_id"):
        yield "tool_call_id", message["tool_call_id"]
    for call in message.get("tool_calls") or ():
        yield from (("call id", call["id"]), ("call name", call["name"]), ("call arguments", call["arguments"]))


def same(kind: str, expected: Any, found: Any) -> bool:
    if expected == found:
        return True
    if kind not in ("content", "call arguments"):
        return False
    return bool(plain(expected) == plain(found))


def plain(value: Any) -> Any:
    """The JSON that a text holds; the text of a list of text parts."""
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, dict) and part.get("type") == "text" for part in value)
    ):
        return "\n".join(part["text"] for part in value).strip()
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value.strip()


def apart(message: Message) -> list[Message]:
    """A message that holds the results of several calls as one message a result, as chat APIs have them."""
    if not all(isinstance(part, ToolResultPart) for part in message.parts):
        return [message]
    return [Message(role=Role.TOOL, parts=(part,)) for part in message.parts]


def aligned(expected: list[dict[str, Any]], found: list[Message]) -> list[Message]:
    """Without the system's message where only the original attributes have it."""
    more = len(found) > len(expected) and found[0].role is Role.SYSTEM and expected[0].get("role") != "system"
    return found[1:] if more else found


def compared(expected: list[dict[str, Any]], found: tuple[Message, ...]) -> tuple[int, int, list[str]]:
    """Fields that are equal, fields that are expected, and those that are not equal."""
    equal, total, wrong = 0, 0, []
    said = aligned(expected, [part for message in found for part in apart(message)])
    for position, message in enumerate(expected):
        held = list(fields_of(said[position])) if position < len(said) else []
        for kind, value in expected_fields(message):
            total += 1
            match = next((one for one in held if one[0] == kind and same(kind, value, one[1])), None)
            if match is None:
                wrong.append(f"message {position} {kind}: {str(value)[:60]!r}")
            else:
                equal += 1
                held.remove(match)
    return equal, total, wrong


def answer_of(content: SpanContent) -> tuple[Message, ...]:
    """What an executed tool answered, as the message that its caller gets."""
    if content.operation != "execute_tool":
        return ()
    answer = ToolResultPart(id=content.tool_call_id or "", response=content.tool_result)
    return (Message(role=Role.TOOL, parts=(answer,)),)


def measured(path: Path) -> tuple[int, int, list[str]]:
    """The fields of one file."""
    trace = path.with_name(path.name.replace(".chatml.", ".trace."))
    read: dict[str, SpanContent] = {span.span_id: dialects.read(span) for span in spans_of(trace)}
    equal, total, wrong = 0, 0, []
    for observation, sides in json.loads(path.read_bytes()).items():
        content = read.get(span_id(observation, "langfuse") or "", SpanContent())
        for side, found in (("input", content.input), ("output", content.output or answer_of(content))):
            if sides.get(side, {}).get("success"):
                data = sides[side]["data"]
                # An agent's output that begins with what it was asked is the whole conversation.
                whole = side == "output" and data[0].get("role") in ("system", "user") and len(found) < len(data)
                one = compared(data, content.input + found if whole else found)
                equal, total = equal + one[0], total + one[1]
                wrong += [f"{observation} {side} {item}" for item in one[2]]
    return equal, total, wrong


def test_langfuse_exports_say_what_is_expected(cases_dir: Path, record_property: Any) -> None:
    shares, equal, total = {}, 0, 0
    for path in sorted((cases_dir / TRACES).glob("*.chatml.json")):
        of_file = measured(path)
        shares[path.name.removesuffix(".chatml.json")] = f"{of_file[0]}/{of_file[1]}"
        equal, total = equal + of_file[0], total + of_file[1]
        print(path.name, of_file[0], of_file[1], *of_file[2][:12], sep="\n  ")  # noqa: T201 - shown where the test fails
    record_property("fields", shares)
    assert total > 150
    assert equal / total >= 0.97, shares


def test_langfuse_tokens_are_exact_where_the_total_is_known(cases_dir: Path) -> None:
    for path in sorted((cases_dir / TRACES).glob("*.trace.json")):
        document = json.loads(path.read_bytes())
        inside = {one["id"] for one in document["observations"] if one["type"] == "GENERATION"}
        # A generation inside of another is the same call, seen by a second instrumentation.
        outer = [one for one in document["observations"] if one["parentObservationId"] not in inside]
        generations = [one for one in outer if one["type"] == "GENERATION"]
        wanted = (
            sum(one["inputUsage"] or 0 for one in generations),
            sum(one["outputUsage"] or 0 for one in generations),
        )
        (run,) = runs_of(path)
        assert (run.usage.input_tokens, run.usage.output_tokens) == wanted, path.name
        assert all(message.role in Role for message in (turn.message for turn in run.turns))
