"""Levers: a form that separates or none, a fact in the champion's words or none, and nobody's data in either."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.shop.harness import champion_context, champion_harness
from governance.keys import DerivedKeyProvider
from governance.masking.output_check import KeyedSurrogateCheck
from governance.masking.placeholders import templated
from governance.masking.surrogate import Surrogates
from governance.records.context import Context, Fact
from governance.records.lever import ContextChange, HarnessChange, Lever, Pattern, WeightsChange
from training.errors import LeverRefused
from training.levers import apply, context, harness, weights
from training.levers.forms import describe, generalise, infer
from training.levers.personal import found_in
from training.schemas import valid

NOW = datetime(2026, 6, 5, tzinfo=UTC)
START = datetime(2026, 6, 1, tzinfo=UTC)
scalars = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False), st.none())


@given(st.lists(scalars, min_size=1, max_size=6), st.lists(scalars, max_size=6), st.integers(1, 40))
def test_a_form_separates_or_is_refused(accepted: list[Any], rejected: list[Any], seen: int) -> None:
    form = infer(accepted, rejected, seen)
    if form is not None:
        assert all(valid(form, value) for value in accepted)
        assert not any(valid(form, value) for value in rejected)


shaped = st.builds(
    lambda head, number: f"{head}-{number}", st.sampled_from(["SO", "AB", "X.Y"]), st.integers(10, 99999)
)


@given(st.lists(shaped, min_size=2, max_size=12, unique=True))
def test_a_pattern_admits_what_it_was_made_of(values: list[str]) -> None:
    pattern = generalise(values)
    assert pattern is None or all(valid({"type": "string", "pattern": pattern}, value) for value in values)
    form = infer(values, [value.split("-")[1] for value in values], len(values))
    if pattern is not None:
        assert form is not None


def test_a_fact_from_a_masked_document_holds_placeholders_and_no_surrogate() -> None:
    keys = DerivedKeyProvider("levers")
    surrogates, check = Surrogates(keys, "t"), KeyedSurrogateCheck(keys)
    name, mail = surrogates.make("PERSON", "Anna Miller"), surrogates.make("EMAIL_ADDRESS", "anna@corp.example")
    document = f"Returns are open for 45 days. Ask {name} at {mail} about returns within 45 days."
    evidence = {"fact_key": "returns", "valid_from": NOW.isoformat(), "document_text": document,
                "old_values": ["30 days"], "new_values": ["45 days"]}  # fmt: skip
    pattern = Pattern(
        key="k", scope="agent@t", lever=Lever.CONTEXT, reason="r", trajectory_ids=("a",), subjects=1, evidence=evidence
    )
    held = Context(facts=(Fact(key="returns", text="Ask us about returns.", valid_from=START),))
    made = context.propose(pattern, held, NOW, None, lambda text: templated(text, "t", check))
    assert isinstance(made.change, ContextChange)
    assert made.change.fact.text == "Ask {person.1} at {email_address.1} about returns within 45 days."
    with pytest.raises(LeverRefused):
        context.propose(pattern, held, NOW, lambda text: tuple(one.entity_type for one in check.places("t", text)))


def test_order_numbers() -> None:
    form = infer(["SO-1234", "SO-9876"], ["1234", "9876"], 2)
    assert form == {"type": "string", "pattern": "^SO-[0-9]{4}$"}
    assert describe(form) == "SO- and 4 digits"
    assert describe({"type": "string", "pattern": r"^[a-z]{2}\.[A-Z0-9]{1,3}$"}) == (
        "2 small letters and . and 1 to 3 letters or digits"
    )
    assert generalise(["A1", "B22"]) == "^[A-Z]{1}[0-9]{1,2}$"
    assert generalise(["de.x", "fr.y"]) == r"^[a-z]{2}\.[a-z]{1}$"
    assert infer(["SO-1", "SO-2"], ["SO-3"], 2) is None, "a wrong value in the right form is not the schema's fault"
    assert infer(["express", "standard"], ["fast"], 9) == {"type": "string", "enum": ["express", "standard"]}
    assert infer([3, 4], ["3"], 2) == {"type": "integer"}


def context_pattern(**evidence: Any) -> Pattern:
    seen = {
        "fact_key": "returns", "document": "returns", "document_text": "Items can be returned within 45 days.",
        "old_values": ["30 days"], "new_values": ["45 days"], "valid_from": START.isoformat(), **evidence,
    }  # fmt: skip
    return Pattern(
        key="fact_changed:returns",
        scope="s",
        lever=Lever.CONTEXT,
        reason="r",
        evidence=seen,
        trajectory_ids=(),
        subjects=3,
    )


def fact_of(pattern: Pattern, champion: Context) -> Fact:
    change = context.propose(pattern, champion, NOW).change
    assert isinstance(change, ContextChange)
    return change.fact


def test_the_fact_keeps_the_champions_words() -> None:
    champion = Context(facts=(Fact(key="returns", text="Return period: 30 days, unused.", valid_from=START),))
    fact = fact_of(context_pattern(), champion)
    assert (fact.key, fact.text, fact.valid_from) == (
        "returns",
        "Return period: 30 days, unused.".replace("30", "45"),
        START,
    )


def test_a_document_is_quoted_where_no_single_value_is_replaced() -> None:
    text = "We are closed on Sundays. Items can be returned within 45 days. Sale items within 5 days."
    fact = fact_of(context_pattern(document_text=text, old_values=[], new_values=["45 days"]), Context())
    assert fact.text == "Items can be returned within 45 days."


@pytest.mark.parametrize(
    "text",
    [
        "Ask ann@example.org within 45 days.", "Call +1 212 555 0123 within 45 days.", "Ask for Maria Sorensen.",
        "Ask <PERSON_3f2a> within 45 days.", "Pay to DE89370400440532013000 within 45 days.",
    ],
)  # fmt: skip
def test_facts_hold_no_personal_value(text: str) -> None:
    with pytest.raises(LeverRefused) as refusal:
        fact_of(context_pattern(document_text=text, old_values=[]), Context())
    assert text not in str(refusal.value)


def test_placeholders_and_policies_pass_and_a_detector_is_heard() -> None:
    assert found_in("Dear {customer.name}, items can be returned within 45 days from 2026-06-03.") == ()
    assert all(found_in(fact.text) == () for fact in champion_context(START).facts)
    with pytest.raises(LeverRefused):
        context.propose(context_pattern(), Context(), NOW, detect=lambda _: ("PERSON",))


def harness_pattern(**evidence: Any) -> Pattern:
    seen = {
        "tool": "refund_order", "argument": "order_id", "accepted": ["SO-1234", "SO-9876"], "rejected": ["1234"],
        "times_accepted": 2, "error_texts": {"write the whole order number": 5}, **evidence,
    }  # fmt: skip
    return Pattern(key="k", scope="s", lever=Lever.HARNESS, reason="r", evidence=seen, trajectory_ids=(), subjects=3)


def test_the_schema_is_corrected_in_its_place_alone() -> None:
    champion = champion_harness(frozenset({"misleading_schema"}))
    proposal = harness.propose(harness_pattern(), champion, NOW)
    assert isinstance(proposal.change, HarnessChange)
    rule = proposal.change.tool.parameters["properties"]["order_id"]
    assert rule["pattern"] == "^SO-[0-9]{4}$"
    assert rule["description"] == "SO- and 4 digits"
    fixed, same = apply([proposal], champion, Context())
    assert same == Context()
    assert [tool.name for tool in fixed.tools] == [tool.name for tool in champion.tools]
    assert [tool for tool in fixed.tools if tool.name != "refund_order"] == [
        tool for tool in champion.tools if tool.name != "refund_order"
    ]


def test_levers_refuse_what_is_not_theirs() -> None:
    champion = champion_harness(frozenset())
    attempts: tuple[Callable[[], object], ...] = (
        lambda: context.propose(harness_pattern(), Context(), NOW),
        lambda: harness.propose(context_pattern(), champion, NOW),
        lambda: harness.propose(harness_pattern(accepted=["1235", "9999"]), champion, NOW),
        lambda: harness.propose(harness_pattern(argument="nothing"), champion, NOW),
        lambda: weights.propose(context_pattern(), "0" * 64, NOW),
    )
    for propose in attempts:
        with pytest.raises(LeverRefused):
            propose()


def test_weights_need_a_check() -> None:
    pattern = context_pattern(checkable=5).model_copy(update={"lever": Lever.WEIGHTS})
    change = weights.propose(pattern, "0" * 64, NOW).change
    assert isinstance(change, WeightsChange)
    assert (change.dataset_digest, change.adapter_digest) == ("0" * 64, None)
    with pytest.raises(LeverRefused):
        weights.propose(pattern.model_copy(update={"evidence": {}}), "0" * 64, NOW)
