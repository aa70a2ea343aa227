"""Dialects on traces that frameworks really sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from governance.records.base import canonical_json
from governance.records.content import AdmittedSpan
from governance.records.message import Role, TextPart, ToolCallPart
from ingestion.assembly import assemble
from ingestion.dialects import content_keys, read, strip
from ingestion.dialects.messages import is_repr
from tests.ingestion.case_spans import FOLDERS, spans_of, trace_files
from tests.ingestion.otlp_bodies import admitted, make_span
from tests.ingestion.test_dialects import any_agent, hex_id, strands

LONG = 24
"""A piece of a text that needs no escape, at least this long, does not stand in a structure by chance."""

HOME_MADE = frozenset({"prompt"})
"""Attributes of a test bench's own, of no convention."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_span_is_read_and_nothing_said_is_left(cases_dir: Path, folder: str) -> None:
    for path in trace_files(cases_dir):
        for span in spans_of(path) if folder in path.parts else []:
            content, left = read(span), strip(span)
            content.digest()
            own = {key: value for key, value in left.attributes.items() if key not in HOME_MADE}
            shown = json.dumps(left.model_copy(update={"attributes": own}).plain(), ensure_ascii=False)
            said = [
                part.text
                for one in (*content.input, *content.output)
                for part in one.parts
                if isinstance(part, TextPart)
            ]
            for text in said:
                assert not is_repr(text), path.name
                piece = max(re.findall(r"[\w ,.]+", text, re.ASCII), key=len, default="")
                assert len(piece) < LONG or piece not in shown, (path.name, piece)
            kept = span.attributes.keys() - content_keys(span)
            assert left.attributes == {key: span.attributes[key] for key in kept}
            assert read(left).operation == content.operation, (path.name, span.name)


def test_the_same_task_is_the_same_tool_sequence_in_every_framework(cases_dir: Path) -> None:
    sequences = {}
    for path in sorted((cases_dir / "traces/any_agent").glob("*_trace.json")):
        spans = [admitted(span) for span in any_agent(path)]
        trajectory = assemble(spans)
        sequences[path.name] = [(call.name, call.arguments) for call in trajectory.calls]
        chats = [item.content for item in spans if item.content and item.content.operation == "chat"]
        usages = [chat.usage for chat in chats if chat.usage]
        assert trajectory.usage.input_tokens == sum(usage.input_tokens for usage in usages)
        assert trajectory.usage.output_tokens == sum(usage.output_tokens for usage in usages)
    assert len(sequences) > 1
    names = {tuple(name for name, _ in calls) for calls in sequences.values()}
    assert names == {("get_current_time", "write_file")}
    assert {calls[0][1]["timezone"] for calls in sequences.values()} == {"America/New_York"}


def smoltraces(cases: Path) -> list[tuple[dict[str, Any], list[AdmittedSpan]]]:
    found = []
    for path in sorted((cases / "traces/smoltrace").rglob("traces.json")):
        for trace in json.loads(path.read_bytes()):
            spans = [
                make_span(
                    1,
                    trace_id=hex_id(one["trace_id"], 32),
                    span_id=hex_id(one["span_id"], 16),
                    parent_span_id=hex_id(one["parent_span_id"], 16) if one["parent_span_id"] else None,
                    name=one["name"],
                    start_unix_nano=one["start_time"],
                    end_unix_nano=one["end_time"] or 0,
                    attributes=one["attributes"],
                )
                for one in trace["spans"]
            ]
            found.append((trace, [admitted(span) for span in spans]))
    return found


def test_ing_16_tokens_of_smolagents_are_counted_once(cases_dir: Path) -> None:
    """The file's own total adds every span, the agent's sum of its calls too; a model's calls are the truth."""
    totals = []
    for trace, spans in smoltraces(cases_dir):
        models = [one for one in trace["spans"] if one["attributes"].get("openinference.span.kind") == "LLM"]
        known = sum(int(one["attributes"].get("llm.token_count.total", 0)) for one in models)
        usage = assemble(spans).usage
        assert usage.input_tokens + usage.output_tokens == known
        totals.append(known)
    assert max(totals) > 0


def test_a_tool_of_smolagents_is_called_with_its_keywords(cases_dir: Path) -> None:
    calls = [call for _, spans in smoltraces(cases_dir) for call in assemble(spans).calls]
    found = [call.arguments for call in calls if call.name == "get_weather"]
    assert found
    assert all("kwargs" not in arguments for arguments in found)


@pytest.mark.parametrize(
    ("name", "tokens"), [("pydantic_ai_live_spans", (1251, 78)), ("otel_genai_convention_spans", (200, 60))]
)
def test_ing_16_an_agents_sum_is_not_added_to_its_calls(cases_dir: Path, name: str, tokens: tuple[int, int]) -> None:
    spans = [admitted(span) for span in strands(cases_dir / f"traces/strands_evals_fixtures/{name}.json")]
    usage = assemble(spans).usage
    assert (usage.input_tokens, usage.output_tokens) == tokens


