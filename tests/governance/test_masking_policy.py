"""A policy decides what becomes of findings: masked, kept, quarantined, allow-listed, deny-listed, unsure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.errors import RecordError
from governance.masking.judgement import Judge, listed
from governance.masking.presidio_masker import PresidioMasker
from governance.masking.spans import Hit
from governance.masking.surrogate import Surrogates
from governance.ports.masker import Masked
from governance.records.masking_policy import Action, MaskingPolicy, PolicyFile, parse_policy_file
from tests.governance.masking_lists import KEYS, OnePolicy, PatternDetector, value

SURROGATES = Surrogates(KEYS, "t")


def masker(**policy: Any) -> PresidioMasker:
    return PresidioMasker(KEYS, detector=PatternDetector(), policies=OnePolicy(MaskingPolicy(**policy)))


def masked(item: Any, **policy: Any) -> Masked:
    (found,) = masker(**policy).mask("t", [item])
    return found


def outcomes(found: Masked) -> list[tuple[str, str]]:
    return [(one.entity_type, one.outcome.value) for one in (*found.findings, *found.kept)]


def test_types_that_a_policy_keeps_stay_and_are_counted() -> None:
    text = "Ann Miller of Acme, ann@corp.example"
    found = masked(text)
    assert "Acme" in found.value
    assert "Miller" not in found.value
    assert outcomes(found) == [("PERSON", "masked"), ("EMAIL_ADDRESS", "masked"), ("ORGANIZATION", "kept")]
    (kept,) = found.kept
    assert found.value[kept.masked_start : kept.masked_end] == "Acme"
    turned = masked(text, actions={"ORGANIZATION": Action.MASK, "PERSON": Action.KEEP})
    assert "Acme" not in turned.value
    assert "Ann Miller" in turned.value


def test_findings_under_the_threshold_stay_and_are_told() -> None:
    found = masked("Ann Miller, ann@corp.example", thresholds={"PERSON": 0.9})
    assert found.value.startswith("Ann Miller, user-")
    assert outcomes(found) == [("EMAIL_ADDRESS", "masked"), ("PERSON", "unsure")]
    assert outcomes(masked("Ann Miller", thresholds={"PERSON": 0.85})) == [("PERSON", "masked")]


def test_special_categories_are_masked_and_named_for_quarantine() -> None:
    found = masked({"note": "has diabetes", "to": "ann@corp.example"})
    assert found.quarantine == ("HEALTH",)
    assert "diabetes" not in found.value["note"]
    assert masked("has diabetes", actions={"HEALTH": Action.MASK}).quarantine == ()
    assert masked("has diabetes", actions={"HEALTH": Action.KEEP}).value == "has diabetes"


@pytest.mark.parametrize(
    "text", ["help@acme.example", "Write to HELP@acme.example, please", '{"email": "help@acme.example"}']
)
def test_an_allow_listed_value_stays_in_texts_and_fields(text: str) -> None:
    allow = (value("EMAIL_ADDRESS", "help@acme.example"),)
    found = masked(text, allow=allow)
    assert found.value == text
    assert [one.outcome.value for one in found.kept] == ["allowed"]
    assert masked(text).value != text
    of_another = PresidioMasker(KEYS, detector=PatternDetector(), policies=OnePolicy(MaskingPolicy(allow=allow)))
    assert of_another.mask("other", [text])[0].value != text, "a list counts for its tenant alone"
    assert masked("ann@acme.example", allow=allow).value != "ann@acme.example"


def test_declared_fields_follow_the_same_policy() -> None:
    held = masker(allow=(value("EMAIL_ADDRESS", "help@acme.example"), value("PHONE_NUMBER", "8005550100")))
    fields = {"to": "EMAIL_ADDRESS", "phone": "PHONE_NUMBER"}
    row = held.mask_fields("t", {"to": ["help@acme.example", "ann@corp.example"], "phone": 8005550100}, fields)
    assert row["to"][0] == "help@acme.example"
    assert row["to"][1] != "ann@corp.example"
    assert row["phone"] == 8005550100
    assert held.mask_fields("t", {"phone": 8005550101}, fields)["phone"] != 8005550101


@pytest.mark.parametrize(
    ("listed_as", "kind", "text", "stays"),
    [
        ("Tidewell Grove", "LOCATION", "near tidewell  grove's gate", "near {}'s gate"),
        ("Zorblax", "PERSON", "ask Zorblax, or zorblax.", "ask {}, or {}."),
        ("김민수", "PERSON", "김민수님이 예약했습니다", "{}님이 예약했습니다"),
        ("4111 1111 1111 1111", "CREDIT_CARD", "card 4111-1111-1111-1111!", "card {}!"),
        ("4111111111111111", "CREDIT_CARD", "card 4111 1111 1111 1111!", "card {}!"),
        ("(+82) 10-1234-5678", "PHONE_NUMBER", "call 82 10 1234 5678", "call {}"),
        ("010-1234-5678", "PHONE_NUMBER", "call me at 010 1234 5678 or write", "call me at {} or write"),
        ("김민수", "PERSON", "42 김민수 7", "42 {} 7"),
        ("zx-17", "USER_ID", "user_zx-17 went", "user_{} went"),
    ],
)  # fmt: skip
def test_a_deny_listed_value_is_masked_wherever_it_stands(listed_as: str, kind: str, text: str, stays: str) -> None:
    assert masked(text).value == text, "no detector finds it"
    found = masked(text, deny=(value(kind, listed_as),))
    made = [found.value[one.masked_start : one.masked_end] for one in found.findings]
    assert {one.outcome.value for one in found.findings} == {"denied"}
    assert found.value == stays.format(*made)
    assert all(one not in text for one in made)


def test_a_deny_listed_value_beats_keep_and_allow_and_leaves_other_masks_whole() -> None:
    deny = (value("ORGANIZATION", "Acme"), value("PERSON", "Miller"))
    found = masked("Ann Miller of Acme", deny=deny, allow=(value("ORGANIZATION", "Acme"),))
    assert "Acme" not in found.value
    assert outcomes(found) == [("PERSON", "masked"), ("ORGANIZATION", "denied")]
    assert found.value.startswith(SURROGATES.make("PERSON", "Ann Miller"))
    special = masked("diabetes clinic", deny=(value("LOCATION", "diabetes clinic"),))
    assert special.quarantine == ("LOCATION",)
    assert special.value != "diabetes clinic"


def test_a_new_policy_is_another_version_and_is_applied_to_texts_seen_before() -> None:
    policies = OnePolicy()
    held = PresidioMasker(KEYS, detector=PatternDetector(), policies=policies)
    before = policies.held.version
    assert held.mask("t", ["Ann Miller"])[0].value != "Ann Miller"
    policies.held = MaskingPolicy(allow=(value("PERSON", "Ann Miller"),))
    assert held.mask("t", ["Ann Miller"])[0].value == "Ann Miller"
    assert policies.held.version != before
    assert MaskingPolicy(detectors="new").version != MaskingPolicy().version


WORDS = st.lists(st.sampled_from(["ann", "zorb", "lax", "42", "a.b", "x-y", "민수", "민수가", "-", "Ünal"]), max_size=9)


@given(
    words=WORDS, wanted=st.lists(st.sampled_from(["zorb lax", "42", "민수", "a b", "ünal"]), min_size=1, unique=True)
)
def test_no_listed_value_is_left_in_any_text(words: list[str], wanted: list[str]) -> None:
    text = " ".join(words)
    judge = Judge(MaskingPolicy(deny=tuple(value("PERSON", one) for one in wanted)), SURROGATES.mention)
    judged = judge.judge(text, [])
    ends = [0, *(one.hit.end for one in judged)]
    starts = [*(one.hit.start for one in judged), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True)), "in order, without overlap"
    left = [" ".join(re.findall(r"[^\W_]+", text[a:b].casefold())) for a, b in zip(ends, starts, strict=True)]
    for one in wanted:
        if " " not in one:
            assert not any(re.search(rf"\b{one}\b", part) for part in left)


@given(st.text(max_size=30))
def test_without_lists_a_judgement_is_the_findings(text: str) -> None:
    hits = [Hit(place, place + 1, "PERSON", 0.5) for place in range(0, len(text), 2)]
    assert [one.hit for one in Judge(MaskingPolicy(), SURROGATES.mention).judge(text, hits)] == hits


def test_what_nothing_could_find_cannot_be_listed() -> None:
    with pytest.raises(RecordError, match="letter or digit"):
        listed(SURROGATES.mention, "PERSON", " -!- ")


FILE: dict[str, Any] = {
    "default": {"actions": {"ORGANIZATION": "mask"}, "thresholds": {"PERSON": 0.6}},
    "tenant": {"harbor": {"actions": {"ORGANIZATION": "keep", "HEALTH": "mask"}}},
}


def test_a_tenants_rules_stand_over_the_default_ones() -> None:
    file = parse_policy_file(FILE, "masking.toml")
    assert file.rules("other").actions == {"ORGANIZATION": Action.MASK}
    rules = file.rules("harbor")
    assert rules.actions == {"ORGANIZATION": Action.KEEP, "HEALTH": Action.MASK}
    assert rules.thresholds == {"PERSON": 0.6}
    assert PolicyFile().rules("any").actions == {}


@pytest.mark.parametrize(
    ("held", "words"),
    [
        ({"default": {"actions": {"PERSON": "hide"}}}, ["default.actions.PERSON", "'hide'", "'mask'"]),
        ({"tenant": {"harbor": {"thresholds": {"PERSON": 1.5}}}}, ["tenant.harbor.thresholds.PERSON", "1.5"]),
        ({"tenant": {"harbor": {"action": {}}}}, ["tenant.harbor.action", "Extra"]),
        ({"default": {"actions": {"Email": "keep"}}}, ["default.actions.Email", "'Email'", "pattern"]),
        ({"defaults": {}}, ["defaults", "Extra"]),
        ({"default": {"actions": {"PERSON": 16**5000}}}, ["default.actions.PERSON", "int too large to show"]),
        ({"default": {"thresholds": {"PERSON": 16**5000}}}, ["default.thresholds.PERSON", "int too large to show"]),
    ],
)
def test_a_wrong_file_is_named_with_key_and_value(held: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(RecordError) as caught:
        parse_policy_file(held, "masking.toml")
    assert all(word in str(caught.value) for word in ["masking.toml", *words]), caught.value


def test_an_entry_needs_an_aware_end() -> None:
    assert value("PERSON", "x").expires_at > datetime(2026, 1, 1, tzinfo=UTC)
