"""Sessions of coding agents, told by log events that name no trace."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.records.ledger import Fate
from governance.records.span import Span
from governance.records.trajectory import Trajectory
from ingestion.assembly import assemble
from ingestion.errors import DecodeError
from ingestion.importers import Refused, recognise
from ingestion.log_events import fold
from ingestion.merge import merge
from ingestion.otlp_decode import JSON, PROTOBUF, decode
from ingestion.otlp_encode import encode_logs
from ingestion.otlp_fields import SpanFault
from ingestion.session_events import TAKEN
from ingestion.telemetry import Telemetry
from tests.ingestion.conversation_spans import lines
from tests.ingestion.log_bodies import as_protobuf, logs, record
from tests.ingestion.otlp_bodies import T0, admitted, attributes, make_span
from tests.ingestion.session_bodies import (
    CLAUDE_RUN,
    CODEX_RUN,
    GEMINI_DETAILS,
    GEMINI_RUN,
    PROMPT,
    body,
    claude,
    codex,
    gemini,
)
from tests.ingestion.test_drain import Mill
from tests.ingestion.test_logs import send_logs

RUNS = {"claude-code": CLAUDE_RUN, "codex_cli_rs": CODEX_RUN, "gemini-cli": [*GEMINI_RUN, GEMINI_DETAILS]}


def read(data: bytes, content_type: str = JSON) -> list[Span | SpanFault]:
    return decode(data, content_type, received_unix_nano=2**62, telemetry=Telemetry.LOGS)


def spans(*records: dict[str, Any], service: str = "claude-code") -> list[Span]:
    found = read(body(*records, service=service))
    assert all(isinstance(item, Span) for item in found), found
    return [item for item in found if isinstance(item, Span)]


def run_of(*records: dict[str, Any], keep: bool = True, service: str = "claude-code") -> Trajectory:
    return assemble(fold([admitted(span, keep=keep) for span in spans(*records, service=service)]))


def test_a_session_of_claude_code_is_one_run() -> None:
    run = run_of(*CLAUDE_RUN)
    assert lines(run.turns) == [
        "customer: Fix the test",
        'agent: Bash({"command": "pytest"}) | Write(null)',
        'tool: = {"error": "refused by user_reject"}',
        "agent: Done.",
    ]
    assert [(call.name, call.call_id, call.error) for call in run.calls] == [
        ("Bash", "t1", None),
        ("Write", "t2", "refused by user_reject"),
    ]
    usage = run.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (170, 25, 50)
    assert usage.cost == pytest.approx(0.03)
    assert (run.session_id, run.agent_name, run.model) == ("c1a0de-session", "claude-code", "claude-opus")
    assert run.incomplete == ("events_only",)


def test_a_tool_ran_before_its_event_was_written() -> None:
    done = next(span for span in spans(*CLAUDE_RUN) if span.name == "claude_code.tool_result")
    assert done.end_unix_nano - done.start_unix_nano == 900_000_000


def test_a_session_of_codex_is_one_run() -> None:
    run = run_of(*CODEX_RUN, service="codex_cli_rs")
    assert lines(run.turns) == [
        "customer: List them",
        'agent: exec_command({"cmd": "ls"}) | exec_command({"cmd": "rm x"})',
        'tool: = "a.py\\nb.py"',
        'tool: = {"error": "permission denied"}',
    ]
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cache_read_tokens) == (900, 100, 300)
    assert (run.model, run.session_id) == ("gpt-5.5", "0c0de-conversation")
    assert run.started_at.isoformat() == "2026-11-30T12:00:00+00:00"


@pytest.mark.parametrize("more", [(), (GEMINI_DETAILS,)])
def test_a_session_of_gemini_cli_is_one_run_and_its_tokens_are_counted_once(more: tuple[dict[str, Any], ...]) -> None:
    run = run_of(*GEMINI_RUN, *more, service="gemini-cli")
    assert lines(run.turns) == ["customer: Read it", 'agent: read_file({"path": "a"})', "agent: It says hello."]
    assert (run.usage.input_tokens, run.usage.output_tokens) == (70, 7)


@pytest.mark.parametrize("service", RUNS)
@given(draw=st.randoms(use_true_random=False))
@settings(max_examples=10, deadline=None)
def test_repeats_and_any_order_converge(service: str, draw: random.Random) -> None:
    whole = spans(*RUNS[service], service=service)
    again = [*spans(*draw.sample(RUNS[service], 3), service=service), *whole]
    draw.shuffle(again)
    held: dict[str, Any] = {}
    for item in map(admitted, again):
        held[item.span.span_id] = merge(held.get(item.span.span_id, item), item)
    assert assemble(fold(list(held.values()))) == assemble(fold([admitted(item) for item in whole]))


@pytest.mark.parametrize("service", RUNS)
def test_json_and_protobuf_and_a_rewritten_body_give_the_same_spans(service: str) -> None:
    data = body(*RUNS[service], service=service)
    found = [item for item in read(data) if isinstance(item, Span)]
    assert len(found) == len(RUNS[service])
    assert read(as_protobuf(data), PROTOBUF) == found
    assert read(encode_logs(found)) == found


def test_what_was_said_and_given_is_content_and_the_rest_structure() -> None:
    for service, records in RUNS.items():
        shown = json.dumps([admitted(span).span.plain() for span in spans(*records, service=service)])
        for words in ("Fix the test", "pytest", "List them", "rm x", "b.py", "Read it", "It says", "Done."):
            assert words not in shown, (service, words)


def test_withheld_words_leave_calls_and_tokens() -> None:
    run = run_of(*CLAUDE_RUN, keep=False)
    assert run.turns == ()
    assert [(call.name, call.arguments) for call in run.calls] == [("Bash", None), ("Write", None)]
    assert run.usage.input_tokens == 170
    assert "withheld" in run.incomplete


@pytest.mark.parametrize("prompt", [{}, {"prompt": "<REDACTED>"}])
def test_words_that_the_writer_withheld_are_a_gap(prompt: dict[str, str]) -> None:
    run = run_of(claude(0, "user_prompt", prompt_length=12, **prompt), *CLAUDE_RUN[1:])
    assert "redacted" in run.incomplete
    assert not any(turn.actor == "customer" for turn in run.turns)


def test_a_refusal_that_the_result_tells_too_is_one_call() -> None:
    refused = claude(5, "tool_decision", tool_name="Write", decision="reject", source="user", tool_use_id="t9")
    told = claude(6, "tool_result", tool_name="Write", success=False, error="user said no", tool_use_id="t9")
    (call,) = run_of(refused, told).calls
    assert call.error == "user said no"


def test_raw_bodies_give_a_session_its_replies_and_the_results_of_its_tools() -> None:
    """Claude Code wraps what the customer wrote, and sends the whole history each time."""
    asked = {"role": "user", "content": [{"type": "text", "text": "<reminder>x</reminder>"},
                                         {"type": "text", "text": "Fix the test"}]}  # fmt: skip
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
    called = {"role": "assistant", "content": [{"type": "text", "text": "I run it."}, use]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1 passed"}]}
    first, second = {"model": "m", "messages": [asked]}, {"model": "m", "messages": [asked, called, result]}
    records = [
        *CLAUDE_RUN[:1],
        claude(1, "api_request_body", body=json.dumps(first)),
        claude(2, "api_response_body", body=json.dumps(called)),
        *CLAUDE_RUN[1:4],
        claude(8, "api_request_body", body=json.dumps(second)),
        claude(9, "api_response_body", body=json.dumps({"role": "assistant", "content": "Done."})),
        claude(10, "user_prompt", prompt="Fix the test"),
    ]
    run = run_of(*records)
    assert lines(run.turns) == [
        "customer: Fix the test",
        'agent: I run it. | Bash({"command": "pytest"})',
        'tool: = "1 passed"',
        "agent: Done.",
        "customer: Fix the test",
    ]
    assert [(call.call_id, call.result) for call in run.calls] == [("t1", "1 passed")]


@pytest.mark.parametrize("cut", [{"body": '{"messages": [{"role": "us'}, {"body": "{}", "body_truncated": "true"}])
def test_a_body_that_its_writer_cut_is_a_gap_and_nothing_that_was_said(cut: dict[str, str]) -> None:
    run = run_of(CLAUDE_RUN[0], claude(1, "api_request_body", **cut))
    assert lines(run.turns) == ["customer: Fix the test"]
    assert "truncated" in run.incomplete


def test_the_raw_bodies_of_claude_code_hold_the_conversation() -> None:
    request = {"model": "m", "system": "Be brief", "messages": [{"role": "user", "content": "Fix the test"}]}
    response = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    records = [
        CLAUDE_RUN[0],
        claude(1, "api_request_body", body=json.dumps(request)),
        claude(2, "api_response_body", body=json.dumps(response)),
    ]
    assert lines(run_of(*records).turns) == ["customer: Fix the test", "agent: Done."]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (claude(0, "mcp_server_connection", status="connected"), "no_evidence"),
        (codex(0, "sse_event", event__kind="response.output_text.delta"), "no_evidence"),
        (codex(0, "websocket_event", event__kind="x"), "no_evidence"),
        (gemini(0, "gemini_cli.slash_command", command="help"), "no_evidence"),
        (record(1, "claude_code.user_prompt", prompt="hi") | {"traceId": "", "spanId": ""}, "trace_id"),
        (record(1, "gen_ai.user.message", body={"content": "hi"}) | {"traceId": ""}, "trace_id"),
        (record(1, "codex.user_prompt", prompt="hi") | {"traceId": "abc"}, "trace_id"),
        ({"body": {"stringValue": "just a line"}}, "not_an_event"),
    ],
)
def test_what_is_not_taken_is_refused_with_the_reason(bad: dict[str, Any], reason: str) -> None:
    fault, good = read(logs(bad, CLAUDE_RUN[0]))
    assert isinstance(fault, SpanFault)
    assert fault.reason == reason
    assert isinstance(good, Span)


def test_events_beside_spans_of_the_same_agent_are_not_counted_again() -> None:
    trace = "a" * 32
    beside = {"traceId": trace, "spanId": f"{1:016x}"}
    told = [one | beside for one in CLAUDE_RUN]
    root = make_span(1, trace=trace, attributes={"span.type": "interaction"}, end_unix_nano=T0 + 10**10)
    called = make_span(2, 1, trace=trace, attributes={"span.type": "llm_request", "input_tokens": 110})
    ran = make_span(3, 1, trace=trace, attributes={"span.type": "tool", "tool_name": "Bash", "tool_use_id": "t1"})
    run = assemble(fold([admitted(span) for span in (root, called, ran, *spans(*told))]))
    assert run.usage.input_tokens == 110
    assert [(call.name, call.arguments) for call in run.calls] == [("Bash", {"command": "pytest"})]
    assert "customer: Fix the test" in lines(run.turns)


def test_files_of_logs_are_imported_in_every_form() -> None:
    requests = [body(*records, service=service) for service, records in RUNS.items()]
    wanted = [item for data in requests for item in read(data)]
    packed = [as_protobuf(data) for data in requests]
    framed = b"".join(len(one).to_bytes(4) + one for one in packed)
    for data in (b"\n".join(requests), framed):
        recognised = recognise(data, "sessions")
        assert recognised.form.name == "otlp"
        assert list(recognised.spans()) == wanted
    assert list(recognise(packed[0], "one").spans()) == read(requests[0])


def test_a_file_may_hold_traces_and_logs_and_names_what_it_cannot_take() -> None:
    both = json.loads(body(CLAUDE_RUN[0], claude(1, "auth", action="login")))
    both["resourceSpans"] = [{"scopeSpans": [{"spans": [{"traceId": "1" * 32, "spanId": "2" * 16, "name": "x"}]}]}]
    found = list(recognise(json.dumps(both).encode(), "both").spans())
    assert [type(item) for item in found] == [Span, Span, Refused]
    assert "no_evidence" in found[2].reason  # type: ignore[union-attr]


def test_legacy_message_events_fill_calls_and_answers() -> None:
    """The older conventions: a model's span without words, and an event for each message around it."""
    asked = {"tool_calls": [{"id": "k1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}]}
    user = record(1, "gen_ai.user.message", span=2, body={"content": "Find it"})
    first = record(2, "gen_ai.choice", span=2, body={"index": 0, "message": {"role": "assistant", **asked}})
    history = [
        record(11, "gen_ai.user.message", span=3, body={"content": "Find it"}),
        record(12, "gen_ai.assistant.message", span=3, body=asked),
        record(13, "gen_ai.tool.message", span=3, body={"id": "k1", "content": '{"found": true}'}),
        record(14, "gen_ai.choice", span=3, body={"index": 0, "message": {"role": "assistant", "content": "Found."}}),
    ]
    chats = [make_span(number, 1, attributes={"gen_ai.operation.name": "chat"}) for number in (2, 3)]
    told = [item for item in read(logs(user, first, *history)) if isinstance(item, Span)]
    run = assemble(fold([admitted(span) for span in (make_span(1, end_unix_nano=T0 + 10**9), *chats, *told)]))
    assert lines(run.turns) == [
        "customer: Find it",
        'agent: find({"a": 1})',
        'tool: = {"found": true}',
        "agent: Found.",
    ]
    (call,) = run.calls
    assert (call.call_id, call.arguments, call.result) == ("k1", {"a": 1}, {"found": True})


def test_events_of_genai_that_name_only_a_session_belong_to_it() -> None:
    details = record(
        5, "gen_ai.client.inference.operation.details", gen_ai__operation__name="chat", session__id="s-9",
        gen_ai__input__messages=json.dumps(PROMPT),
    ) | {"traceId": "", "spanId": ""}  # fmt: skip
    run = run_of(details)
    assert (run.session_id, lines(run.turns)) == ("s-9", ["customer: Read it"])


@pytest.mark.parametrize("parts", [1, 3])
def test_a_session_that_comes_in_pieces_and_twice_is_stored_once(tmp_path: Path, parts: int) -> None:
    mill = Mill(tmp_path)
    mill.contract()
    records = [claude(0, "user_prompt", prompt="I am ann@example.org, fix the test"), *CLAUDE_RUN[1:]]
    pieces = [records[start::parts] for start in range(parts)]
    for piece in [*pieces, records]:
        send_logs(mill, *piece)
        mill.drain.run()
    (run,) = mill.trajectories()
    assert lines(run.turns)[0] == "customer: I am user15@masked.invalid, fix the test"
    assert (run.usage.input_tokens, run.subject) == (170, mill.door.subject("acme", "u-1"))
    assert mill.line().fates == {Fate.STORED: {"": len(records)}, Fate.DUPLICATE: {"": len(records)}}
    mill.close()


FIELD = st.sampled_from(
    ["prompt", "response", "arguments", "output", "tool_input", "function_args", "tool_name", "call_id", "tool_use_id",
     "success", "decision", "duration_ms", "input_tokens", "input_token_count", "cost_usd", "error", "status_code",
     "body", "response_text", "request_text", "event.timestamp", "event.kind", "session.id", "event.name", "model",
     "body_truncated", "user.id"]
)  # fmt: skip
VALUE = st.one_of(
    st.text(max_size=8), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(), st.sampled_from(["[]", "{}", '[{"role": "user"}]', "<REDACTED>", "nan", "-1", "1e400", "0" * 40]),
    st.lists(st.text(max_size=3), max_size=2),
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(TAKEN)), st.dictionaries(FIELD, VALUE, max_size=8)), max_size=6))
@settings(max_examples=150, deadline=None)
def test_whatever_the_fields_hold_a_record_is_taken_or_refused(told: list[tuple[str, dict[str, Any]]]) -> None:
    records = [
        {
            "timeUnixNano": str(T0 + number),
            "body": {"stringValue": name},
            "attributes": attributes({"session.id": "s"} | held),
        }
        for number, (name, held) in enumerate(told)
    ]
    data = body(*records)
    found = read(data)
    assert read(as_protobuf(data), PROTOBUF) == found
    taken = [item for item in found if isinstance(item, Span)]
    again = [item.model_copy(update={"flags": ()}) for item in read(encode_logs(taken)) if isinstance(item, Span)]
    assert again == [item.model_copy(update={"flags": ()}) for item in taken], "but for what was noticed in the bytes"
    for keep in (True, False):
        traces: dict[str, list[Any]] = {}
        for span in taken:
            traces.setdefault(span.trace_id, []).append(admitted(span, keep=keep))
        for items in traces.values():
            assemble(fold(items)).digest()


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**14), st.binary(min_size=1, max_size=8), st.sampled_from([JSON, PROTOBUF]))
def test_broken_bodies_of_sessions_never_crash(at: int, noise: bytes, content_type: str) -> None:
    whole = body(*CLAUDE_RUN, *CODEX_RUN, *GEMINI_RUN)
    data = bytearray(whole if content_type == JSON else as_protobuf(whole))
    data[at % len(data) : at % len(data) + len(noise)] = noise
    try:
        found = read(bytes(data), content_type)
    except DecodeError:
        return
    for item in found:
        if isinstance(item, Span):
            assemble(fold([admitted(item)])).digest()