def test_vercel_spans_have_their_text_object_and_tokens(cases_dir: Path) -> None:
    for path in sorted((cases_dir / "traces/openinference_fixtures").glob("vercel_ai-*.json")):
        for span in spans_of(path):
            content = read(span)
            held = span.attributes
            said = held.get("ai.response.text") or held.get("ai.response.object")
            assert [one.text for one in content.output] == ([] if said is None else [said]), path.name
            if "ai.operationId" in held:
                assert content.input
                assert content.usage is not None
                stated = held.get(
                    "ai.usage.inputTokens", held.get("ai.usage.promptTokens", held.get("ai.usage.tokens"))
                )
                assert content.usage.input_tokens == stated
            assert content.flags == ()


def test_langfuse_observations_have_the_tokens_that_langfuse_counted(cases_dir: Path) -> None:
    seen = 0
    for path in sorted((cases_dir / "traces/langfuse_framework_traces").glob("*.trace.json")):
        for one in json.loads(path.read_bytes())["observations"]:
            metadata = one.get("metadata")
            held = json.loads(metadata) if isinstance(metadata, str) else metadata
            attributes = held.get("attributes") if isinstance(held, dict) else None
            known = one.get("inputUsage"), one.get("outputUsage")
            if not isinstance(attributes, dict) or one.get("type") != "GENERATION" or not all(known):
                continue
            usage = read(make_span(1, attributes=attributes)).usage
            if usage is not None:
                assert (usage.input_tokens, usage.output_tokens) == known, (path.name, one["id"])
                seen += 1
    assert seen


def test_a_conversation_of_pydantic_ai_is_the_same_in_every_version(cases_dir: Path) -> None:
    """Before, events as bodies; now, messages in parts: the agent is asked and answers."""
    answered = 0
    for path in sorted((cases_dir / "traces/langfuse_framework_traces").glob("pydantic-ai*.trace.json")):
        for span in spans_of(path):
            held = span.attributes
            if {"all_messages_events", "pydantic_ai.all_messages"} & held.keys():
                content = read(span)
                assert content.operation == "invoke_agent"
                assert content.input[-1].role in (Role.USER, Role.TOOL)
                assert content.output[-1].text == (
                    held["final_result"]
                    if isinstance(held["final_result"], str)
                    else canonical_json(held["final_result"]).decode()
                )
                answered += 1
    assert answered >= 3


def test_gemini_cli_and_codex_are_read(cases_dir: Path) -> None:
    folder = cases_dir / "traces/langwatch_fixtures"
    (gemini,) = spans_of(folder / "canon_gemini-B.llm_call.json")
    content = read(gemini)
    assert content.operation == "chat"
    assert [one.role for one in content.input] == [Role.SYSTEM, Role.USER, Role.USER]
    assert content.input[-1].text.startswith("Turn 1: reply with exactly the line")
    assert content.usage is not None
    assert (content.usage.input_tokens, content.usage.output_tokens) == (767, 30)
    assert "Analyzing the User" not in content.output[0].text
    (codex,) = spans_of(folder / "canon_codex-B.session_task_turn.json")
    usage = read(codex).usage
    assert usage is not None
    assert usage.input_tokens + usage.output_tokens == codex.attributes["codex.turn.token_usage.total_tokens"]


@pytest.mark.parametrize("folder", ["openinference_fixtures", "strands_evals_fixtures", "any_agent"])
def test_calls_have_arguments_that_are_one_value_or_are_flagged(cases_dir: Path, folder: str) -> None:
    for path in trace_files(cases_dir):
        for span in spans_of(path) if folder in path.parts else []:
            content = read(span)
            calls = [
                part
                for one in (*content.input, *content.output)
                for part in one.parts
                if isinstance(part, ToolCallPart)
            ]
            assert any(call.corrupt for call in calls) <= ("corrupt_arguments" in content.flags)
            assert all(call.corrupt or isinstance(call.arguments, dict) for call in calls)


@pytest.mark.parametrize("name", ["strands_agent_skills", "google_adk_load_skill", "claude_code_skill_tool"])
def test_transcripts_in_a_providers_own_parts(cases_dir: Path, name: str) -> None:
    """Bedrock, Google and Anthropic messages, as a span would hold them: a call and its answer are one pair."""
    whole = json.loads((cases_dir / f"traces/strands_evals_fixtures/extractors_{name}.json").read_bytes())
    for transcript in [whole] if "messages" in whole else whole.values():
        said = transcript.get("messages") or transcript["contents"]
        content = read(make_span(1, attributes={"gen_ai.input.messages": json.dumps(said)}))
        parts = [part for one in content.input for part in one.parts]
        asked = [part.id for part in parts if part.type == "tool_call"]
        answered = [part.id for part in parts if part.type == "tool_call_response"]
        assert asked
        assert asked == answered
        assert content.flags == ()
